//! Drives the fake platforms over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod control;
mod discord;
mod gateway;
mod limits;
mod requests;
mod updates;
