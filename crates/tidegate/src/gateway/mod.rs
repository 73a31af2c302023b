//! The Gateway proxy: Discord's protocol of events, towards bots and towards Discord.

#![allow(dead_code, unused_imports, reason = "the parts are here before what serves by them")]

mod attachment;
mod close;
mod link;
mod ring;
mod said;
mod session;
mod socket;
pub(crate) mod upstream;
pub(crate) mod wire;
