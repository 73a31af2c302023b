//! The steps that are cargo's own.

use std::process::Stdio;

use anyhow::Result;

use crate::install::TWILIGHT;
use crate::tools::{Workspace, run};

pub(crate) fn fmt(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["fmt", "--all", "--", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", TWILIGHT, "--", "--check"]))
}

pub(crate) fn clippy(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
}

pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["build", "--locked", "--bin", "tidegate"]))
}

/// nextest where it is installed (it runs the tests of all binaries at once), else `cargo test`. Doc tests, which
/// nextest does not know, always by `cargo test`.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    if has_nextest(workspace) {
        run(&mut workspace.cargo(&["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]))?;
        run(&mut workspace.cargo(&["test", "--doc", "--workspace", "--locked"]))
    } else {
        println!("cargo-nextest is not installed: `cargo test` does the same in more time");
        run(&mut workspace.cargo(&["test", "--workspace", "--locked", "--no-fail-fast"]))
    }
}

fn has_nextest(workspace: &Workspace) -> bool {
    workspace
        .cargo(&["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
