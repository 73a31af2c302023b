//! How much may be held in memory, over all calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of units that are handed out and come back.
#[derive(Debug)]
pub struct Budget {
    total: usize,
    used: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, used: AtomicUsize::new(0) })
    }

    /// Units that are handed out.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Nothing yet, to be grown.
    pub(crate) fn reserve(self: &Arc<Self>) -> Reserved {
        Reserved { budget: Arc::clone(self), units: 0 }
    }

    /// So many at once.
    pub fn take(self: &Arc<Self>, units: usize) -> Option<Reserved> {
        let mut reserved = self.reserve();
        reserved.grow(units).then_some(reserved)
    }
}

/// Units taken from a budget; they go back when it is dropped.
#[derive(Debug)]
pub struct Reserved {
    budget: Arc<Budget>,
    units: usize,
}

impl Reserved {
    /// Takes more; `false` where the budget has not so many left.
    pub(crate) fn grow(&mut self, units: usize) -> bool {
        let total = self.budget.total;
        let fits = |used: usize| used.checked_add(units).filter(|sum| *sum <= total);
        let taken = self.budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if taken {
            self.units += units;
        }
        taken
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.units, Ordering::Relaxed);
    }
}
