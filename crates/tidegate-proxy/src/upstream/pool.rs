//! Connections at rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidegate_core::policy::Platform;

use super::wire::Wire;

/// How often [`Pool::reap`] is called.
pub(super) const TURN: Duration = Duration::from_secs(5);
/// Through so many turns a connection is kept, 25 to 30 s: shorter than servers keep theirs, so that a call seldom meets
/// one that is being closed.
const TURNS: u64 = 6;

/// One thread's connections at rest, of each platform. There are never more than there were calls at once.
#[derive(Clone, Default)]
pub(super) struct Pool(Arc<Mutex<Rested>>);

#[derive(Default)]
struct Rested {
    idle: [Vec<Idle>; 2],
    turn: u64,
}

/// One of them. Those that were used last are at the end.
struct Idle {
    wire: Box<Wire>,
    since_turn: u64,
}

impl Pool {
    /// The one that was used last: the most likely to be open still.
    pub(super) fn take(&self, platform: Platform) -> Option<Box<Wire>> {
        self.lock().idle[place(platform)].pop().map(|last| last.wire)
    }

    pub(super) fn put(&self, platform: Platform, wire: Box<Wire>) {
        let mut rested = self.lock();
        let since_turn = rested.turn;
        rested.idle[place(platform)].push(Idle { wire, since_turn });
    }

    /// Closes those that have been at rest for too long.
    pub(super) fn reap(&self) {
        let mut rested = self.lock();
        rested.turn += 1;
        let turn = rested.turn;
        for idle in &mut rested.idle {
            let old = idle.partition_point(|idle| idle.since_turn + TURNS <= turn);
            idle.drain(..old);
            idle.shrink_to(2 * idle.len());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rested> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(platform: Platform) -> usize {
    match platform {
        Platform::Telegram => 0,
        Platform::Discord => 1,
    }
}
