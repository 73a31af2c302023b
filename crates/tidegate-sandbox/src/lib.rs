//! Fake chat platforms that keep the published limits and punish whoever breaks them.
//!
//! Each platform is a pure model (the caller passes the time, so it runs in virtual time) and a server that puts that
//! model behind a real port. The limits are counted here by code of this crate alone: a judge must not share code with
//! the accused, so nothing of `tidegate-core` or `tidegate-tokio` is used.
//!
//! # Invariants
//!
//! - No clock and no I/O in a model.
//! - Whatever a model remembers is bounded; past a bound the oldest goes.
//! - A bot's token is never logged, shown by `Debug`, or part of an answer. Bots are named by their numeric id.
// `expect!` writes its strings with hashes.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_raw_string_hashes))]

mod control;
pub mod discord;
mod http;
mod journal;
mod lru;
mod marks;
mod scripts;
mod server;
mod store;
pub mod telegram;
mod time;
mod tokens;

pub use server::Handle;
