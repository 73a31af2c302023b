//! What the composite did, as a trace has it.

use serde::Serialize;
use serde_json::Value;
use tidegate_core::bot::{BotOutput, Output, ShardKey};

use crate::{governor, identify_queue, send_queue, shard};

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Shard { shard: (u32, u32), output: shard::output::Line },
    SendQueue { shard: (u32, u32), output: send_queue::output::Line },
    IdentifyQueue(identify_queue::output::Line),
    Governor(governor::output::Line),
    NotOpened { shard: (u32, u32) },
}

impl From<BotOutput<Value>> for Line {
    fn from(output: BotOutput<Value>) -> Self {
        match output {
            BotOutput::Governor(output) => Self::Governor(output.into()),
            BotOutput::Gateway(Output::Shard { key, output }) => {
                Self::Shard { shard: pair(key), output: output.into() }
            }
            BotOutput::Gateway(Output::SendQueue { key, output }) => {
                Self::SendQueue { shard: pair(key), output: output.into() }
            }
            BotOutput::Gateway(Output::IdentifyQueue(output) | Output::Outside(output)) => {
                Self::IdentifyQueue(output.into())
            }
            BotOutput::Gateway(Output::NotOpened { key }) => Self::NotOpened { shard: pair(key) },
        }
    }
}

fn pair(key: ShardKey) -> (u32, u32) {
    (key.id, key.count)
}
