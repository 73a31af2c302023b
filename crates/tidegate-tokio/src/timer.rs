//! One timer, for whatever has to be called at a moment that may move.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tidegate_core::Time;
use tokio::sync::Notify;

use crate::clock::Clock;

/// A sleeping timer looks again at least this often: a suspended machine's timers stand still while its clock does not.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Whoever wants to be called at once, again and again, gets no more than this often.
const LEAST_SLEEP: Duration = Duration::from_millis(1);

/// Something that a [`Timer`] calls.
pub trait Timed: Send + Sync + 'static {
    /// The clock that its moments are by.
    fn clock(&self) -> Clock;

    /// Does what is due. Where something becomes due before the moment that this returns, [`Timer::earlier`] is to be
    /// called.
    fn look(self: Arc<Self>) -> Looked;
}

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    /// When to look again; [`Time::NEVER`] where nothing is due.
    pub next: Time,
    /// Whether something was due.
    pub acted: bool,
}

/// Calls a [`Timed`] when it is due. It belongs to what it calls, and its task ends when it is dropped.
pub struct Timer {
    earlier: Arc<Notify>,
}

impl Timer {
    /// A timer that does not run yet.
    pub fn new() -> Self {
        Self { earlier: Arc::new(Notify::new()) }
    }

    /// Runs on the current runtime until `timed` is dropped.
    pub fn spawn<T: Timed>(&self, timed: &Arc<T>) {
        tokio::spawn(run(Arc::downgrade(timed), Arc::clone(&self.earlier)));
    }

    /// Something is due sooner than the last look said.
    pub fn earlier(&self) {
        self.earlier.notify_one();
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timer")
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.earlier.notify_one();
    }
}

async fn run<T: Timed>(timed: Weak<T>, earlier: Arc<Notify>) {
    while let Some(sleep) = timed.upgrade().map(sleep) {
        tokio::select! {
            () = earlier.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

/// Looks; how long to sleep then.
fn sleep<T: Timed>(timed: Arc<T>) -> Duration {
    let clock = timed.clock();
    let Looked { next, acted } = timed.look();
    let least = if acted { LEAST_SLEEP } else { Duration::ZERO };
    clock.until(next).clamp(least, LOOK_AGAIN)
}
