//! A Discord: its REST API and its [Gateway](gateway).
//!
//! [`Model`] is the platform in virtual time; [`serve`] puts one behind a port: the REST API at `/api/…` and
//! `/api/vN/…`, the Gateway at any path that asks for a WebSocket.
//!
//! # Time
//!
//! Everything on the wire speaks *platform time*, as with [Telegram](crate::telegram#time): with a scale of 0.1 the 5 s
//! of a channel's messages are over after half a real second and still told as 5. `X-RateLimit-Reset` and the ids count
//! platform time from the real moment of the start. HELLO alone tells real time: libraries beat by their own clock.
//!
//! # What can be foreseen
//!
//! Every 429 is *foreseeable* or *hidden*. It is foreseeable if the caller broke a published number (50 a second, 10,000
//! invalid requests), sent into a bucket whose headers somebody had been told before, or came back before a time that a
//! 429 had told. It is hidden if nobody could know: the first of a limit that no header shows, the first of a bucket
//! never seen, a forced one. Told is what had arrived: an answer still on its way does not count.

mod acts;
mod address;
mod auth;
mod call;
mod control;
mod gate;
pub mod gateway;
mod hooks;
mod journal;
mod limits;
mod model;
mod objects;
mod refusal;
mod route;
mod rules;
mod script;
mod server;
mod snowflake;
mod stats;
mod window;

pub use call::{Answer, Call, Content, Verdict};
pub use journal::{LogEntry, Misuse, Tally};
pub use limits::{BanShape, Bounds, Limits, Rate};
pub use model::{Gateway, Model, Settings};
pub use refusal::Scope;
pub use script::{Forced, Script};
pub use server::{Handle, Options, serve, serve_on};
pub use stats::{AddressStats, ChannelStats, Sizes, Stats};

pub use crate::marks::{FlowStats, GapStats};
pub use crate::store::{Edit, MessageView};
pub use crate::tokens::Tokens;
