//! One bucket that the platform describes in its answers.

use super::Headers;
use super::learned::PAD;
use crate::time::{Span, Time};

/// Answers that name other buckets of the route before one whose window has ended is forgotten.
const MISSES: u8 = 4;

/// What is known of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Described {
    hash: u64,
    /// 0: not known yet.
    limit: u32,
    remaining: u32,
    /// When the window ends; before the first answer of a window that is not known.
    resets: Option<Time>,
    /// The longest that an answer said a window lasts on.
    period: Span,
    /// Answers of the route since the last that named this one.
    misses: u8,
}

impl Described {
    /// As an answer describes it, which counts not yet the requests that are out.
    pub(super) fn new(now: Time, headers: &Headers, out: u32) -> Self {
        let resets = Some(now + headers.reset_after + PAD);
        let remaining = headers.remaining.saturating_sub(out);
        Self { hash: headers.hash, limit: headers.limit, remaining, resets, period: headers.reset_after, misses: 0 }
    }

    #[inline]
    pub(super) fn is_unknown(&self) -> bool {
        self.limit == 0
    }

    /// Whether an answer names this one.
    pub(super) fn is(&self, headers: &Headers) -> bool {
        !self.is_unknown() && self.hash == headers.hash
    }

    /// The end of its window, where it is known.
    pub(super) fn resets(&self) -> Time {
        self.resets.unwrap_or(Time::ZERO)
    }

    /// The earliest moment, `now` or later, at which one more may go; `out` are on their way, and `probed` is when an
    /// answer to the last of them is waited for no longer.
    #[inline]
    pub(super) fn earliest(&self, now: Time, out: u32, probed: Time) -> Time {
        match self.resets {
            Some(resets) if resets <= now && out < self.limit => now,
            // As many are on their way as a whole window has.
            Some(resets) if resets <= now => probed,
            _ if self.remaining > 0 => now,
            Some(resets) => resets,
            // All of a window that no answer has told the end of yet.
            None => probed,
        }
    }

    /// One goes; `out` others are on their way, which the platform will count in a window that begins now. A window whose
    /// end no answer told within a second is taken for a new one.
    #[inline]
    pub(super) fn release(&mut self, now: Time, out: u32) {
        if self.is_unknown() {
            return;
        }
        let anew = self.begins_anew(now);
        if anew {
            self.remaining = self.limit;
            self.resets = None;
        }
        self.remaining = self.remaining.saturating_sub(if anew { 1 + out } else { 1 });
    }

    /// Whether the next one is the first of a window.
    #[inline]
    pub(super) fn begins_anew(&self, now: Time) -> bool {
        self.remaining == 0 || self.resets.is_some_and(|resets| resets <= now)
    }

    /// One will go at `at` when `out` others are on their way, and its answer will tell of a window as long as the
    /// longest so far.
    pub(super) fn foresee(&mut self, at: Time, out: u32) {
        self.release(at, 0);
        self.remaining = self.remaining.saturating_sub(out);
        if !self.is_unknown() && self.resets.is_none() {
            self.resets = Some(at + self.period + PAD);
        }
    }

    /// One did not go after all.
    pub(super) fn give_back(&mut self) {
        self.remaining = (self.remaining + 1).min(self.limit);
    }

    /// An answer named it. `late`: another was released after the one that was answered.
    pub(super) fn told(&mut self, now: Time, headers: &Headers, late: bool) {
        self.misses = 0;
        self.limit = headers.limit;
        self.period = self.period.max(headers.reset_after);
        let resets = now + headers.reset_after + PAD;
        match self.resets {
            // The answer to a request of a window that has ended says nothing of this one.
            None if late && headers.reset_after.is_zero() => {}
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

    /// An answer named another bucket of the route. In a window of this one that no answer has told of, its request was
    /// counted for nothing.
    pub(super) fn missed(&mut self) {
        self.misses = self.misses.saturating_add(1);
        if self.resets.is_none() {
            self.give_back();
        }
    }

    /// Whether it still counts: while its window runs, and as long as the route may come back to it.
    pub(super) fn counts(&self, now: Time) -> bool {
        self.misses < MISSES || self.resets.is_some_and(|resets| resets > now)
    }
}
