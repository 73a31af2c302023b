//! Never more than N in any rolling period.
//!
//! A unit stands from its release until a period after its *answer*: between the two it may reach the platform at any
//! moment, so only from the answer on is its age there known. One that is never answered stands [`UNANSWERED`] longer.
#![expect(clippy::inline_always, reason = "every write takes this path, twice")]

mod run;
mod stamps;

pub(crate) use self::run::Run;
use self::stamps::{Stamps, after};
use crate::time::{Span, Time};

/// How long the answer to a write is waited for before it is taken as given.
pub(crate) const UNANSWERED: Span = Span::from_secs(60);

/// Stamps are kept in quarters of a millisecond, counted round in 32 bits (12 days): a full window of a group is 80
/// bytes. A unit therefore stands up to 0.25 ms longer than it must. Stamps that have passed are dropped at each look,
/// and every window is looked at or forgotten within minutes, so none is ever half a round old.
const TICK_MICROS: u64 = 250;

/// No unit of a heavy write stands for longer (3 days): half a round is what stamps can tell apart.
const FARTHEST: u32 = 1 << 30;

/// The units of one window that still stand, by the moment each lapses: sorted, the first to lapse first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    stamps: Stamps,
}

/// What a window allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) units: u32,
    pub(crate) period: Span,
    /// The period in ticks.
    ticks: u32,
}

impl Limit {
    pub(crate) fn new(units: u32, period: Span) -> Self {
        Self { units, period, ticks: ticks(period) }
    }

    /// As many in the same period.
    #[inline]
    pub(crate) fn with(self, units: u32) -> Self {
        Self { units, ..self }
    }
}

/// A moment and its stamp, counted once for several windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    time: Time,
    stamp: u32,
}

