//! The Gateway proxy: Discord's protocol of events, towards bots and towards Discord.
//!
//! ```text
//! bot ⇄ guest (socket, attachment) ⇄ fleet: session, ring, gates ⇄ upstream ⇄ Discord
//! ```
//!
//! A bot's connection and Discord's session have lives of their own: what Discord sends goes into the shard's ring, and a
//! bot reads from there.

mod attachment;
mod close;
mod depot;
mod door;
pub(crate) mod fleet;
mod guest;
mod link;
mod ring;
mod said;
pub(crate) mod session;
mod socket;
mod told;
pub(crate) mod upstream;
pub(crate) mod wire;

pub(crate) use self::depot::Fleets;
pub(crate) use self::door::{address, is_asked_for, serve};
pub(crate) use self::said::{Identity, identity};
pub(crate) use self::told::told;

/// The pure parts, for simulations: they run in virtual time as they do in the program.
pub(crate) mod parts {
    pub(crate) use super::attachment::{Act, Attachment};
    pub(crate) use super::ring::{Bounds, Ring, Total};
    pub(crate) use super::session::{Input, Order, Session, Times, Word};
}
