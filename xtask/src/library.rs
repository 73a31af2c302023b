//! What others build on: the two library crates, and the examples of their use.

use anyhow::Result;

use crate::tools::{Workspace, run};

/// The examples, a workspace of their own so that the libraries that they show are no part of tidegate's build.
pub(crate) const EXAMPLES: &str = "examples/Cargo.toml";
/// Each is a program that ends by itself, and fails where what it shows does not hold.
const BOTS: [&str; 4] = ["bare_gate", "tower_reqwest", "twilight_gateway", "teloxide"];

const CRATES: [&str; 4] = ["-p", "tidegate-core", "-p", "tidegate-tokio"];
/// Off in the workspace's other steps: no other crate of it needs them.
const FEATURES: [&str; 2] = ["--features", "tidegate-tokio/tower,tidegate-tokio/twilight"];

/// The features' clippy and tests, the documentation without a warning, and whether the packages are whole.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let cargo = |first: &[&str], last: &[&str]| workspace.cargo(&[first, &CRATES, last].concat());
    let with_features = |last: &[&'static str]| [&FEATURES, last].concat();
    run(&mut cargo(&["clippy", "--locked", "--all-targets"], &with_features(&["--", "-D", "warnings"])))?;
    run(workspace.cargo(&["test", "--locked", "-p", "tidegate-tokio"]).args(FEATURES))?;
    run(cargo(&["doc", "--locked", "--no-deps"], &FEATURES).env("RUSTDOCFLAGS", "-D warnings"))?;
    run(&mut cargo(&["publish", "--dry-run", "--no-verify", "--allow-dirty", "--locked"], &[]))
}

/// Builds the examples and runs each.
pub(crate) fn examples(workspace: &Workspace) -> Result<()> {
    let target = workspace.target.join("examples");
    run(workspace.cargo(&["build", "--locked", "--manifest-path", EXAMPLES, "--target-dir"]).arg(&target))?;
    for bot in BOTS {
        run(&mut workspace.command(target.join("debug").join(bot)))?;
    }
    Ok(())
}
