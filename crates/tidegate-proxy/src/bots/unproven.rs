//! Tokens that never worked: what they may cost, all together. Platforms ban an address that sends too many bad ones.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::{Span, Time};
use tokio::sync::Notify;

const PERIOD: Span = Span::from_secs(60);

/// Failures of the last minute, and calls that may become one.
#[derive(Debug)]
pub(crate) struct Unproven {
    most: usize,
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    failures: VecDeque<Time>,
    out: usize,
}

/// Room for one call of an unproven token.
#[derive(Debug)]
pub(crate) struct Room(Arc<Unproven>);

impl Unproven {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), freed: Notify::new() })
    }

    /// Room for a call, once there is some; the error is how long until old failures are forgotten.
    pub(crate) async fn room(self: &Arc<Self>, now: impl Fn() -> Time) -> Result<Room, Span> {
        loop {
            let freed = self.freed.notified();
            if let Some(room) = self.try_room(now())? {
                return Ok(room);
            }
            freed.await;
        }
    }

    fn try_room(self: &Arc<Self>, now: Time) -> Result<Option<Room>, Span> {
        let mut state = self.state();
        while state.failures.front().is_some_and(|at| *at + PERIOD <= now) {
            state.failures.pop_front();
        }
        if state.failures.len() >= self.most {
            let oldest = state.failures.front().copied().unwrap_or(now);
            return Err((oldest + PERIOD).since(now));
        }
        if state.failures.len() + state.out >= self.most {
            return Ok(None);
        }
        state.out += 1;
        drop(state);
        Ok(Some(Room(Arc::clone(self))))
    }

    /// The platform did not take an unproven token.
    pub(crate) fn failed(&self, now: Time) {
        self.state().failures.push_back(now);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.state().out -= 1;
        self.0.freed.notify_waiters();
    }
}
