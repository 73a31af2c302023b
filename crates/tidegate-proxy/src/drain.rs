//! The orderly end: first no new calls, then no held ones, then an answer to those that are still with a platform.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    /// Calls that come are refused; those that are here may still go.
    Draining,
    /// Nothing is sent any more, for its answer would come too late: what is held is refused.
    Late,
    /// What is still with a platform is answered without it.
    Over,
}

/// How far the end has come.
#[derive(Debug)]
pub struct Drain {
    phase: watch::Sender<Phase>,
    /// The same for those that only look.
    reached: AtomicU8,
}

impl Default for Drain {
    fn default() -> Self {
        Self { phase: watch::Sender::new(Phase::Running), reached: AtomicU8::new(Phase::Running as u8) }
    }
}

/// Waits for a phase of the end.
#[derive(Debug)]
pub struct Waiting(watch::Receiver<Phase>, Phase);

impl Drain {
    /// No new calls from now on.
    pub fn begin(&self) {
        self.reach(Phase::Draining);
    }

    /// Nothing is sent from now on.
    pub fn refuse_held(&self) {
        self.reach(Phase::Late);
    }

    /// Every call is answered now.
    pub fn end(&self) {
        self.reach(Phase::Over);
    }

    fn reach(&self, phase: Phase) {
        self.reached.store(phase as u8, Ordering::Release);
        self.phase.send_replace(phase);
    }

    /// Whether no new work is taken any more.
    pub fn has_begun(&self) -> bool {
        self.has_reached(Phase::Draining)
    }

    /// Whether the answer to what is sent now would come too late.
    pub fn is_late(&self) -> bool {
        self.has_reached(Phase::Late)
    }

    /// Whether every call is answered now.
    pub fn is_over(&self) -> bool {
        self.has_reached(Phase::Over)
    }

    fn has_reached(&self, phase: Phase) -> bool {
        self.reached.load(Ordering::Acquire) >= phase as u8
    }

    /// For those that take new calls.
    pub fn begun(&self) -> Waiting {
        Waiting(self.phase.subscribe(), Phase::Draining)
    }

    /// For those that are held.
    pub(crate) fn late(&self) -> Waiting {
        Waiting(self.phase.subscribe(), Phase::Late)
    }

    /// For those that answer.
    pub(crate) fn over(&self) -> Waiting {
        Waiting(self.phase.subscribe(), Phase::Over)
    }

    /// What a call waits for; `None` once the drain is over. It registers nowhere, so that it costs next to nothing: a
    /// connection polls its call again when the drain is over.
    pub(crate) async fn unless_over<F: Future>(&self, mut waiting: Pin<&mut F>) -> Option<F::Output> {
        poll_fn(|cx| match waiting.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.is_over() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}

impl Waiting {
    /// Ready once the phase has come. Cancel-safe.
    pub async fn wait(&mut self) {
        let phase = self.1;
        if self.0.wait_for(|now| *now >= phase).await.is_err() {
            // The sender lives as long as the program does.
            std::future::pending::<()>().await;
        }
    }
}
