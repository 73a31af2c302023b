//! The orderly end: first no new work, then no held work.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    Draining,
    /// What is still held is refused.
    Over,
}

/// How far the end has come.
#[derive(Debug)]
pub struct Drain {
    phase: watch::Sender<Phase>,
    /// The same for those that only look.
    begun: AtomicBool,
}

impl Default for Drain {
    fn default() -> Self {
        Self { phase: watch::Sender::new(Phase::Running), begun: AtomicBool::new(false) }
    }
}

/// Waits for a phase of the end.
#[derive(Debug)]
pub struct Waiting(watch::Receiver<Phase>, Phase);

impl Drain {
    /// No new work from now on.
    pub fn begin(&self) {
        self.begun.store(true, Ordering::Release);
        self.phase.send_replace(Phase::Draining);
    }

    /// Held work is refused from now on.
    pub fn refuse_held(&self) {
        self.begun.store(true, Ordering::Release);
        self.phase.send_replace(Phase::Over);
    }

    /// Whether no new work is taken any more.
    pub fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// For those that take new work.
    pub fn begun(&self) -> Waiting {
        Waiting(self.phase.subscribe(), Phase::Draining)
    }

    /// For those that are held.
    pub(crate) fn over(&self) -> Waiting {
        Waiting(self.phase.subscribe(), Phase::Over)
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
