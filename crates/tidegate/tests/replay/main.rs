//! Timelines: what goes into `tidegate replay GATE`, line by line, and what must come out, to the millisecond.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails loudly")]
#![allow(clippy::needless_raw_string_hashes, reason = "as expect-test writes them")]

mod answers;
mod booking;
mod bot;
mod bounds;
mod cooldown;
mod edits;
mod fairness;
mod format;
mod forum;
mod forum_more;
mod found;
mod identify_queue;
mod live;
mod order;
mod send_queue;
mod shard;
mod streams;
mod telegram;
mod timeline;
