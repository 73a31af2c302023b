//! The rolling budget: every session start of the last 24 h.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::io::{GrantId, Shard};
use super::store::{Change, DAY, Start};
use crate::time::Time;

/// Where a start comes from; tells apart those of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Kept(usize),
    Granted(GrantId),
}

/// The starts that count, the first to lapse first, and how many are each shard's.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    starts: BTreeMap<(Time, Origin), Option<Shard>>,
    of_shard: BTreeMap<Shard, u64>,
    changes: Vec<Change>,
}

impl Ledger {
    pub(super) fn new(kept: impl IntoIterator<Item = Start>) -> Self {
        let mut ledger = Self::default();
        for (at, start) in kept.into_iter().enumerate() {
            ledger.insert(start.lapses_at, Origin::Kept(at), start.shard);
        }
        ledger
    }

    pub(super) fn counted(&self) -> u64 {
        self.starts.len() as u64
    }

    pub(super) fn counted_of(&self, shard: Shard) -> u64 {
        self.of_shard.get(&shard).copied().unwrap_or(0)
    }

    /// When the `nth` (from 0) of those that count lapses, of one shard or of all.
    pub(super) fn nth_lapse(&self, nth: u64, shard: Option<Shard>) -> Option<Time> {
        let of_it = |whose: Option<Shard>| shard.is_none() || whose == shard;
        let mut lapses = self.starts.iter().filter(|(_, whose)| of_it(**whose)).map(|((at, _), _)| *at);
        lapses.nth(usize::try_from(nth).unwrap_or(usize::MAX))
    }

    /// Counts a start; answers when it lapses.
    pub(super) fn count(&mut self, now: Time, shard: Shard, grant: GrantId) -> Time {
        let start = Start { lapses_at: now + DAY, shard: Some(shard) };
        self.insert(start.lapses_at, Origin::Granted(grant), start.shard);
        self.changes.push(Change::Counted(start));
        start.lapses_at
    }

    /// The start was not used after all.
    pub(super) fn undo(&mut self, lapses_at: Time, grant: GrantId) {
        if let Some(start) = self.remove((lapses_at, Origin::Granted(grant))) {
            self.changes.push(Change::Undone(start));
        }
    }

    /// Starts a day old count no more.
    pub(super) fn pass(&mut self, now: Time) {
        while let Some((&key, _)) = self.starts.first_key_value().filter(|((lapses_at, _), _)| *lapses_at <= now) {
            self.remove(key);
        }
    }

    /// What is to be kept, in order.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        core::mem::take(&mut self.changes)
    }

    fn insert(&mut self, lapses_at: Time, origin: Origin, shard: Option<Shard>) {
        self.starts.insert((lapses_at, origin), shard);
        if let Some(shard) = shard {
            *self.of_shard.entry(shard).or_default() += 1;
        }
    }

    fn remove(&mut self, key: (Time, Origin)) -> Option<Start> {
        let shard = self.starts.remove(&key)?;
        if let Some(shard) = shard
            && let Some(count) = self.of_shard.get_mut(&shard)
        {
            *count -= 1;
            if *count == 0 {
                self.of_shard.remove(&shard);
            }
        }
        Some(Start { lapses_at: key.0, shard })
    }

    pub(super) fn check(&self, now: Time) {
        assert!(self.starts.keys().all(|(lapses_at, _)| *lapses_at > now), "none counts for longer than a day");
        let known = self.starts.values().filter(|shard| shard.is_some()).count() as u64;
        assert_eq!(self.of_shard.values().sum::<u64>(), known);
    }
}
