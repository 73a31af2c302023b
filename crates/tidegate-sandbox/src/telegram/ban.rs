//! A ban: how long a chat is closed to a bot, and how it grows.

use std::time::Duration;

use crate::time::micros;

const SECOND_US: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ban {
    began_us: u64,
    pub(crate) until_us: u64,
    pub(crate) length_us: u64,
    /// Calls made into it.
    pub(crate) hits: u64,
}

impl Ban {
    /// Bans are told in whole seconds, at least one, and last what was told.
    pub(crate) fn begin(now_us: u64, wait_us: u64) -> Self {
        let length_us = wait_us.div_ceil(SECOND_US).max(1).saturating_mul(SECOND_US);
        Self { began_us: now_us, until_us: now_us.saturating_add(length_us), length_us, hits: 0 }
    }

    pub(crate) fn holds(&self, now_us: u64) -> bool {
        now_us < self.until_us
    }

    /// A call came into the ban; tells whether it grew. One that was on its way when the ban began does not count.
    pub(crate) fn hit(&mut self, now_us: u64, grace: Duration, cap: Duration) -> bool {
        self.hits += 1;
        if now_us.saturating_sub(self.began_us) < micros(grace) {
            return false;
        }
        let doubled_us = self.length_us.saturating_mul(2).min(micros(cap));
        self.length_us = self.length_us.max(doubled_us);
        self.until_us = self.until_us.max(now_us.saturating_add(self.length_us));
        true
    }

    pub(crate) fn left_s(&self, now_us: u64) -> u64 {
        self.until_us.saturating_sub(now_us).div_ceil(SECOND_US).max(1)
    }
}
