//! What a trace tells a send queue.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tidegate_core::Span;
use tidegate_core::send_queue::Input;

use crate::line::{Millis, Name};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Command(Command),
    MembersRequest(MembersRequest),
    Subscribe(Subscribe),
    Direct(Direct),
    Ack,
    Answered(Answered),
    RateLimited(RateLimited),
    Closed(Closed),
    Opened,
    Ready,
    Resumed,
    Tick,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    id: u64,
    op: u8,
    guild: Option<Name>,
    #[serde(default)]
    bytes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MembersRequest {
    id: u64,
    guild: Name,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    bytes: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subscribe {
    guild: Name,
    snapshot: Value,
    /// The size of the map's entry, where the snapshot only stands for a real one.
    bytes: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Direct {
    op: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    id: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateLimited {
    opcode: u8,
    guild: Name,
    retry_after_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    code: Option<u16>,
}

impl Line {
    pub(crate) fn into_input(self) -> Result<Input<Value>, String> {
        Ok(match self {
            Self::Command(Command { op: op @ (1 | 2 | 6), .. }) => {
                return Err(format!("command: op {op} is never queued: expected it as {{\"direct\":{{\"op\":{op}}}}}"));
            }
            Self::Command(Command { op: op @ (14 | 37), .. }) => {
                return Err(format!("command: op {op} is a subscription: expected it as \"subscribe\""));
            }
            Self::Command(Command { id, op, guild, bytes }) => {
                Input::Command { id, op, guild: guild.map(|guild| guild.0.into()), bytes }
            }
            Self::MembersRequest(MembersRequest { id, guild, all, bytes }) => {
                Input::MembersRequest { id, guild: guild.0.into(), all, bytes }
            }
            Self::Subscribe(Subscribe { guild, snapshot, bytes }) => {
                let guild: Arc<str> = guild.0.into();
                let bytes = bytes.unwrap_or_else(|| entry_bytes(&guild, &snapshot));
                Input::Subscribe { guild, snapshot, bytes }
            }
            Self::Direct(Direct { op: op @ (1 | 2 | 6) }) => Input::Direct { op },
            Self::Direct(Direct { op }) => {
                return Err(format!("direct: op {op} is not sent at once: expected 1, 2 or 6"));
            }
            Self::Ack => Input::Ack,
            Self::Answered(Answered { id }) => Input::Answered { id },
            Self::RateLimited(RateLimited { opcode, guild, retry_after_ms }) => {
                Input::RateLimited { opcode, guild: guild.0.into(), retry_after: Span::from_millis(retry_after_ms.0) }
            }
            Self::Closed(Closed { code }) => Input::Closed { code },
            Self::Opened => Input::Opened,
            Self::Ready => Input::Ready,
            Self::Resumed => Input::Resumed,
            Self::Tick => Input::Tick,
        })
    }
}

/// The bytes of `"guild":snapshot`.
fn entry_bytes(guild: &str, snapshot: &Value) -> usize {
    Value::from(guild).to_string().len() + 1 + snapshot.to_string().len()
}
