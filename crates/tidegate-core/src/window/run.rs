//! A window as it will be used, write after write: for looking ahead over thousands of them.

use alloc::collections::VecDeque;

use super::{Limit, TICK_MICROS};
use crate::time::Time;

/// The units of a window that stand, those that lapse together as one.
///
/// Writes are let go in order, each when all of its weight fits. A weight over the limit stands as the limit now, as much
/// a period later, and so on: such an entry is kept whole.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    limit: Limit,
    /// When units lapse, and how many. Of more than the limit only the limit lapses then, and the rest periods later.
    entries: VecDeque<(Time, u64)>,
    standing: u64,
    /// The last write goes then.
    now: Time,
}

impl Run {
    /// From `now` on, with units that lapse at these moments, the first one first.
    pub(super) fn new(now: Time, limit: Limit, lapses: impl Iterator<Item = Time>) -> Self {
        let mut entries: VecDeque<(Time, u64)> = VecDeque::new();
        let mut standing = 0;
        for lapse in lapses {
            standing += 1;
            match entries.back_mut() {
                Some((at, units)) if *at == lapse => *units += 1,
                _ => entries.push_back((lapse, 1)),
            }
        }
        // What lapses together may be more than the limit, but not by the rule for heavy writes.
        let split = entries.iter().any(|(_, units)| *units > u64::from(limit.units));
        if split {
            entries =
                entries.into_iter().flat_map(|(at, units)| core::iter::repeat_n((at, 1), narrow(units))).collect();
        }
        Self { limit, entries, standing, now }
    }

    /// Nothing goes before this.
    pub(crate) fn not_before(&mut self, at: Time) {
        self.now = self.now.max(at);
    }

    /// When one of this weight would go next.
    pub(crate) fn earliest(&self, weight: u32) -> Time {
        let (mut at, mut over) = (self.now, self.standing.saturating_sub(self.room(weight)));
        for &(lapse, units) in &self.entries {
            if over == 0 {
                break;
            }
            let (periods, gone) = self.lapsing(units, over);
            at = at.max(lapse + self.limit.period.times(periods - 1));
            over = over.saturating_sub(gone);
        }
        at
    }

    /// One of this weight goes next; when.
    pub(crate) fn place(&mut self, weight: u32) -> Time {
        let room = self.room(weight);
        while self.standing > room {
            let Some((lapse, units)) = self.entries.pop_front() else { break };
            let (periods, gone) = self.lapsing(units, self.standing - room);
            self.now = self.now.max(lapse + self.limit.period.times(periods - 1));
            self.standing -= gone;
            if gone < units {
                self.entries.push_front((lapse + self.limit.period.times(periods), units - gone));
            }
        }
        let from = self.now.as_micros().div_ceil(TICK_MICROS) * TICK_MICROS;
        self.entries.push_back((Time::from_micros(from) + self.limit.period, u64::from(weight)));
        self.standing += u64::from(weight);
        self.now
    }

    /// Units that may stand when one of this weight goes.
    fn room(&self, weight: u32) -> u64 {
        u64::from(self.limit.units.saturating_sub(weight))
    }

    /// Of an entry that lapses at its limit a period: after how many periods, counted from 1, `wanted` of it have lapsed,
    /// or all; and how many have by then.
    fn lapsing(&self, units: u64, wanted: u64) -> (u64, u64) {
        let limit = u64::from(self.limit.units.max(1));
        let periods = wanted.div_ceil(limit).clamp(1, units.div_ceil(limit));
        (periods, units.min(periods * limit))
    }
}

fn narrow(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
