//! What a trace tells a shard.

use serde::Deserialize;
use tidegate_core::shard::{Event, Generation, Grant, Input};
use tidegate_core::{Span, Time};

use crate::line::Millis;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Start,
    Fresh(Fresh),
    Budget,
    NextInLine(NextInLine),
    Granted(Granted),
    Denied(Denied),
    Opened(Socket),
    Hello(Hello),
    Ready(Ready),
    Resumed(Socket),
    Dispatch(Dispatch),
    Ack(Socket),
    BeatAsked(Socket),
    Op7(Socket),
    Op9(InvalidSession),
    Closed(Closed),
    Error(Socket),
    /// A command was written; beside the format that all traces share, for `recorded` ones.
    Sent(Sent),
    Unauthorized,
    Stop,
    Logout,
    /// A bot RESUMEs behind what is kept; beside the format that all traces share, for `recorded` ones.
    Rewind(Rewind),
    Restart,
    Tick,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fresh {
    differs: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rewind {
    seq: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextInLine {
    due_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Granted {
    grant: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Denied {
    refresh_at_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Socket {
    #[serde(rename = "gen")]
    generation: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    #[serde(rename = "gen")]
    generation: u64,
    interval_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    #[serde(rename = "gen")]
    generation: u64,
    session: String,
    #[serde(default)]
    resume_url: String,
    #[serde(default)]
    seq: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dispatch {
    #[serde(rename = "gen")]
    generation: u64,
    seq: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InvalidSession {
    #[serde(rename = "gen")]
    generation: u64,
    resumable: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    #[serde(rename = "gen")]
    generation: u64,
    code: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    #[serde(rename = "gen")]
    generation: u64,
    op: u8,
}

impl From<Line> for Input {
    fn from(line: Line) -> Self {
        let socket = |generation, event| Self::Socket { generation: Generation(generation), event };
        match line {
            Line::Start => Self::Start,
            Line::Fresh(Fresh { differs }) => Self::Fresh { differs },
            Line::Budget => Self::Budget,
            Line::NextInLine(line) => Self::NextInLine { due: Time::from_millis(line.due_ms.0) },
            Line::Granted(Granted { grant }) => Self::Granted { grant: Grant(grant) },
            Line::Denied(line) => Self::Denied { refresh_at: Time::from_millis(line.refresh_at_ms.0) },
            Line::Opened(line) => socket(line.generation, Event::Opened),
            Line::Hello(line) => {
                socket(line.generation, Event::Hello { interval: Span::from_millis(line.interval_ms.0) })
            }
            Line::Ready(Ready { generation, session, resume_url, seq }) => {
                let event = Event::Ready { session: session.into(), resume_url: resume_url.into(), seq };
                socket(generation, event)
            }
            Line::Resumed(line) => socket(line.generation, Event::Resumed),
            Line::Dispatch(Dispatch { generation, seq }) => socket(generation, Event::Dispatch { seq }),
            Line::Ack(line) => socket(line.generation, Event::Ack),
            Line::BeatAsked(line) => socket(line.generation, Event::BeatAsked),
            Line::Op7(line) => socket(line.generation, Event::Reconnect),
            Line::Op9(InvalidSession { generation, resumable }) => {
                socket(generation, Event::InvalidSession { resumable })
            }
            Line::Closed(Closed { generation, code }) => socket(generation, Event::Closed { code }),
            Line::Error(line) => socket(line.generation, Event::Error),
            Line::Sent(Sent { generation, op }) => socket(generation, Event::Sent { op }),
            Line::Unauthorized => Self::Unauthorized,
            Line::Stop => Self::Stop,
            Line::Logout => Self::Logout,
            Line::Rewind(Rewind { seq }) => Self::Rewind { seq },
            Line::Restart => Self::Restart,
            Line::Tick => Self::Tick,
        }
    }
}
