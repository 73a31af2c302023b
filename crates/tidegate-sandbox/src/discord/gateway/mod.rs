//! Discord's Gateway: the judge of what bots write to it.
//!
//! [`Model`] is the Gateway in virtual time: connections, sessions, budgets; no sockets. [`discord::serve`] puts one
//! behind the port of the REST half, at any path that asks for a WebSocket.
//!
//! What it does by itself is by the book; a line that was stepped over has the published consequence.
//!
//! [`discord::serve`]: crate::discord::serve

mod bot;
mod conn;
mod control;
mod dispatch;
mod figures;
mod frame;
mod identify;
mod limits;
mod load;
mod minute;
mod model;
pub(crate) mod objects;
mod output;
mod random;
mod receive;
mod session;
mod stats;
mod timers;
mod weather;
mod weather_json;
pub(crate) mod wire;

pub use conn::{Compress, ConnId, Handshake};
pub use dispatch::{Event, To};
pub use figures::{Figures, GatewayEntry};
pub use limits::{Bounds, Limits, Settings};
pub use load::Load;
pub use model::{Accepted, Model, Refused};
pub use output::{Frame, Kind, Output};
pub use random::Random;
pub use stats::{BotStats, ConnStats, GatewaySizes, GatewayStats};
pub use weather::{Act, Moment, Weather};

#[cfg(test)]
mod rest_tests;
#[cfg(test)]
mod rules_tests;
