//! How many calls of each client address are held.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

/// Held calls of one bot, by address.
#[derive(Debug)]
pub(crate) struct HeldByClient {
    most: usize,
    counts: Mutex<HashMap<IpAddr, usize, RandomState>>,
}

/// One held call's place. It is free again when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    held: Arc<HeldByClient>,
    address: IpAddr,
}

impl HeldByClient {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, counts: Mutex::default() })
    }

    /// A place for a call that may be held; `None` where the address has as many as it may.
    pub(crate) fn place(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut counts = self.counts();
        let count = counts.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Place { held: Arc::clone(self), address })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize, RandomState>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.held.counts();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}
