//! The HTTP proxy between bots and chat platforms: it finds bot, method, chat and message in a request, asks the bot's
//! governor, forwards the bytes or answers in the platform's shape, and tells the governor what came of it.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod body;
mod bots;
mod budget;
mod client_connection;
mod client_gone;
mod context;
mod discord;
mod drain;
mod error_response;
mod gateway_side;
mod headers;
mod pipeline;
mod proxy;
mod reply;
mod request_body;
mod settings;
mod target;
mod telegram;
mod upstream;

#[cfg(test)]
mod tests;

pub use self::body::Body;
pub use self::bots::{Bot, Refused};
pub use self::budget::{Budget, Reserved};
pub use self::client_connection::{Connection, REST, Socket};
pub use self::client_gone::gone;
pub use self::context::Context;
pub use self::discord::{Figures, answer as discord_answer};
pub use self::drain::{Drain, Waiting};
pub use self::error_response::{json, shaped};
pub use self::gateway_side::{Answering, GatewayBot, GatewaySide};
pub use self::pipeline::outcome::outcome;
pub use self::proxy::{PlatformStatus, Proxy, is_proxied};
pub use self::reply::Reply;
pub use self::request_body::{RequestBody, closes, unwanted};
pub use self::settings::{Bounds, Discord, Settings, Telegram};
pub use self::upstream::{Fault, Upstream};
