//! The figures of `docs/performance.md`. None is a step of CI: a shared machine would make it fail.

use anyhow::Result;

use crate::tools::{Workspace, run};

/// Builds what is measured as a release, and measures it.
pub(crate) fn run_bench(workspace: &Workspace, words: &[&str]) -> Result<()> {
    run(&mut workspace.cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "tidegate-bench",
        "--package",
        "tidegate",
    ]))?;
    let mut measure =
        workspace.cargo(&["run", "--release", "--quiet", "--locked", "--package", "tidegate-bench", "--"]);
    run(measure.args(words))
}
