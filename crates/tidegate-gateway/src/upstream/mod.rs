//! The way to Discord's Gateway: one task per connection, that reads and writes and decides nothing.

mod address;
mod bounded;
mod connection;
mod dial;
mod event;
mod large;
mod read;

pub(crate) use self::address::Refused;
#[cfg(test)]
use self::connection::Full;
pub(crate) use self::connection::Handle;
pub(crate) use self::dial::{Bounds, Dialer};
pub(crate) use self::event::{Dispatch, Event, Events, Read};

#[cfg(test)]
pub(crate) mod tests;
