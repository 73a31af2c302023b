//! What a send queue did, as a trace has it.

use serde::{Serialize, Serializer};
use serde_json::Value;
use tidegate_core::send_queue::{DropReason, Frame, Guild, Output, RefuseReason, Refused};

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Send(Sent),
    Refused {
        #[serde(flatten)]
        what: What,
        reason: &'static str,
    },
    Dropped {
        id: u64,
        reason: &'static str,
    },
    Close {
        code: u16,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sent {
    Command { id: u64 },
    Subscriptions(Subscriptions),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    Id(u64),
    Guild(String),
}

/// The map in the order in which its guilds go.
pub(crate) struct Subscriptions(Vec<(Guild, Value)>);

impl Serialize for Subscriptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(guild, snapshot)| (&**guild, snapshot)))
    }
}

impl From<Output<Value>> for Line {
    fn from(output: Output<Value>) -> Self {
        match output {
            Output::Send(Frame::Command { id }) => Self::Send(Sent::Command { id }),
            Output::Send(Frame::Subscriptions(guilds)) => Self::Send(Sent::Subscriptions(Subscriptions(guilds))),
            Output::Refused { what, reason } => Self::Refused {
                what: match what {
                    Refused::Command { id } => What::Id(id),
                    Refused::Snapshot { guild } => What::Guild(guild.to_string()),
                },
                reason: refused(reason),
            },
            Output::Dropped { id, reason } => Self::Dropped { id, reason: dropped(reason) },
            Output::Close { code } => Self::Close { code },
        }
    }
}

/// Why a command is refused, in a word.
pub fn refused(reason: RefuseReason) -> &'static str {
    match reason {
        RefuseReason::TooLarge => "too_large",
        RefuseReason::QueueFull => "queue_full",
    }
}

/// Why a command is dropped, in a word.
pub fn dropped(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Superseded => "superseded",
        DropReason::After4008 => "after_4008",
        DropReason::Expired => "expired",
    }
}
