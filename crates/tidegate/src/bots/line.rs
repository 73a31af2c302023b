//! The line of a bot's calls before its token has shown that it works: one at a time, and nobody overtakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// First come, first served.
#[derive(Debug)]
pub(crate) struct Line {
    one: Arc<Semaphore>,
    /// Those that stand in it, the first included.
    length: AtomicUsize,
}

/// The first in the line. The next is first when this is dropped.
#[derive(Debug)]
pub(crate) struct First {
    _one: OwnedSemaphorePermit,
    _standing: InLine,
}

#[derive(Debug)]
struct InLine(Arc<Line>);

impl Line {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { one: Arc::new(Semaphore::new(1)), length: AtomicUsize::new(0) })
    }

    /// Whether nobody stands in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.length.load(Ordering::Acquire) == 0
    }

    /// Waits until it is first.
    pub(crate) async fn first(self: &Arc<Self>) -> Option<First> {
        self.length.fetch_add(1, Ordering::AcqRel);
        let standing = InLine(Arc::clone(self));
        let one = Arc::clone(&self.one).acquire_owned().await.ok()?;
        Some(First { _one: one, _standing: standing })
    }
}

impl Drop for InLine {
    fn drop(&mut self) {
        self.0.length.fetch_sub(1, Ordering::AcqRel);
    }
}
