//! One bot: its budget, its buckets, its sessions.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::Figures;
use crate::discord::model::Gateway;
use crate::lru::Lru;

pub(crate) struct Bot {
    /// Shards recommended.
    pub(crate) shards: u32,
    pub(crate) max_concurrency: u32,
    pub(crate) total: u32,
    pub(crate) used: u32,
    pub(crate) reset_at_us: u64,
    /// Intents that it has not been granted.
    pub(crate) denied_intents: u64,
    /// With fewer it is told to shard.
    pub(crate) least_shards: u32,
    /// The last IDENTIFY that was let through, by bucket.
    buckets: BTreeMap<u32, u64>,
    pub(crate) sessions: BTreeSet<u64>,
    /// The last request for all members, by guild.
    pub(crate) members: Lru<u64, u64>,
    pub(crate) figures: Figures,
}

impl Bot {
    pub(crate) fn new(start: &Gateway, now_us: u64, guilds: usize) -> Self {
        Self {
            shards: start.shards,
            max_concurrency: start.max_concurrency.clamp(1, 1000),
            total: start.total,
            used: start.total.saturating_sub(start.remaining),
            reset_at_us: now_us.saturating_add(start.reset_after_ms.saturating_mul(1000)),
            denied_intents: 0,
            least_shards: 0,
            buckets: BTreeMap::new(),
            sessions: BTreeSet::new(),
            members: Lru::new(guilds),
            figures: Figures::default(),
        }
    }

    /// Begins the days that have come.
    pub(crate) fn turn(&mut self, now_us: u64, day_us: u64) {
        if now_us >= self.reset_at_us {
            self.used = 0;
            let days = (now_us - self.reset_at_us) / day_us.max(1) + 1;
            self.reset_at_us = self.reset_at_us.saturating_add(days.saturating_mul(day_us.max(1)));
        }
    }

    pub(crate) fn remaining(&self) -> u32 {
        self.total.saturating_sub(self.used)
    }

    /// Spends an IDENTIFY; false if none was left.
    pub(crate) fn spend(&mut self) -> bool {
        let left = self.remaining() > 0;
        self.used = self.used.saturating_add(1);
        left
    }

    /// Takes the bucket's place; an error is the time since the last that took it.
    pub(crate) fn take_place(&mut self, shard: u32, now_us: u64, spacing_us: u64) -> Result<Option<u64>, u64> {
        let bucket = shard % self.max_concurrency.max(1);
        let since_us = self.buckets.get(&bucket).map(|last_us| now_us.saturating_sub(*last_us));
        if let Some(since_us) = since_us.filter(|since_us| *since_us < spacing_us) {
            return Err(since_us);
        }
        self.buckets.insert(bucket, now_us);
        Ok(since_us)
    }
}
