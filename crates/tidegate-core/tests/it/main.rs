//! The core as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails loudly")]

mod bot;
mod cases;
mod edits;
mod golden;
mod hold_until;
mod identify_queue;
mod last_moment;
mod properties;
mod purity;
mod reference;
mod send_queue;
mod shard;
mod told;
mod world;
