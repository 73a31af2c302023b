//! The steps that are cargo's own.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::install::TWILIGHT;
use crate::library::EXAMPLES;
use crate::tools::{Workspace, run};

pub(crate) fn fmt(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["fmt", "--all", "--", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", TWILIGHT, "--", "--check"]))?;
    run(&mut workspace.cargo(&["fmt", "--manifest-path", EXAMPLES, "--", "--check"]))
}

pub(crate) fn clippy(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))
}

/// With a copy that stays as it is while the Rust tests, which may run beside the client tests, build theirs in its place.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(&["build", "--locked", "--bin", "tidegate"]))?;
    let copy = workspace.program();
    if let Some(folder) = copy.parent() {
        fs::create_dir_all(folder)?;
    }
    // Not written over: an earlier copy may still run.
    let _ = fs::remove_file(&copy);
    fs::copy(workspace.target.join("debug/tidegate"), &copy).context("cannot copy the program")?;
    Ok(())
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
