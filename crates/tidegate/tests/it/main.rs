//! The built program on real ports, between a client and a platform made for the test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod admin;
mod answers;
mod bounds;
mod client;
mod config;
mod discord;
mod drain;
mod early;
mod edits;
mod failures;
mod fake;
mod gateway;
mod held;
mod hostile;
mod house;
mod paid;
mod passing;
mod patience;
mod secrets;
mod sent_twice;
mod simulate;
mod tokens;
