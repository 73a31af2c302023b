//! Never more than N in any rolling period.
//!
//! A unit stands from its release until a period after its *answer*: between the two it may reach the platform at any
//! moment, so only from the answer on is its age there known. One that is never answered stands [`UNANSWERED`] longer.

use alloc::vec::Vec;

use crate::time::{Span, Time};

/// How long the answer to a write is waited for before it is taken as given.
pub(crate) const UNANSWERED: Span = Span::from_secs(60);

/// Stamps are kept in quarters of a millisecond, counted round in 32 bits (12 days): a full window of a group is 80
/// bytes. A unit therefore stands up to 0.25 ms longer than it must. Stamps that have passed are dropped at each look,
/// and a peer with only passed stamps is forgotten within a minute, so none is ever half a round old.
const TICK_MICROS: u64 = 250;

/// The units of one window that still stand, by the moment each lapses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Sorted, the first to lapse first.
    stamps: Vec<u32>,
    /// So many at the front have lapsed. They are cleared away once they are most of it, not one by one.
    lapsed: u32,
}

/// What a window allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) units: u32,
    pub(crate) period: Span,
}

#[expect(clippy::cast_possible_truncation, reason = "the round is meant")]
fn stamp(time: Time) -> u32 {
    time.as_micros().div_ceil(TICK_MICROS) as u32
}

/// Whether a stamp lies after a moment.
#[expect(clippy::cast_possible_wrap, reason = "distance on the round")]
fn after(stamped: u32, now: u32) -> bool {
    (stamped.wrapping_sub(now) as i32) > 0
}

/// The moment of a stamp that lies after `now`.
fn moment(stamped: u32, now: Time) -> Time {
    let ahead = stamped.wrapping_sub(stamp(now));
    Time::from_micros((now.as_micros().div_ceil(TICK_MICROS) + u64::from(ahead)) * TICK_MICROS)
}

impl Window {
    /// Units that stand at `now`.
    pub(crate) fn count(&mut self, now: Time) -> usize {
        let now = stamp(now);
        let passed = self.standing().iter().take_while(|&&s| !after(s, now)).count();
        if passed > 0 {
            self.lapsed += u32::try_from(passed).unwrap_or(0);
            if self.standing().is_empty() {
                *self = Self::default();
            } else if self.lapsed as usize > self.stamps.len() / 2 {
                self.stamps.drain(..self.lapsed as usize);
                self.lapsed = 0;
            }
        }
        self.standing().len()
    }

    fn standing(&self) -> &[u32] {
        self.stamps.get(self.lapsed as usize..).unwrap_or_default()
    }

    /// The earliest moment, `now` or later, at which `weight` more fit in. More than the limit fit in when it is empty.
    pub(crate) fn earliest(&mut self, now: Time, limit: Limit, weight: u32) -> Time {
        let standing = self.count(now);
        let room = (limit.units as usize).saturating_sub(weight.clamp(1, limit.units.max(1)) as usize);
        if standing <= room { now } else { moment(self.standing()[standing - room - 1], now) }
    }

    /// When nothing stands any more.
    pub(crate) fn empty_at(&mut self, now: Time) -> Time {
        match self.count(now) {
            0 => now,
            standing => moment(self.standing()[standing - 1], now),
        }
    }

    /// Units released at `now` whose answer is not known yet.
    pub(crate) fn release(&mut self, now: Time, limit: Limit, weight: u32) {
        self.count(now);
        self.each(now + UNANSWERED, limit, weight, Self::insert, now);
    }

    /// The units released at `released` were answered at `now`.
    pub(crate) fn answered(&mut self, released: Time, now: Time, limit: Limit, weight: u32) {
        self.take_back(released, now, limit, weight);
        self.each(now, limit, weight, Self::insert, now);
    }

    /// The units released at `released` were not used after all.
    pub(crate) fn take_back(&mut self, released: Time, now: Time, limit: Limit, weight: u32) {
        self.count(now);
        self.each(released + UNANSWERED, limit, weight, Self::remove, now);
    }

    /// Up to the limit stand one period from `from`, as many again two, and so on.
    fn each(&mut self, from: Time, limit: Limit, weight: u32, act: fn(&mut Self, u32, u32), now: Time) {
        let base = stamp(now);
        for unit in 0..weight {
            let periods = u64::from(unit / limit.units.max(1)) + 1;
            act(self, stamp(from + limit.period.times(periods)), base);
        }
    }

    /// All units as if every outstanding answer came at `now`: what to tell somebody who asks how long it takes.
    pub(crate) fn settled(&self, now: Time, limit: Limit) -> Self {
        let (base, last) = (stamp(now), stamp(now + limit.period));
        let stamps = self.standing().iter().map(|&s| if after(s, last) { last } else { s });
        Self { stamps: stamps.filter(|&s| after(s, base)).collect(), lapsed: 0 }
    }

    /// Units released and answered at `at`, later than all that are in: for looking ahead.
    pub(crate) fn foresee(&mut self, at: Time, limit: Limit, weight: u32) {
        self.each(at, limit, weight, Self::insert, at);
    }

    /// The moment at which the `nth` unit (from 0) from `now` on could go, if all before it went as early as they could.
    pub(crate) fn nth(&mut self, now: Time, limit: Limit, nth: u64) -> Time {
        let standing = self.count(now) as u64;
        let units = u64::from(limit.units.max(1));
        let free = units.saturating_sub(standing);
        let Some(late) = nth.checked_sub(free) else { return now };
        let skip = standing.saturating_sub(units);
        let (round, within) = (late / units, late % units + skip);
        // Those that can go at once lapse a period from now.
        let standing = self.standing().get(usize::try_from(within).unwrap_or(usize::MAX));
        let first = standing.map_or(now + limit.period, |&s| moment(s, now));
        first + limit.period.times(round)
    }

    /// Both windows' units in one.
    pub(crate) fn unite(&mut self, other: &mut Self, now: Time) {
        self.count(now);
        other.count(now);
        for &s in other.standing() {
            self.insert(s, stamp(now));
        }
    }

    fn insert(&mut self, value: u32, base: u32) {
        if self.stamps.len() == self.stamps.capacity() {
            self.stamps.drain(..self.lapsed as usize);
            self.lapsed = 0;
            if self.stamps.len() == self.stamps.capacity() {
                // In small steps: many groups have few units, and a full window should not take twice its size.
                self.stamps.reserve_exact(if self.stamps.len() < 64 { 4 } else { self.stamps.len() / 2 });
            }
        }
        // From the end: all but those in flight lapse sooner.
        let behind =
            self.standing().iter().rev().take_while(|s| s.wrapping_sub(base) > value.wrapping_sub(base)).count();
        self.stamps.insert(self.stamps.len() - behind, value);
    }

    fn remove(&mut self, value: u32, _base: u32) {
        if let Some(behind) = self.standing().iter().rev().position(|&s| s == value) {
            self.stamps.remove(self.stamps.len() - behind - 1);
        }
    }
}
