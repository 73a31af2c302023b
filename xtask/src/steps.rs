//! The table of steps, in the order in which CI takes them: the quick ones first, then what others need.

use anyhow::Result;

use crate::tools::Workspace;
use crate::{cargo, docs, edges, install, library, sizes};

/// What a step mostly does, and so what can run beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Keeps the processor busy.
    Works,
    /// Waits for the network or for timers.
    Waits,
}

/// One step of CI.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) lane: Lane,
    pub(crate) does: &'static str,
    /// Steps that must have passed before; run alone, a step runs them first.
    pub(crate) needs: &'static [&'static str],
    pub(crate) run: fn(&Workspace) -> Result<()>,
}

pub(crate) const STEPS: &[Step] = &[
    works("fmt", "every Rust file as rustfmt writes it", cargo::fmt),
    works("sizes", "no source file over 500 lines without its tests", sizes::check),
    works("edges", "crates and modules use those that they may, and no cycle", edges::check),
    works("docs", "links, commands and the cases' tests named in the docs", docs::check),
    waits("install", "the pinned Python, Node and Rust packages, into target/", &[], install::all),
    works("build", "the program that the client tests run", cargo::build),
    works("clippy", "clippy over the workspace, warnings are errors", cargo::clippy),
    works("test", "the Rust tests", cargo::test),
    works("library", "the library crates: features, documentation, packages", library::check),
    works("examples", "four Rust bots with the gates inside, against the sandbox", library::examples),
    waits("clients", "real client libraries through the built program", &["install", "build"], install::clients),
];

pub(crate) const fn works(name: &'static str, does: &'static str, run: fn(&Workspace) -> Result<()>) -> Step {
    Step { name, lane: Lane::Works, does, needs: &[], run }
}

pub(crate) const fn waits(
    name: &'static str,
    does: &'static str,
    needs: &'static [&'static str],
    run: fn(&Workspace) -> Result<()>,
) -> Step {
    Step { name, lane: Lane::Waits, does, needs, run }
}
