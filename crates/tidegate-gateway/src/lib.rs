//! The Gateway proxy: Discord's protocol of events, towards bots and towards Discord.
//!
//! ```text
//! bot ⇄ bot connection (socket, attachment) ⇄ bot gateway: session, ring, gates ⇄ upstream ⇄ Discord
//! ```
//!
//! A bot's connection and Discord's session have lives of their own: what Discord sends goes into the shard's ring, and a
//! bot reads from there.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod attachment;
mod bot_connection;
mod bot_gateway;
mod client;
mod close;
mod context;
mod discover;
mod effect;
mod frame;
mod gateway;
mod mailbox;
mod ring;
mod session;
mod settings;
mod upgrade;
mod upstream;
mod websocket;
mod wire;

pub use self::bot_gateway::{BotStatus, Given, Place, ShardStatus};
pub use self::client::{Client, Stream};
pub use self::discover::Discover;
pub use self::frame::{Identity, identity};
pub use self::gateway::Fleets;
pub use self::settings::{Compress, Ring, Settings, Takeover};
pub use self::upgrade::{Upgrade, is_asked_for};

/// The pure parts, for simulations: they run in virtual time as they do in the program.
pub mod parts {
    pub use super::attachment::{Act, Attachment};
    pub use super::close::Close;
    pub use super::frame::{Command, Identify, Resume};
    pub use super::ring::{Bounds, Overtaken, Position, Replay, Ring, Total};
    pub use super::session::{Input, Order, Session, Tape, Times, Word};
}
