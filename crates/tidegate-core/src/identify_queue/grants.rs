//! Grants that live, those that lapsed unused, and the spacing that each start leaves behind.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::io::{GrantId, Shard};
use super::lines::{Bucket, Lines, Waiting};
use super::settings::Settings;
use crate::time::{Span, Time};

/// Lapsed grants that may still be told to have been unused.
pub(super) const LAPSED_MAX: usize = 4_096;
/// Spacings that are kept apart by shard.
pub(super) const SPACINGS_MAX: usize = 65_536;

/// A loan of a bucket's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub(super) id: GrantId,
    pub(super) waited: Waiting,
    pub(super) given_at: Time,
    pub(super) identified_at: Option<Time>,
    pub(super) spent: Spent,
}

/// What a grant took of the budgets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    /// Its place in the ledger.
    pub(super) lapses_at: Time,
    /// The day that it was counted in.
    pub(super) day: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lapsed {
    pub(super) shard: Shard,
    pub(super) waited: Waiting,
    pub(super) spent: Spent,
}

/// They go with their shard, so that a changed `max_concurrency` re-buckets them too.
#[derive(Debug, Default)]
pub(super) struct Grants {
    living: BTreeMap<Shard, Grant>,
    lapsed: BTreeMap<GrantId, Lapsed>,
    spaced_until: BTreeMap<Shard, Time>,
}

impl Grant {
    fn lapses_at(&self, settings: &Settings) -> Time {
        self.given_at + settings.hold_of(self.waited.http)
    }

    /// Where spacing counts from, if it ends at `end`.
    fn spaced_from(&self, end: Time) -> Time {
        let known = self.identified_at.unwrap_or(self.given_at);
        if self.waited.http { known.max(end) } else { known }
    }
}

fn spacing(settings: &Settings) -> Span {
    settings.spacing + settings.spacing_margin
}

impl Grants {
    pub(super) fn give(&mut self, shard: Shard, grant: Grant) {
        self.living.insert(shard, grant);
    }

    /// The shard's grant, if it lives and has this number.
    pub(super) fn living(&mut self, shard: Shard, id: Option<GrantId>) -> Option<&mut Grant> {
        self.living.get_mut(&shard).filter(|grant| id.is_none_or(|id| grant.id == id))
    }

    /// Ends a living grant as used; its bucket waits out its spacing.
    pub(super) fn end(&mut self, shard: Shard, at: Time, settings: &Settings) {
        if let Some(grant) = self.living.remove(&shard) {
            self.space(shard, grant.spaced_from(at) + spacing(settings));
        }
    }

    /// Ends a living grant as if it had never been.
    pub(super) fn undo(&mut self, shard: Shard) {
        self.living.remove(&shard);
    }

    /// IDENTIFY was written without a living grant: only spacing follows. A lapsed grant was used after all.
    pub(super) fn written_late(&mut self, shard: Shard, id: Option<GrantId>, now: Time, settings: &Settings) {
        if let Some(id) = id {
            self.take_lapsed(shard, id);
        }
        self.space(shard, now + spacing(settings));
    }

    /// A lapsed grant of this shard that was never known to be used.
    pub(super) fn take_lapsed(&mut self, shard: Shard, id: GrantId) -> Option<Lapsed> {
        if self.lapsed.get(&id)?.shard == shard { self.lapsed.remove(&id) } else { None }
    }

    /// The shard's bucket is not free before `until`.
    pub(super) fn space(&mut self, shard: Shard, until: Time) {
        let spaced = self.spaced_until.entry(shard).or_default();
        *spaced = until.max(*spaced);
        if self.spaced_until.len() > SPACINGS_MAX {
            let soonest = self.spaced_until.iter().min_by_key(|(_, until)| **until).map(|(shard, _)| *shard);
            soonest.map(|shard| self.spaced_until.remove(&shard));
        }
    }

    /// Grants lapse, spacings end, and lapsed grants that neither budget counts any more are forgotten.
    pub(super) fn pass(&mut self, now: Time, day: u64, settings: &Settings) {
        let due = self.living.iter().filter(|(_, grant)| grant.lapses_at(settings) <= now).map(|(shard, _)| *shard);
        for shard in due.collect::<Vec<_>>() {
            let Some(grant) = self.living.remove(&shard) else { continue };
            self.space(shard, grant.spaced_from(grant.lapses_at(settings)) + spacing(settings));
            if grant.identified_at.is_none() {
                self.lapsed.insert(grant.id, Lapsed { shard, waited: grant.waited, spent: grant.spent });
            }
        }
        self.lapsed.retain(|_, lapsed| lapsed.spent.lapses_at > now || lapsed.spent.day == day);
        while self.lapsed.len() > LAPSED_MAX {
            self.lapsed.pop_first();
        }
        self.spaced_until.retain(|_, until| *until > now);
    }

    /// The buckets that are not free, or have a grant in the way.
    pub(super) fn busy(&self, lines: &Lines, settings: &Settings) -> BTreeMap<Bucket, Busy> {
        let mut busy: BTreeMap<Bucket, Busy> = BTreeMap::new();
        for (shard, grant) in &self.living {
            let of = busy.entry(lines.bucket(*shard)).or_default();
            of.lapse = of.lapse.max(Some(grant.lapses_at(settings)));
            let start = grant.identified_at.unwrap_or(grant.given_at);
            of.at_best = of.at_best.max(start + spacing(settings));
        }
        for (shard, until) in &self.spaced_until {
            let of = busy.entry(lines.bucket(*shard)).or_default();
            of.spaced = of.spaced.max(*until);
            of.at_best = of.at_best.max(*until);
        }
        busy
    }

    pub(super) fn check(&self, now: Time, settings: &Settings) {
        assert!(self.living.values().all(|grant| grant.lapses_at(settings) > now), "what lapsed does not live");
        assert!(self.spaced_until.values().all(|until| *until > now));
        assert!(self.lapsed.len() <= LAPSED_MAX && self.spaced_until.len() <= SPACINGS_MAX);
    }
}

/// Why a bucket is not free.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    /// A grant lives until then.
    pub(super) lapse: Option<Time>,
    spaced: Time,
    /// When it is free if its grant is given back in time.
    pub(super) at_best: Time,
}

impl Busy {
    /// When it is worth looking again.
    pub(super) fn until(&self) -> Time {
        self.lapse.unwrap_or_default().max(self.spaced)
    }
}
