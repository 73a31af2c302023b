//! What a governor did, as a trace has it.

use serde::{Serialize, Serializer};
use tidegate_core::Span;
use tidegate_core::governor::{Count, DropReason, Outcome, Output, RefuseReason};

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Send {
        ticket: u64,
        outcome: &'static str,
        held_ms: u64,
    },
    Drop {
        ticket: u64,
        reason: &'static str,
    },
    Superseded {
        ticket: u64,
        by: u64,
    },
    Refuse {
        ticket: u64,
        retry_after_ms: u64,
        reason: &'static str,
    },
    Failed {
        ticket: u64,
    },
    /// A peer's summary.
    Note {
        peer: String,
        counters: Counters,
    },
    Peers(usize),
    Counters(Counters),
}

/// `surface/class/outcome` and how many, in table order.
pub(crate) struct Counters(Vec<Count>);

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|Count { surface, class, what, count }| {
            (format!("{surface}/{}/{}", class.name(), what.name()), count)
        }))
    }
}

impl From<Output> for Line {
    fn from(output: Output) -> Self {
        match output {
            Output::Send { ticket, outcome, held } => {
                Self::Send { ticket: ticket.0, outcome: how(outcome), held_ms: millis(held) }
            }
            Output::Drop { ticket, reason } => Self::Drop { ticket: ticket.0, reason: dropped(reason) },
            Output::Superseded { ticket, by } => Self::Superseded { ticket: ticket.0, by: by.0 },
            Output::Refuse { ticket, retry_after, reason } => {
                Self::Refuse { ticket: ticket.0, retry_after_ms: millis(retry_after), reason: refused(reason) }
            }
            Output::Failed { ticket } => Self::Failed { ticket: ticket.0 },
            Output::Note(summary) => Self::Note { peer: summary.peer.to_string(), counters: Counters(summary.counts) },
            Output::Peers(peers) => Self::Peers(peers),
            Output::Counters(counts) => Self::Counters(Counters(counts)),
        }
    }
}

fn millis(span: Span) -> u64 {
    span.as_millis_ceil()
}

fn how(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Admitted => "admitted",
        Outcome::Held => "held",
        Outcome::Passed => "passed",
        Outcome::FailedOpen => "failed_open",
        Outcome::Bypass => "bypass",
    }
}

fn dropped(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Dry => "dry",
        DropReason::Spread => "spread",
        DropReason::Spacing => "spacing",
        DropReason::Order => "order",
        DropReason::Cooldown => "cooldown",
        DropReason::MaxHold => "max_hold",
        DropReason::Sent => "sent",
    }
}

fn refused(reason: RefuseReason) -> &'static str {
    match reason {
        RefuseReason::MaxHold => "max_hold",
        RefuseReason::Cooldown => "cooldown",
        RefuseReason::QueueFull => "queue_full",
    }
}
