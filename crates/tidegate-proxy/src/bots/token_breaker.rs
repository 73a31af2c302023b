//! Whether a platform takes a token: never seen to, yes, or no longer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_core::{Span, Time};
use tokio::sync::watch;

/// So many refusals of a token in a row trip its breaker.
const TRIPS_AT: u32 = 2;

/// What is known of one token.
#[derive(Debug)]
pub(crate) struct Standing {
    state: Mutex<State>,
    /// Counts how often the breaker tripped, for those who wait.
    trips: watch::Sender<u64>,
    /// Whether the platform ever took it, for those who wait for that.
    works: watch::Sender<bool>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    proven: bool,
    refused_in_a_row: u32,
    /// Not tried before this.
    open_until: Option<Time>,
    /// One call looks whether it works again, since then.
    probing: Option<Time>,
}

/// Whether a call of a token may go upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Yes.
    Go,
    /// It never worked yet: one at a time.
    Alone,
    /// The platform refused it lately.
    Refused,
}

impl Standing {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), trips: watch::Sender::new(0), works: watch::Sender::new(false) }
    }

    /// Asks for one call. After a [`Leave::Go`] for a probe the next ones are refused until it is answered, or for `pause`.
    pub(crate) fn ask(&self, now: impl FnOnce() -> Time, pause: Span) -> Leave {
        let mut state = self.state();
        let Some(until) = state.open_until else {
            return if state.proven { Leave::Go } else { Leave::Alone };
        };
        let now = now();
        if now < until || state.probing.is_some_and(|since| now < since + pause) {
            return Leave::Refused;
        }
        state.probing = Some(now);
        Leave::Go
    }

    /// Whether calls are refused at the moment. Takes no probe.
    pub(crate) fn is_open(&self, now: impl FnOnce() -> Time) -> bool {
        self.state().open_until.is_some_and(|until| now() < until)
    }

    /// Whether the platform ever took it.
    pub(crate) fn is_proven(&self) -> bool {
        self.state().proven
    }

    /// The platform took it.
    pub(crate) fn worked(&self) {
        let mut state = self.state();
        // Nearly always nothing is new.
        let good = State { proven: true, ..State::default() };
        if *state == good {
            return;
        }
        *state = good;
        drop(state);
        self.works.send_if_modified(|works| !core::mem::replace(works, true));
    }

    /// The platform did not take it. Whether that tripped the breaker.
    pub(crate) fn refused(&self, now: Time, pause: Span) -> bool {
        let mut state = self.state();
        state.refused_in_a_row += 1;
        state.probing = None;
        if state.refused_in_a_row < TRIPS_AT {
            return false;
        }
        state.open_until = Some(now + pause);
        drop(state);
        self.trips.send_modify(|trips| *trips += 1);
        true
    }

    /// Waits until the platform has taken it.
    pub(crate) async fn proven(&self) {
        // The sender lives as long as this does, so there is no error to meet.
        if self.works.subscribe().wait_for(|works| *works).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Changes when the breaker trips.
    pub(crate) fn trips(&self) -> watch::Receiver<u64> {
        self.trips.subscribe()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
