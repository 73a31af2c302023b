//! What is known of Discord's REST API (routes, what counts as invalid, when an address is banned, which webhooks are
//! dead) and of its Gateway (close codes). Figures from <https://discord.com/developers/docs/topics/rate-limits>.

mod ban;
mod close;
mod dead;
mod described;
mod invalid;
mod learned;
mod route;

#[cfg(test)]
mod tests;

pub use self::ban::AddressBan;
pub use self::close::{AfterClose, Fatal, after_close};
pub use self::dead::DeadWebhooks;
pub use self::invalid::{INVALID_REFUSE, INVALID_WARN, InvalidGuard};
pub use self::learned::{Headers, Learned};
pub use self::route::{MessageAge, Route, RouteKind};
