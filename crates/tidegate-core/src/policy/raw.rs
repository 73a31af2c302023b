//! A table as its file has it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPolicy {
    pub(super) platform: String,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    pub(super) margin: String,
    pub(super) default_retry: Option<String>,
    pub(super) inline_wait: Option<String>,
    pub(super) escalate: Option<RawEscalate>,
    pub(super) settle: Option<String>,
    pub(super) settle_reserve: Option<u32>,
    pub(super) spread_burst: Option<u32>,
    pub(super) final_guard: Option<String>,
    pub(super) summary: Option<String>,
    /// `split` gives edits buckets of their own.
    pub(super) families: Option<String>,
    #[serde(default)]
    pub(super) deletes: Vec<String>,
    #[serde(default)]
    pub(super) edits: Vec<String>,
    #[serde(default)]
    pub(super) buckets: BTreeMap<String, RawBucket>,
    #[serde(default)]
    pub(super) surface: Vec<RawSurface>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEscalate {
    pub(super) peers: usize,
    pub(super) within: String,
    pub(super) at_most: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBucket {
    pub(super) scope: String,
    pub(super) bucket: Option<String>,
    pub(super) burst: Option<u32>,
    pub(super) window: Option<String>,
    pub(super) reserve: Option<u32>,
    pub(super) spacing: Option<String>,
    #[serde(default)]
    pub(super) learned: bool,
    pub(super) applies: Option<String>,
    /// `call`: a write takes one unit however many messages it makes.
    pub(super) weigh: Option<String>,
    pub(super) pass_after: Option<String>,
    pub(super) pass_spacing: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in the file")]
pub(super) struct RawSurface {
    pub(super) name: String,
    pub(super) gate: Option<String>,
    pub(super) methods: Vec<String>,
    pub(super) with: Option<String>,
    #[serde(default)]
    pub(super) buckets: Vec<String>,
    pub(super) spread: Option<String>,
    pub(super) applies: Option<String>,
    pub(super) unmarked: Option<String>,
    #[serde(default)]
    pub(super) ordered: bool,
    #[serde(default)]
    pub(super) partial: bool,
    #[serde(default)]
    pub(super) killed_by: Vec<String>,
    pub(super) weight: Option<String>,
    pub(super) marks_forum: Option<String>,
    #[serde(default)]
    pub(super) cooldown_first: bool,
    #[serde(default)]
    pub(super) uncounted: bool,
    pub(super) then: Option<String>,
    pub(super) refused: Option<String>,
    pub(super) auto_hold: Option<String>,
    pub(super) default_class: String,
    #[serde(default)]
    pub(super) any: RawCell,
    #[serde(default)]
    pub(super) class: BTreeMap<String, RawCell>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCell {
    pub(super) dry: Option<String>,
    pub(super) pass_limit: Option<String>,
    pub(super) max_hold: Option<String>,
    pub(super) past_hold: Option<String>,
    pub(super) cooldown: Option<String>,
    pub(super) spacing: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) attempts: Option<u32>,
}
