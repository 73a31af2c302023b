//! What an identify queue did, as a trace has it.

use serde::Serialize;
use tidegate_core::identify_queue::{Note, Output, Shard};

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Grant { shard: Shard, grant: u64 },
    Deny { shard: Shard, refresh_at_ms: u64 },
    Note(Noted),
    Wake { in_ms: u64 },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Noted {
    BudgetLow { remaining: u64 },
    Waiting { shard: Shard, behind: usize },
}

impl From<Output> for Line {
    fn from(output: Output) -> Self {
        match output {
            Output::Grant { shard, grant } => Self::Grant { shard, grant: grant.0 },
            Output::Deny { shard, refresh_at } => Self::Deny { shard, refresh_at_ms: refresh_at.as_millis_ceil() },
            Output::Note(Note::BudgetLow { remaining }) => Self::Note(Noted::BudgetLow { remaining }),
            Output::Note(Note::Waiting { shard, behind }) => Self::Note(Noted::Waiting { shard, behind }),
            Output::Wake { wait } => Self::Wake { in_ms: wait.as_millis_ceil() },
        }
    }
}
