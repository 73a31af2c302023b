//! The shard in virtual time, beside a fake Discord and a plain identify queue that share no code with it.
#![allow(clippy::needless_raw_string_hashes, reason = "as expect-test writes them")]

mod budgets;
mod cases;
mod explore;
mod judge;
mod queue;
pub(crate) mod storms;
mod table;
mod timeline;
mod watch;
pub(crate) mod world;
