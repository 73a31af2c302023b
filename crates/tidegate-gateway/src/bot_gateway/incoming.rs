//! What Discord says, taken in.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::shard::{self, Generation};
use tidegate_core::{Span, send_queue};

use super::events::News;
use super::{Count, Fleet, Turn};
use crate::effect::{Answer, Told};
use crate::session::Input;
use crate::upstream::Read;
use crate::wire::ready;

impl Turn<'_> {
    /// What a connection to Discord told. An old one's changes nothing.
    pub(super) fn news(&mut self, key: ShardKey, serial: u64, news: &mut Vec<News>) {
        let mut plain = Vec::with_capacity(news.len());
        for one in news.drain(..) {
            match one {
                News::Dispatch { seq, payload } => {
                    plain.push((seq, payload));
                    continue;
                }
                News::Answer { seq, payload, data, answer } => {
                    self.answered(key, serial, answer, &payload[data]);
                    plain.push((seq, payload));
                    continue;
                }
                _ => {}
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
                News::Dispatch { .. } | News::Answer { .. } => {}
            }
        }
        self.dispatched(key, serial, &mut plain);
    }

    fn happened(&mut self, key: ShardKey, generation: Generation, event: shard::Event) {
        self.tell(bot::Input::Shard { key, input: shard::Input::Socket { generation, event } });
        self.run();
    }

    /// A dispatch that may answer a command: it is looked into only where one awaits it.
    fn answered(&mut self, key: ShardKey, serial: u64, answer: Answer, data: &[u8]) {
        let Some(seat) = self.state.seats.get_mut(&key).filter(|seat| seat.commands.awaits(answer)) else { return };
        if seat.upstream.as_ref().is_none_or(|upstream| upstream.serial != serial) {
            return;
        }
        let told = Told::read(answer, data, seat.user.as_deref());
        if let Some(id) = told.and_then(|told| seat.commands.told(&told)) {
            self.tell(bot::Input::SendQueue { key, input: send_queue::Input::Answered { id } });
            self.run();
        }
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
                let Some(seat) = self.state.seats.get_mut(&key) else { return };
                seat.user = ready.user_id.map(Into::into);
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
            Read::Answer(_) | Read::Nothing => plain.push((seq, payload)),
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
