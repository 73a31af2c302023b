//! The orderly end: first no new work, then no held work.

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
pub(crate) struct Drain(watch::Sender<Phase>);

impl Default for Drain {
    fn default() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }
}

/// Waits for a phase of the end.
#[derive(Debug)]
pub(crate) struct Waiting(watch::Receiver<Phase>, Phase);

impl Drain {
    /// No new work from now on.
    pub(crate) fn begin(&self) {
        self.0.send_replace(Phase::Draining);
    }

    /// Held work is refused from now on.
    pub(crate) fn refuse_held(&self) {
        self.0.send_replace(Phase::Over);
    }

    pub(crate) fn has_begun(&self) -> bool {
        *self.0.borrow() > Phase::Running
    }

    /// For those that take new work.
    pub(crate) fn begun(&self) -> Waiting {
        Waiting(self.0.subscribe(), Phase::Draining)
    }

    /// For those that are held.
    pub(crate) fn over(&self) -> Waiting {
        Waiting(self.0.subscribe(), Phase::Over)
    }
}

impl Waiting {
    /// Ready once the phase has come. Cancel-safe.
    pub(crate) async fn wait(&mut self) {
        let phase = self.1;
        if self.0.wait_for(|now| *now >= phase).await.is_err() {
            // The sender lives as long as the program does.
            std::future::pending::<()>().await;
        }
    }
}