impl From<Time> for Now {
    #[inline]
    fn from(time: Time) -> Self {
        Self { time, stamp: stamp(time) }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the round is meant")]
fn stamp(time: Time) -> u32 {
    (time.as_micros().saturating_add(TICK_MICROS - 1) / TICK_MICROS) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a longer one could not be told from a shorter")]
const fn ticks(span: Span) -> u32 {
    span.as_micros().div_ceil(TICK_MICROS) as u32
}

/// The moment of a stamp that lies after `now`.
fn moment(stamped: u32, now: Now) -> Time {
    let ahead = stamped.wrapping_sub(now.stamp);
    Time::from_micros((now.time.as_micros().div_ceil(TICK_MICROS) + u64::from(ahead)) * TICK_MICROS)
}

impl Window {
    /// Units that stand at `now`.
    #[inline(always)]
    pub(crate) fn count(&mut self, now: Now) -> usize {
        self.stamps.drop_while(|stamp| !after(stamp, now.stamp));
        self.stamps.len()
    }

    /// The earliest moment, `now` or later, at which `weight` more fit in. More than the limit fit in when it is empty.
    #[inline]
    pub(crate) fn earliest(&mut self, now: Now, limit: Limit, weight: u32) -> Time {
        let standing = self.count(now);
        let room = limit.units.saturating_sub(weight) as usize;
        if standing <= room { now.time } else { moment(self.stamps.as_slice()[standing - room - 1], now) }
    }

    /// Whether `weight` more fit in at `now`.
    #[inline(always)]
    pub(crate) fn has_room(&mut self, now: Now, limit: Limit, weight: u32) -> bool {
        self.count(now) <= limit.units.saturating_sub(weight) as usize
    }

    /// When nothing stands any more.
    pub(crate) fn empty_at(&mut self, now: Time) -> Time {
        let now = now.into();
        self.count(now);
        self.stamps.as_slice().last().map_or(now.time, |&last| moment(last, now))
    }

    /// Units released at `now` whose answer is not known yet.
    #[inline]
    pub(crate) fn release(&mut self, now: Now, limit: Limit, weight: u32) {
        let from = now.stamp.wrapping_add(const { ticks(UNANSWERED) });
        if weight == 1 {
            self.stamps.insert(from.wrapping_add(limit.ticks));
        } else {
            self.release_each(from, limit, weight);
        }
    }

    #[inline(never)]
    fn release_each(&mut self, from: u32, limit: Limit, weight: u32) {
        each(from, limit, weight, |unit| self.stamps.insert(unit));
    }

    /// The units released at `released` were answered at `now`.
    #[inline(always)]
    pub(crate) fn answered(&mut self, released: Time, now: Now, limit: Limit, weight: u32) {
        let from = stamp(released).wrapping_add(const { ticks(UNANSWERED) });
        if weight == 1 {
            self.stamps.replace(from.wrapping_add(limit.ticks), now.stamp.wrapping_add(limit.ticks));
        } else {
            self.answered_each(from, now, limit, weight);
        }
    }

    #[inline(never)]
    fn answered_each(&mut self, from: u32, now: Now, limit: Limit, weight: u32) {
        each(from, limit, weight, |unit| _ = self.stamps.remove(unit));
        each(now.stamp, limit, weight, |unit| self.stamps.insert(unit));
    }

    /// The units released at `released` were not used after all.
    pub(crate) fn take_back(&mut self, released: Time, limit: Limit, weight: u32) {
        let from = stamp(released).wrapping_add(const { ticks(UNANSWERED) });
        each(from, limit, weight, |unit| _ = self.stamps.remove(unit));
    }

    /// All units as if every outstanding answer came at `now`: what to tell somebody who asks how long it takes.
    /// `flying`: the moment and the weight of each write that is not answered.
    pub(crate) fn settled(&self, now: Time, limit: Limit, flying: impl Iterator<Item = (Time, u32)>) -> Self {
        let base = stamp(now);
        let standing = self.stamps.as_slice().iter().copied().filter(|&s| after(s, base));
        if standing.clone().count() <= limit.units as usize {
            // No write over the limit has more than its last units here, so what lapses later is not answered.
            let last = base.wrapping_add(limit.ticks);
            return Self { stamps: standing.map(|s| if after(s, last) { last } else { s }).collect() };
        }
        let mut settled = Self { stamps: standing.collect() };
        for (released, weight) in flying {
            let from = stamp(released).wrapping_add(const { ticks(UNANSWERED) });
            let mut units = 0;
            // Those that lapsed unanswered, the first ones, stand no more.
            each(from, limit, weight, |unit| units += u32::from(settled.stamps.remove(unit)));
            let mut lapsed = weight.saturating_sub(units);
            each(base, limit, weight, |unit| match lapsed.checked_sub(1) {
                Some(less) => lapsed = less,
                None => settled.stamps.insert(unit),
            });
        }
        settled
    }

    /// Units released and answered at `at`, later than all that are in: for looking ahead.
    pub(crate) fn foresee(&mut self, at: Time, limit: Limit, weight: u32) {
        each(stamp(at), limit, weight, |unit| self.stamps.insert(unit));
    }

    /// What becomes of it from `now` on.
    pub(crate) fn run(&mut self, now: Time, limit: Limit) -> Run {
        let tick = now.into();
        self.count(tick);
        Run::new(now, limit, self.stamps.as_slice().iter().map(|&s| moment(s, tick)))
    }

    /// Both windows' units in one.
    pub(crate) fn unite(&mut self, other: &mut Self, now: Time) {
        let now = now.into();
        self.count(now);
        other.count(now);
        for &s in other.stamps.as_slice() {
            self.stamps.insert(s);
        }
    }
}

/// The stamps of all units of a write: up to the limit stand one period from `from`, as many again two, and so on.
#[inline]
fn each(from: u32, limit: Limit, weight: u32, mut act: impl FnMut(u32)) {
    act(from.wrapping_add(limit.ticks));
    for unit in 1..weight {
        let periods = unit / limit.units.max(1) + 1;
        act(from.wrapping_add(limit.ticks.saturating_mul(periods).min(FARTHEST.max(limit.ticks))));
    }
}
