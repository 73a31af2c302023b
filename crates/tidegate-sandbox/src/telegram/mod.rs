//! A Telegram Bot API.
//!
//! [`Model`] is the platform in virtual time; [`serve`] puts one behind a port.
//!
//! # Time
//!
//! Everything on the wire speaks *platform time*. With a scale of 0.1 a second of the platform is a tenth of a real
//! one: the window of a group is 6 real seconds long, a `retry_after` of 3 is told as 3 and is over after 0.3 real
//! seconds, a long poll with `timeout=20` ends after 2, and `at_ms` in the log counts platform milliseconds. So a
//! client whose own periods are shrunk by the same factor sees the same numbers as without.

mod acts;
mod ban;
mod call;
mod chat;
mod check;
mod control;
mod file;
mod journal;
mod limits;
mod message;
mod meter;
mod methods;
mod model;
mod polls;
mod route;
mod script;
mod server;
mod stats;
mod tokens;

pub use call::{Answer, Args, Call, PollTicket, Verdict};
pub use chat::channel_id;
pub use journal::{LogEntry, Tally};
pub use limits::{Bounds, Limits, Rate};
pub use model::{Model, Settings};
pub use script::{Forced, Script};
pub use server::{Handle, Options, serve, serve_on};
pub use stats::{BanStats, ChatStats, Sizes, Stats};

pub use crate::marks::{FlowStats, GapStats};
pub use crate::store::{Edit, MessageView};
pub use crate::tokens::Tokens;
