//! What Discord says, taken in.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::shard::{self, Generation};
use tidegate_core::{Span, send_queue};

use super::events::News;
use super::{Count, Fleet, Turn};
use crate::session::Input;
use crate::upstream::Read;
use crate::wire::ready;

impl Turn<'_> {
    /// What a connection to Discord told. An old one's changes nothing.
    pub(super) fn news(&mut self, key: ShardKey, serial: u64, news: &mut Vec<News>) {
        let mut plain = Vec::with_capacity(news.len());
        for one in news.drain(..) {
            if let News::Dispatch { seq, payload } = one {
                plain.push((seq, payload));
                continue;
            }
            let Some(generation) = self.dispatched(key, serial, &mut plain) else { return };
            match one {
                News::Read { seq, payload, data, read } => {
                    self.read(key, generation, (seq, payload, data), read, &mut plain);
                }
                News::Hello(interval) => {
                    let interval = self.fleet.depot.clock.platform(interval);
                    self.happened(key, generation, shard::Event::Hello { interval });
                }
                News::Event(event) => {
                    let over = matches!(event, shard::Event::Closed { .. } | shard::Event::Error);
                    self.happened(key, generation, event);
                    if over && let Some(seat) = self.state.seats.get_mut(&key) {
                        seat.upstream = seat.upstream.take().filter(|upstream| upstream.serial != serial);
                    }
                }
                News::Dispatch { .. } => {}
            }
        }
        self.dispatched(key, serial, &mut plain);
    }

    fn happened(&mut self, key: ShardKey, generation: Generation, event: shard::Event) {
        self.tell(bot::Input::Shard { key, input: shard::Input::Socket { generation, event } });
        self.run();
    }

    /// Hands on what has come; the connection's generation, if it is the living one.
    fn dispatched(&mut self, key: ShardKey, serial: u64, plain: &mut Vec<(u64, Bytes)>) -> Option<Generation> {
        let seat = self.state.seats.get(&key)?;
        let generation = seat.upstream.as_ref().filter(|upstream| upstream.serial == serial)?.generation;
        if let Some((seq, _)) = plain.last() {
            let seq = *seq;
            self.fleet.counts.add(Count::Dispatches, plain.len() as u64);
            seat.ring.append(plain.drain(..));
            self.happened(key, generation, shard::Event::Dispatch { seq });
        }
        Some(generation)
    }

    /// A dispatch that means something here.
    fn read(
        &mut self,
        key: ShardKey,
        generation: Generation,
        (seq, payload, data): (u64, Bytes, Range<usize>),
        read: Read,
        plain: &mut Vec<(u64, Bytes)>,
    ) {
        match read {
            Read::Ready(ready) => {
                let Some(seat) = self.state.seats.get(&key) else { return };
                let payload = ready::with_resume_url(&payload, &data, &seat.address).unwrap_or(payload);
                seat.ring.begin(seq, payload);
                let (session, resume_url) = (ready.session_id.into(), ready.resume_gateway_url.into());
                self.session(key, Input::Ready { session: Box::clone(&session) });
                self.happened(key, generation, shard::Event::Ready { session, resume_url, seq });
            }
            Read::Resumed => {
                self.happened(key, generation, shard::Event::Dispatch { seq });
                self.happened(key, generation, shard::Event::Resumed);
                self.session(key, Input::Resumed);
            }
            Read::RateLimited(limited) => {
                plain.push((seq, payload));
                if let Some(guild) = limited.meta.guild_id {
                    let retry_after = span(limited.retry_after);
                    let input =
                        send_queue::Input::RateLimited { opcode: limited.opcode, guild: guild.into(), retry_after };
                    self.tell(bot::Input::SendQueue { key, input });
                    self.run();
                }
            }
            Read::Nothing => plain.push((seq, payload)),
        }
    }
}

impl Fleet {
    /// A connection to Discord told something.
    pub(super) fn news(self: &Arc<Self>, key: ShardKey, serial: u64, news: &mut Vec<News>) {
        self.turn(|turn| turn.news(key, serial, news));
    }
}

/// Discord's seconds, rounded up; a year at most.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to a range that fits")]
fn span(seconds: f64) -> Span {
    Span::from_micros((seconds.clamp(0.0, 31_536_000.0) * 1e6).ceil() as u64)
}
