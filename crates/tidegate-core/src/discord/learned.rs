//! A bucket that the platform describes in its answers.

use crate::time::{Span, Time};

/// Added to a window's end: the platform's clock and ours do not tick together.
const PAD: Span = Span::from_millis(50);
/// While nothing is known one request goes; the rest wait for its answer, or so long.
const PROBE: Span = Span::from_secs(1);
/// More than any route of Discord allows: not believed.
const LIMIT_MOST: u32 = 10_000;
/// A longer window is not believed without a 429.
const RESET_MOST: Span = Span::from_secs(3_600);
/// A limit is remembered so long past its last window.
const REMEMBER: Span = Span::from_secs(60);

/// What an answer says of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The bucket's hash, hashed.
    pub hash: u64,
    /// Requests of a window.
    pub limit: u32,
    /// Requests left in it.
    pub remaining: u32,
    /// How long until it ends.
    pub reset_after: Span,
}

impl Headers {
    /// Whether they can be true.
    pub fn plausible(&self) -> bool {
        self.limit > 0 && self.limit <= LIMIT_MOST && self.reset_after <= RESET_MOST
    }
}

/// What is known of one route's bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    hash: u64,
    /// 0: not known yet.
    limit: u32,
    remaining: u32,
    /// When the window ends; before the first answer of a window that is not known.
    resets: Option<Time>,
    /// The last release.
    released: Option<Time>,
    /// The longest that an answer said a window lasts on.
    period: Span,
    /// An answer came without headers: there is nothing to learn.
    plain: bool,
    /// Sent and not answered. What leaves near a window's end may arrive in the next one.
    out: u32,
}

impl Learned {
    /// The earliest moment, `now` or later, at which one more may go.
    pub fn earliest(&self, now: Time) -> Time {
        if self.plain {
            return now;
        }
        if self.limit == 0 {
            return self.released.map_or(now, |at| (at + PROBE).max(now));
        }
        match self.resets {
            Some(resets) if resets <= now && self.out < self.limit => now,
            // As many are on their way as a whole window has.
            Some(resets) if resets <= now => self.released.map_or(now, |at| (at + PROBE).max(now)),
            _ if self.remaining > 0 => now,
            Some(resets) => resets,
            // All of a window that no answer has told the end of yet.
            None => self.released.map_or(now, |at| (at + PROBE).max(now)),
        }
    }

    /// One goes.
    pub fn release(&mut self, now: Time) {
        self.released = Some(now);
        if self.limit == 0 {
            return;
        }
        // A window whose end no answer told within a second is taken for a new one.
        if self.begins_anew(now) {
            self.remaining = self.limit;
            self.resets = None;
        }
        self.remaining = self.remaining.saturating_sub(1);
    }

    /// One goes whose end [`Self::landed`] will be told.
    pub(crate) fn depart(&mut self, now: Time) {
        let anew = self.begins_anew(now);
        self.release(now);
        if anew {
            self.set_aside(self.out);
        }
        self.out += 1;
    }

    /// One that departed was answered, or did not go after all.
    pub(crate) fn landed(&mut self) {
        self.out = self.out.saturating_sub(1);
    }

    /// Whether the next one is the first of a window.
    fn begins_anew(&self, now: Time) -> bool {
        self.remaining == 0 || self.resets.is_some_and(|resets| resets <= now)
    }

    /// One will go at `at`, and its answer will tell of a window as long as the longest so far.
    pub(crate) fn foresee(&mut self, at: Time) {
        let out = if self.begins_anew(at) { core::mem::take(&mut self.out) } else { 0 };
        self.release(at);
        self.set_aside(out);
        if self.limit > 0 && self.resets.is_none() {
            self.resets = Some(at + self.period + PAD);
        }
    }

    /// One did not go after all.
    pub fn give_back(&mut self) {
        self.remaining = (self.remaining + 1).min(self.limit);
    }

    /// An answer came for a request that was released at `released`.
    pub fn answered(&mut self, now: Time, released: Time, headers: Option<Headers>) {
        let unknown = self.limit == 0;
        self.told(now, released, headers);
        if unknown {
            // Sent before anything was known. One of them is the one answered.
            self.set_aside(self.out.saturating_sub(1));
        }
    }

    fn told(&mut self, now: Time, released: Time, headers: Option<Headers>) {
        let Some(headers) = headers.filter(Headers::plausible) else {
            self.plain = self.limit == 0;
            return;
        };
        self.plain = false;
        let resets = now + headers.reset_after + PAD;
        if self.limit == 0 || headers.hash != self.hash {
            // What is still in flight counts against the old bucket.
            *self = Self {
                hash: headers.hash,
                limit: headers.limit,
                remaining: headers.remaining,
                resets: Some(resets),
                ..*self
            };
            return;
        }
        self.limit = headers.limit;
        self.period = self.period.max(headers.reset_after);
        match self.resets {
            // The answer to a request of a window that has ended says nothing of this one.
            None if self.released.is_some_and(|last| released < last && headers.reset_after.is_zero()) => {}
            None => {
                self.remaining = self.remaining.min(headers.remaining);
                self.resets = Some(resets);
            }
            Some(current) => {
                self.remaining = if current <= now { headers.remaining } else { self.remaining.min(headers.remaining) };
                self.resets = Some(current.max(resets));
            }
        }
    }

    /// So many are on their way that the platform will count in this window.
    fn set_aside(&mut self, requests: u32) {
        self.remaining = self.remaining.saturating_sub(requests);
    }

    /// A request ended. Where nothing has told of a bucket by then, there is none to wait for.
    pub fn ended(&mut self) {
        self.plain |= self.limit == 0;
    }

    /// Whether it believed that there was room: a 429 then is of another limit.
    pub fn had_room(&self) -> bool {
        self.limit > 0 && self.remaining > 0
    }

    /// When nothing of it need be remembered.
    pub fn forgets_at(&self) -> Time {
        let last = self.released.unwrap_or(Time::ZERO).max(self.resets.unwrap_or(Time::ZERO));
        last + REMEMBER
    }
}
