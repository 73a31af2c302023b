//! What the proxy and the Gateway both need of a network, and neither may take from the other: bot tokens, which are never
//! printed, text from outside as it may stand in a log, and the TLS settings of a client.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod foreign;
pub mod tls;
mod token;

pub use self::foreign::Foreign;
pub use self::token::{Token, base64, keyed};
