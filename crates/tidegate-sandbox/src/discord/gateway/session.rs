//! One session, and what a RESUME replays of it.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::conn::ConnId;
use super::output::{Frame, Kind};

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) bot: u64,
    pub(crate) shard: (u32, u32),
    pub(crate) intents: u64,
    /// Of the last dispatch.
    pub(crate) seq: u64,
    /// The lowest `seq` that can be resumed from.
    floor: u64,
    ring: VecDeque<Frame>,
    pub(crate) ring_bytes: usize,
    pub(crate) conn: Option<ConnId>,
    /// Without a connection it ends then.
    pub(crate) until_us: u64,
}

impl Session {
    pub(crate) fn new(bot: u64, shard: (u32, u32), intents: u64, conn: ConnId) -> Self {
        Self {
            bot,
            shard,
            intents,
            seq: 0,
            floor: 0,
            ring: VecDeque::new(),
            ring_bytes: 0,
            conn: Some(conn),
            until_us: u64::MAX,
        }
    }

    /// Makes the next dispatch; `d` is JSON.
    pub(crate) fn next(&mut self, event: &Arc<str>, d: &str) -> Frame {
        self.seq += 1;
        let name = serde_json::to_string(&**event).unwrap_or_default();
        let text = format!("{{\"t\":{name},\"s\":{},\"op\":0,\"d\":{d}}}", self.seq);
        Frame { kind: Kind::Dispatch { seq: self.seq, event: Arc::clone(event) }, text: Bytes::from(text) }
    }

    /// Keeps a dispatch for RESUME; `spare` bytes may be added over all sessions.
    pub(crate) fn keep(&mut self, frame: Frame, most: usize, spare: usize) {
        let bytes = frame.text.len();
        self.ring_bytes += bytes;
        self.ring.push_back(frame);
        let most_bytes = self.ring_bytes - bytes + spare;
        while self.ring.len() > most || self.ring_bytes > most_bytes {
            let Some(old) = self.ring.pop_front() else { break };
            self.ring_bytes -= old.text.len();
            if let Kind::Dispatch { seq, .. } = old.kind {
                self.floor = seq;
            }
        }
    }

    /// What came after `seq`; `None` if not all of it is kept.
    pub(crate) fn since(&self, seq: u64) -> Option<Vec<Frame>> {
        if seq < self.floor {
            return None;
        }
        let missed = self.ring.iter().filter(|frame| matches!(frame.kind, Kind::Dispatch { seq: it, .. } if it > seq));
        Some(missed.cloned().collect())
    }
}

/// The id of a session, which holds its number.
pub(crate) fn id(number: u64, seed: u64) -> String {
    format!("{:016x}{number:016x}", mix(number ^ seed))
}

/// The number of a session by its id.
pub(crate) fn number(id: &str, seed: u64) -> Option<u64> {
    let number = u64::from_str_radix(id.get(16..32)?, 16).ok()?;
    (self::id(number, seed) == id).then_some(number)
}

/// Spreads a number over all bits (splitmix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
