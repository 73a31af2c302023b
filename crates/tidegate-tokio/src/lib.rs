//! Runs tidegate's gates under tokio.
//!
//! A gate decides and never waits; a [`Driver`] waits and never decides. It keeps the gate behind a mutex, wakes the one
//! task that waits for each ticket, and sleeps until the gate's next deadline. Callers may live on several runtimes.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod clock;
mod driver;
mod governor;
mod store;
mod timer;

#[cfg(test)]
mod tests;

pub use self::clock::Clock;
pub use self::driver::{Call, Driver, Effect, Event, TicketGate};
pub use self::store::{InMemory, Store, Verdict};
pub use self::timer::{Looked, Timed, Timer};
