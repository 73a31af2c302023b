//! One bot's timer.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::Fleet;

/// A sleeping timer looks again at least this often: a suspended machine's timers stand still while its clock does not.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Whoever wants to be called at once, again and again, gets no more than this often.
const LEAST_SLEEP: Duration = Duration::from_millis(1);

/// Runs on the current runtime until the fleet is dropped.
pub(super) fn spawn(fleet: &Arc<Fleet>) {
    tokio::spawn(run(Arc::downgrade(fleet), Arc::clone(&fleet.earlier)));
}

async fn run(fleet: Weak<Fleet>, earlier: Arc<Notify>) {
    while let Some(sleep) = fleet.upgrade().map(|fleet| fleet.look()) {
        tokio::select! {
            () = earlier.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
    }
}

impl Fleet {
    /// Does what is due; how long to sleep then.
    fn look(self: &Arc<Self>) -> Duration {
        let clock = self.depot.clock;
        let mut least = Duration::ZERO;
        if self.lock().due() <= clock.now() {
            self.turn(|turn| {
                turn.tick();
            });
            least = LEAST_SLEEP;
        }
        let mut state = self.lock();
        state.armed = state.due();
        clock.until(state.armed).clamp(least, LOOK_AGAIN)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.earlier.notify_one();
    }
}
