//! The core as its users see it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails loudly")]

mod golden;
mod properties;
mod purity;
mod reference;
mod shard;
mod world;
