//! The table of steps, in the order in which CI takes them: the quick ones first.

use anyhow::Result;

use crate::tools::Workspace;
use crate::{cargo, docs, edges, install, sizes};

/// One step of CI.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) does: &'static str,
    /// Steps that must have passed before; run alone, a step runs them first.
    pub(crate) needs: &'static [&'static str],
    pub(crate) run: fn(&Workspace) -> Result<()>,
}

pub(crate) const STEPS: &[Step] = &[
    Step { name: "fmt", does: "every Rust file as rustfmt writes it", needs: &[], run: cargo::fmt },
    Step { name: "sizes", does: "no source file over 500 lines without its tests", needs: &[], run: sizes::check },
    Step {
        name: "edges",
        does: "crates and modules use those that they may, and no cycle",
        needs: &[],
        run: edges::check,
    },
    Step { name: "docs", does: "links, commands and the cases' tests named in the docs", needs: &[], run: docs::check },
    Step {
        name: "install",
        does: "the pinned Python, Node and Rust packages, into target/",
        needs: &[],
        run: install::all,
    },
    Step { name: "clippy", does: "clippy over the workspace, warnings are errors", needs: &[], run: cargo::clippy },
    Step { name: "build", does: "the program that the client tests run", needs: &[], run: cargo::build },
    Step { name: "test", does: "the Rust tests", needs: &[], run: cargo::test },
    Step {
        name: "clients",
        does: "real client libraries through the built program",
        needs: &["install", "build"],
        run: install::clients,
    },
];
