//! Pure rate gates for chat platforms.
//!
//! A gate is told what happened and when, and answers what to do; it has no clock, does no I/O and draws no random
//! numbers. What is needed to wait, read and write lives in `tidegate-tokio`.
//!
//! | gate | decides |
//! |---|---|
//! | [`Governor`](governor::Governor) | when each HTTP call of a bot goes to Telegram or Discord, by a [`Policy`](policy::Policy) |
//! | [`SendQueue`](send_queue::SendQueue) | when each frame goes to Discord's Gateway |
//! | [`IdentifyQueue`](identify_queue::IdentifyQueue) | which shard may IDENTIFY, and how many a day |
//! | [`Shard`](shard::Shard) | when to dial, RESUME, IDENTIFY, wait or stop |
//! | [`bot::Gateway`], [`bot::Bot`] | all of these of one bot, wired together |
//!
//! All have one shape, [`Gate`]. Their documentation begins with a runnable example each.
//!
//! # Units
//!
//! [`Time`] and [`Span`] are whole microseconds: a moment since a start of the caller's choosing, and a length. Arithmetic
//! stops at their ends and never wraps. Sizes are bytes. Each `Settings` says what a field is for, and where a platform's own
//! number comes from; the tables in `policies/` have a source beside each number.
//!
//! # Errors
//!
//! A gate has none: whatever it is told it takes in. What comes off the wire is held to what can be, a ticket that it does
//! not know changes nothing. Only [`Policy::load`](policy::Policy::load) can fail, as it reads what people write.
//!
//! # What may change
//!
//! Structures that grow with the tables ([`Policy`](policy::Policy) and its parts) and errors are `#[non_exhaustive]`.
//! `Settings` are plain: build them with `..Settings::default()`, for they gain fields. Inputs, outputs and reasons are
//! matched without `_` on purpose, so a new variant is a new major version.
//!
//! `#![no_std]` with `alloc`. The dependencies are `foldhash`, `hashbrown`, `serde` and `toml`; a test holds the list.

#![no_std]

extern crate alloc;

mod arena;
mod backoff;
pub mod bot;
mod bucket;
mod class;
mod cooldown;
mod counted;
pub mod discord;
mod gate;
pub mod governor;
pub mod identify_queue;
mod key;
mod latency;
pub mod policy;
pub mod send_queue;
pub mod shard;
mod table;
mod time;
mod window;

pub use self::gate::Gate;
pub use self::key::{MessageKey, MethodKey, Peer, PeerKind, UNKNOWN_FIELDS, field};
pub use self::latency::Latency;
pub use self::time::{Span, Time};

/// The example of the README is a test too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
