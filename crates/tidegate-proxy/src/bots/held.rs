//! How many calls of each client address are held.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use super::Bot;

/// Held calls of one bot, by address.
#[derive(Debug)]
pub(crate) struct HeldByClient {
    most: usize,
    counts: Mutex<HashMap<IpAddr, usize, RandomState>>,
}

/// One held call's place. It is free again when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    bot: Arc<Bot>,
    address: IpAddr,
}

impl HeldByClient {
    pub(super) fn new(most: usize) -> Self {
        Self { most, counts: Mutex::default() }
    }

    /// Whether one more call of that address may be held.
    pub(crate) fn has_room(&self, address: IpAddr) -> bool {
        let counts = self.counts();
        // Mostly none is held at all.
        if counts.is_empty() {
            return self.most > 0;
        }
        counts.get(&address).is_none_or(|count| *count < self.most)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize, RandomState>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// A held call's place. Each thread looks for room first, so there are more than there may be by one for each other
    /// thread at most.
    pub(crate) fn new(bot: &Arc<Bot>, address: IpAddr) -> Self {
        *bot.held.counts().entry(address).or_default() += 1;
        Self { bot: Arc::clone(bot), address }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.bot.held.counts();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}
