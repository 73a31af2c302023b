//! Who waits: a line for each bucket, first come first served.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::io::Shard;

/// A bucket's key, `shard_id % max_concurrency`: Discord's `rate_limit_key`.
pub(super) type Bucket = u64;

/// A place in the order of asking.
pub(super) type Place = i64;

/// One shard in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) place: Place,
    pub(super) http: bool,
}

/// All lines.
#[derive(Debug)]
pub(super) struct Lines {
    max_concurrency: i64,
    by_bucket: BTreeMap<Bucket, BTreeSet<(Place, Shard)>>,
    waiting: BTreeMap<Shard, Waiting>,
    next_place: Place,
}

impl Lines {
    pub(super) fn new(max_concurrency: i64) -> Self {
        Self {
            max_concurrency: max_concurrency.max(1),
            by_bucket: BTreeMap::new(),
            waiting: BTreeMap::new(),
            next_place: 0,
        }
    }

    pub(super) fn bucket(&self, shard: Shard) -> Bucket {
        shard.rem_euclid(self.max_concurrency).unsigned_abs()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn contains(&self, shard: Shard) -> bool {
        self.waiting.contains_key(&shard)
    }

    /// Joins the end of its line; where it stands in it already, it stays.
    pub(super) fn join(&mut self, shard: Shard, http: bool) {
        if let Some(waiting) = self.waiting.get_mut(&shard) {
            waiting.http = http;
            return;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.put(shard, Waiting { place, http });
    }

    /// Stands before all others of its line.
    pub(super) fn join_front(&mut self, shard: Shard, waiting: Waiting) {
        let first = self.first(self.bucket(shard)).map(|(_, waiting)| waiting.place);
        let place = first.map_or(waiting.place, |first| waiting.place.min(first - 1));
        self.put(shard, Waiting { place, ..waiting });
    }

    fn put(&mut self, shard: Shard, waiting: Waiting) {
        self.waiting.insert(shard, waiting);
        self.by_bucket.entry(self.bucket(shard)).or_default().insert((waiting.place, shard));
    }

    pub(super) fn leave(&mut self, shard: Shard) {
        let Some(waiting) = self.waiting.remove(&shard) else { return };
        let bucket = self.bucket(shard);
        if let Some(line) = self.by_bucket.get_mut(&bucket) {
            line.remove(&(waiting.place, shard));
            if line.is_empty() {
                self.by_bucket.remove(&bucket);
            }
        }
    }

    /// The first in a line.
    pub(super) fn first(&self, bucket: Bucket) -> Option<(Shard, Waiting)> {
        let (_, shard) = self.by_bucket.get(&bucket)?.first()?;
        self.waiting.get(shard).map(|waiting| (*shard, *waiting))
    }

    /// Buckets with somebody in line, ascending.
    pub(super) fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.by_bucket.keys().copied()
    }

    /// How many stand before it.
    pub(super) fn ahead_of(&self, shard: Shard) -> Option<usize> {
        let waiting = self.waiting.get(&shard)?;
        let line = self.by_bucket.get(&self.bucket(shard))?;
        Some(line.range(..(waiting.place, shard)).count())
    }

    /// All that wait, line by line.
    pub(super) fn all(&self) -> Vec<Shard> {
        self.by_bucket.values().flatten().map(|(_, shard)| *shard).collect()
    }

    /// Lines that merge stand in the order of asking.
    pub(super) fn set_max_concurrency(&mut self, max_concurrency: i64) {
        let max_concurrency = max_concurrency.max(1);
        if max_concurrency != self.max_concurrency {
            self.max_concurrency = max_concurrency;
            self.by_bucket.clear();
            for (shard, waiting) in core::mem::take(&mut self.waiting) {
                self.put(shard, waiting);
            }
        }
    }

    pub(super) fn check(&self) {
        assert_eq!(self.by_bucket.values().map(BTreeSet::len).sum::<usize>(), self.waiting.len());
        assert!(self.by_bucket.values().all(|line| !line.is_empty()));
    }
}
