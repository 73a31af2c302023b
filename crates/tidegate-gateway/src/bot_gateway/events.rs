//! What a connection to Discord tells, gathered until the fleet takes it.

use std::ops::Range;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use tidegate_core::bot::ShardKey;
use tidegate_core::shard;

use super::Fleet;
use crate::context::Open;
use crate::effect::Answer;
use crate::upstream::{Dispatch, Event, Events, Read};
use tidegate_net::Foreign;

/// One thing that happened on a connection.
#[derive(Debug)]
pub(super) enum News {
    /// A dispatch that is only handed on.
    Dispatch {
        seq: u64,
        payload: Bytes,
    },
    /// One that may answer a command.
    Answer {
        seq: u64,
        payload: Bytes,
        data: Range<usize>,
        answer: Answer,
    },
    /// One that means something here.
    Read {
        seq: u64,
        payload: Bytes,
        data: Range<usize>,
        read: Read,
    },
    /// Anything else that the shard is told. HELLO's interval is real time.
    Hello(std::time::Duration),
    Event(shard::Event),
}

/// Hands on what one connection tells.
pub(super) struct Gathered {
    fleet: Weak<Fleet>,
    key: ShardKey,
    serial: u64,
    news: Vec<News>,
    /// Counts it among those that are open.
    _open: Open,
}

impl Gathered {
    pub(super) fn new(fleet: &Arc<Fleet>, key: ShardKey, serial: u64) -> Self {
        let open = Open::new(&fleet.depot);
        Self { fleet: Arc::downgrade(fleet), key, serial, news: Vec::new(), _open: open }
    }

    fn dispatch(&mut self, dispatch: Dispatch<'_>) {
        let Dispatch { seq, payload, data, read, .. } = dispatch;
        self.news.push(match read {
            Read::Nothing => News::Dispatch { seq, payload },
            Read::Answer(answer) => News::Answer { seq, payload, data, answer },
            read => News::Read { seq, payload, data, read },
        });
    }

    fn log(&self, event: &Event<'_>) {
        let Some(fleet) = self.fleet.upgrade() else { return };
        let (bot, shard) = (&fleet.token, self.key);
        match event {
            Event::Closed { code, reason } => {
                tracing::info!(%bot, %shard, code = *code, reason = %Foreign(reason), "Discord's connection is closed");
            }
            Event::Failed(failure) => {
                // What a library says of bytes that it could not read may hold them.
                let failure = failure.to_string();
                tracing::warn!(%bot, %shard, failure = %Foreign(&failure), "Discord's connection failed");
            }
            _ => {}
        }
    }
}

impl Events for Gathered {
    fn event(&mut self, event: Event<'_>) {
        self.log(&event);
        let event = match event {
            Event::Dispatch(dispatch) => return self.dispatch(dispatch),
            Event::Hello { interval } => return self.news.push(News::Hello(interval)),
            Event::Unknown { .. } => return,
            Event::Opened => shard::Event::Opened,
            Event::Ack => shard::Event::Ack,
            Event::BeatAsked => shard::Event::BeatAsked,
            Event::Reconnect => shard::Event::Reconnect,
            Event::InvalidSession { resumable } => shard::Event::InvalidSession { resumable },
            Event::Sent { op } => shard::Event::Sent { op },
            Event::Closed { code, .. } => shard::Event::Closed { code },
            Event::Failed(_) => shard::Event::Error,
        };
        self.news.push(News::Event(event));
    }

    fn pause(&mut self) {
        if self.news.is_empty() {
            return;
        }
        match self.fleet.upgrade() {
            Some(fleet) => fleet.news(self.key, self.serial, &mut self.news),
            None => self.news.clear(),
        }
    }
}
