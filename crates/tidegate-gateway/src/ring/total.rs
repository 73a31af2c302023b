//! What all rings hold together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::Ring;

/// The bytes of all rings, and their bound.
#[derive(Debug)]
pub struct Total {
    most: usize,
    used: AtomicUsize,
    rings: Mutex<Vec<Weak<Ring>>>,
}

impl Total {
    /// At most so many bytes, over all rings.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: AtomicUsize::new(0), rings: Mutex::default() })
    }

    /// Bytes that all rings hold.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(super) fn enrol(&self, ring: &Arc<Ring>) {
        let mut rings = self.rings();
        rings.retain(|ring| ring.strong_count() > 0);
        rings.push(Arc::downgrade(ring));
    }

    /// A ring grew or shrank; whether all together are too large now.
    pub(super) fn changed(&self, before: usize, after: usize) -> bool {
        if after >= before {
            self.used.fetch_add(after - before, Ordering::Relaxed) + (after - before) > self.most
        } else {
            self.give_back(before - after);
            false
        }
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Shrinks the largest that no bot reads; where all are read, the largest.
    pub(super) fn trim(&self) {
        let rings: Vec<Arc<Ring>> = self.rings().iter().filter_map(Weak::upgrade).collect();
        let mut standing: Vec<((bool, usize), &Arc<Ring>)> = rings.iter().map(|ring| (ring.standing(), ring)).collect();
        standing.sort_unstable_by_key(|(standing, _)| std::cmp::Reverse(*standing));
        for (_, ring) in standing {
            let over = self.used().saturating_sub(self.most);
            if over == 0 {
                return;
            }
            ring.shrink(over);
        }
    }

    fn rings(&self) -> MutexGuard<'_, Vec<Weak<Ring>>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
