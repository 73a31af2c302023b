//! The table of allowed edges.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use super::graph::Edges;

/// What `edges.txt` allows.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) crates: Edges,
    /// By the crate's name.
    pub(super) modules: BTreeMap<String, Edges>,
}

impl Table {
    /// Sections begin with `[crates]` or `[NAME]`; a line is `FROM: TO TO…`, and `#` begins a remark.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut table = Self::default();
        let mut section: Option<&mut Edges> = None;
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = Some(match name {
                    "crates" => &mut table.crates,
                    name => table.modules.entry(name.to_owned()).or_default(),
                });
                continue;
            }
            let (from, to) = line.split_once(':').with_context(|| format!("edges.txt:{}: no colon", at + 1))?;
            let Some(edges) = section.as_mut() else { bail!("edges.txt:{}: before the first section", at + 1) };
            let all = edges.entry(from.trim().to_owned()).or_default();
            all.extend(to.split_whitespace().map(ToOwned::to_owned));
        }
        Ok(table)
    }
}
