//! The line of a bot's calls before its token has shown that it works: one at a time, and nobody overtakes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Who is first and has no answer by then lets the next in. A platform says within a second whether it takes a token, so
/// this one says nothing, and the whole bot would be silent with it.
const LONGEST: Duration = Duration::from_secs(3);

/// First come, first served.
#[derive(Debug)]
pub(crate) struct Line {
    one: Arc<Semaphore>,
    /// Those that stand in it, the first included.
    length: AtomicUsize,
}

/// The first in the line. The next is first when this is dropped, or when it has been so for long.
#[derive(Debug)]
pub(crate) struct First {
    _over: oneshot::Sender<()>,
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
        let (over, is_over) = oneshot::channel();
        tokio::spawn(until_over(is_over, one, standing));
        Some(First { _over: over })
    }
}

async fn until_over(is_over: oneshot::Receiver<()>, one: OwnedSemaphorePermit, standing: InLine) {
    let _ = tokio::time::timeout(LONGEST, is_over).await;
    drop((one, standing));
}

impl Drop for InLine {
    fn drop(&mut self) {
        self.0.length.fetch_sub(1, Ordering::AcqRel);
    }
}
