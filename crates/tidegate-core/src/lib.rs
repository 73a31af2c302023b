//! Pure rate gates for chat platforms.
//!
//! A gate is told what happened and when, and answers what to do; it has no clock, does no I/O and draws no random
//! numbers. What is needed to wait, read and write lives in `tidegate-tokio`.

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
pub mod policy;
pub mod send_queue;
pub mod shard;
mod table;
mod time;
mod window;

pub use self::gate::Gate;
pub use self::key::{MessageKey, MethodKey, Peer, PeerKind, field};
pub use self::time::{Span, Time};
