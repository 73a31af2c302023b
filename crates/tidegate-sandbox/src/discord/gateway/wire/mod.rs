//! The model's connections as `WebSocket`s.

mod deflate;
mod handshake;
mod links;
mod socket;

pub(crate) use handshake::{open, wants_websocket};
pub(crate) use links::{Links, pump};
