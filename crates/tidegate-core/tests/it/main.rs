//! The core as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails loudly")]

mod bot;
mod cases;
mod crowd;
mod edits;
mod fair;
mod golden;
mod hashes;
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
