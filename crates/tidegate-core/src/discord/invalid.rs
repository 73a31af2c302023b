//! Invalid requests: 10,000 in ten minutes get an address banned
//! (<https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans>).

use alloc::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::time::{Span, Time};

/// Past so many in ten minutes the operator is warned.
pub const INVALID_WARN: u32 = 5_000;
/// Past so many, requests that lately only produced such answers are refused.
pub const INVALID_REFUSE: u32 = 9_000;

const PERIOD: Span = Span::from_secs(600);
/// Answers are counted in slots of this length; a slot counts until it has wholly passed.
const SLOT: Span = Span::from_secs(1);
/// Kinds of requests whose last answers are remembered at once.
const KINDS: usize = 50_000;

/// Counts the answers that Discord holds against an address.
#[derive(Debug)]
pub struct InvalidGuard {
    /// When each slot began, and how many it counts.
    slots: VecDeque<(Time, u32)>,
    total: u32,
    /// For each kind of request (bot and route) its invalid answers since the last good one, and the last one's time.
    kinds: HashMap<u64, (u32, Time), FixedState>,
}

impl Default for InvalidGuard {
    fn default() -> Self {
        Self { slots: VecDeque::new(), total: 0, kinds: HashMap::with_hasher(FixedState::with_seed(5)) }
    }
}

impl InvalidGuard {
    /// An answer to a request of this kind. `invalid`: 401, 403, or a 429 whose scope is not shared.
    pub fn answered(&mut self, now: Time, kind: u64, invalid: bool) {
        self.pass(now);
        if !invalid {
            self.kinds.remove(&kind);
            return;
        }
        match self.slots.back_mut() {
            Some((began, count)) if *began + SLOT > now => *count += 1,
            _ => self.slots.push_back((now, 1)),
        }
        self.total += 1;
        if self.kinds.len() >= KINDS && !self.kinds.contains_key(&kind) {
            self.kinds.retain(|_, (_, last)| *last + PERIOD > now);
        }
        if self.kinds.len() < KINDS {
            let (count, last) = self.kinds.entry(kind).or_insert((0, now));
            (*count, *last) = (*count + 1, now);
        }
    }

    /// Invalid answers of the last ten minutes.
    pub fn count(&mut self, now: Time) -> u32 {
        self.pass(now);
        self.total
    }

    /// For a request of this kind: `None` to let it go, else how long until the count is low enough again.
    pub fn refuse(&mut self, now: Time, kind: u64) -> Option<Span> {
        self.pass(now);
        if self.total < INVALID_REFUSE || !self.kinds.contains_key(&kind) {
            return None;
        }
        let mut left = self.total;
        for (began, count) in &self.slots {
            left -= count;
            if left < INVALID_REFUSE {
                return Some((*began + SLOT + PERIOD).since(now));
            }
        }
        None
    }

    fn pass(&mut self, now: Time) {
        while let Some((began, count)) = self.slots.front().copied() {
            if began + SLOT + PERIOD > now {
                return;
            }
            self.total -= count;
            self.slots.pop_front();
        }
    }
}
