//! Runs tidegate's gates under tokio.
//!
//! A gate decides and never waits; a driver waits and never decides. It keeps the gate behind a mutex and sleeps until the
//! gate's next deadline. Callers may live on several runtimes.
//!
//! | | |
//! |---|---|
//! | [`Driver`] | a governor's: wakes the one task that waits for each ticket |
//! | [`GateDriver`] | any gate's whose outputs concern nobody in particular |
//! | [`Clock`] | platform time, also faster or slower than real time |
//! | `layer` (feature `tower`) | a `tower::Layer` that governs any HTTP client, with classifiers for Telegram and Discord |
//! | `twilight` (feature `twilight`) | the identify queue as twilight-gateway's `Queue` |
//!
//! # Example
//!
//! One send to a chat of Telegram's, by hand. The `layer` does the same for a whole client:
//!
//! ```
//! use std::sync::Arc;
//!
//! use tidegate_core::governor::{Answer, Governor, Input, Output, Write};
//! use tidegate_core::policy::{Call, Policy};
//! use tidegate_core::{MethodKey, Peer};
//! use tidegate_tokio::{Clock, Driver, Event};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = Arc::new(Policy::load("telegram", &[])?);
//! let row = policy.row_of(&Call { method: "sendMessage", has_chat: true, rich: false, paid: false });
//! // `()` is what callers of superseded edits are given.
//! let driver: Arc<Driver<Governor, ()>> = Driver::new(Governor::new(policy, false), Clock::new(1.0), |_note| {});
//! driver.spawn_timer();
//!
//! let method = MethodKey::of("sendMessage");
//! let mut call = driver.enter(|ticket| Input::Write(Write::new(ticket, row, method).peer(Peer::Id(5))));
//! match call.next().await {
//!     Event::Output(Output::Send { .. }) => {
//!         // Send it here, and say what became of it. Dropped instead, it counts as sent and lost.
//!         call.finish(|ticket| Input::Done { ticket, result: Answer::Ok }, || ());
//!     }
//!     Event::Output(Output::Refuse { retry_after, .. }) => println!("come back in {retry_after:?}"),
//!     other => println!("not sent: {other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Time
//!
//! Gates count platform time ([`tidegate_core::Time`], microseconds); [`Clock::real`] and [`Clock::platform`] convert. With
//! [`Clock::new`]`(1.0)` the two are the same.
//!
//! # Panics
//!
//! `spawn_timer` must be called on a tokio runtime with its timer enabled, which tokio itself insists on. Nothing else panics.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod clock;
mod driver;
mod gate_driver;
mod governor;
#[cfg(feature = "tower")]
pub mod layer;
mod store;
mod ticket;
#[cfg(feature = "twilight")]
pub mod twilight;

#[cfg(test)]
mod tests;

pub use self::clock::Clock;
pub use self::driver::Driver;
pub use self::gate_driver::GateDriver;
pub use self::store::{InMemory, Store, Verdict};
pub use self::ticket::{Call, Effect, Event, TicketGate};

/// The example of the README is a test too.
#[cfg(all(doctest, feature = "tower"))]
#[doc = include_str!("../README.md")]
struct Readme;
