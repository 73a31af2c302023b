//! What the bot is sent.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite as _;

use super::{End, FULL, Guest};
use crate::close::Close;
use crate::mailbox::Tell;
use crate::ring::{Position, Ring};
use crate::websocket::Kind;

/// Taken from the ring at once.
const BATCH: (usize, usize) = (64, 64 << 10);
const INVALID: &str = r#"{"t":null,"s":null,"op":9,"d":false}"#;

/// The ring that it reads.
pub(super) struct Following {
    ring: Arc<Ring>,
    /// Behind what was taken from it.
    position: Position,
    /// Taken, and not packed yet.
    taken: VecDeque<Bytes>,
    /// Whether the next dispatch is READY.
    begins: bool,
    /// RESUMED is said there, with this number.
    resumed: Option<(Position, u64)>,
    /// The bytes that had ever come when the socket took something last.
    taken_at: u64,
}

impl Guest {
    pub(super) fn hello(&mut self) -> Result<(), End> {
        let depot = &self.fleets.depot;
        let interval = depot.clock.real(depot.settings.heartbeat_interval.into());
        let interval_ms = interval.as_millis().max(1);
        let hello = format!(
            r#"{{"t":null,"s":null,"op":10,"d":{{"heartbeat_interval":{interval_ms},"_trace":["tidegate"]}}}}"#
        );
        self.say(&hello.into())
    }

    /// Takes in what its session told; whether there was something.
    pub(super) fn take_in(&mut self) -> Result<bool, End> {
        let mut told = false;
        while let Some(tell) = self.link.next() {
            told = true;
            match tell {
                Tell::Follow { ring, from, begins } => {
                    let (taken, taken_at) = (VecDeque::new(), ring.came());
                    self.following = Some(Following { ring, position: from, taken, begins, resumed: None, taken_at });
                }
                Tell::Resumed { at, seq } => {
                    if let Some(following) = &mut self.following {
                        following.resumed = Some((at, seq));
                    }
                }
                Tell::Invalid => {
                    self.following = None;
                    self.attachment.invalid(self.fleets.depot.clock.now());
                    let before = self.writer.len();
                    self.say(&Bytes::from_static(INVALID.as_bytes()))?;
                    self.writer.answered(self.writer.len() - before);
                }
                Tell::Close(close) => return Err(close.into()),
            }
        }
        Ok(told)
    }

    /// Packs what there is to be handed on, as long as there is room; whether there was something.
    pub(super) fn pack(&mut self) -> Result<bool, End> {
        let mut packed = false;
        while self.writer.len() < FULL {
            let Some(dispatch) = self.next_dispatch()? else { break };
            self.say(&dispatch)?;
            packed = true;
        }
        Ok(packed)
    }

    fn next_dispatch(&mut self) -> Result<Option<Bytes>, Close> {
        let Some(following) = &mut self.following else { return Ok(None) };
        let clock = self.fleets.depot.clock;
        if following.taken.is_empty() {
            let (mut most, bytes) = BATCH;
            if let Some((at, seq)) = following.resumed {
                if following.position >= at {
                    following.resumed = None;
                    self.attachment.live(clock.now());
                    let resumed = format!(r#"{{"t":"RESUMED","s":{seq},"op":0,"d":{{"_trace":["tidegate"]}}}}"#);
                    return Ok(Some(resumed.into()));
                }
                most = most.min(following.position.until(at));
            }
            let read = following.ring.read(&mut following.position, (most, bytes), &mut following.taken);
            read.map_err(|_| Close::OVERTAKEN)?;
        }
        let dispatch = following.taken.pop_front();
        if dispatch.is_some() && std::mem::take(&mut following.begins) {
            self.attachment.live(clock.now());
        }
        Ok(dispatch)
    }

    /// Packs one payload.
    pub(super) fn say(&mut self, payload: &Bytes) -> Result<(), End> {
        let deflate = self.deflate.as_mut().ok_or(Close::COMPRESSION)?;
        // Nothing that is sent is over what a stream takes.
        let message = deflate.message(payload).map_err(|_| End::Gone)?;
        self.writer.put(if deflate.is_text() { Kind::Text } else { Kind::Binary }, &message);
        Ok(())
    }

    /// Writes what the socket takes; whether it took something.
    pub(super) fn write(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let mut taken = false;
        while !self.writer.is_empty() {
            let slice: IoSlice<'_> = self.writer.slice();
            match Pin::new(&mut self.io).poll_write(cx, &slice) {
                Poll::Ready(Ok(written)) if written > 0 => {
                    self.writer.advance(written);
                    taken = true;
                }
                Poll::Ready(_) => return Err(End::Gone),
                Poll::Pending => break,
            }
        }
        let most = self.fleets.depot.settings.unsent_max as u64;
        // On a quiet shard there may be nothing else by which a bot that reads nothing shows.
        if self.writer.answers() as u64 > most {
            return Err(Close::TOO_SLOW.into());
        }
        if let Some(following) = &mut self.following {
            let came = following.ring.came();
            if taken || self.writer.is_empty() {
                following.taken_at = came;
            } else if came - following.taken_at > most {
                return Err(Close::TOO_SLOW.into());
            }
        }
        Ok(taken)
    }
}
