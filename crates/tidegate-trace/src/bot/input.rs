//! What a trace tells the composite.

use serde::Deserialize;
use serde_json::Value;
use tidegate_core::bot::{BotInput, Input};

use super::settings::{Opened, Opening, key};
use crate::driver::Codec as _;
use crate::line::OneOf;
use crate::{governor, identify_queue, send_queue, shard};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Open(Opened),
    Forget(Forget),
    Shard(OfShard<shard::input::Line>),
    SendQueue(OfShard<send_queue::input::Line>),
    IdentifyQueue(identify_queue::input::Line),
    Governor(governor::input::Line),
    Unauthorized,
    Tick,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forget {
    shard: OneOf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfShard<L> {
    shard: OneOf,
    input: L,
}

impl Line {
    pub(super) fn into_input(
        self,
        governor: &mut governor::Codec,
        opening: &Opening,
    ) -> Result<BotInput<Value>, String> {
        Ok(BotInput::Gateway(match self {
            Self::Open(opened) => opening.input(opened),
            Self::Forget(Forget { shard }) => Input::Forget { key: key(shard) },
            Self::Shard(OfShard { shard, input }) => Input::Shard { key: key(shard), input: input.into() },
            Self::SendQueue(OfShard { shard, input }) => {
                let input = input.into_input().map_err(|reason| format!("send_queue: {reason}"))?;
                Input::SendQueue { key: key(shard), input }
            }
            Self::IdentifyQueue(line) => Input::IdentifyQueue(line.into()),
            Self::Unauthorized => Input::Unauthorized,
            Self::Governor(line) => {
                let input = governor.decode(line).map_err(|reason| format!("governor: {reason}"))?;
                return Ok(BotInput::Governor(input));
            }
            Self::Tick => return Ok(BotInput::Tick),
        }))
    }
}
