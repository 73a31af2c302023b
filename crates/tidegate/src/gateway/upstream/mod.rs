//! The way to Discord's Gateway: one task per connection, that reads and writes and decides nothing.

mod address;
mod bounded;
mod connection;
mod dial;
mod event;
mod read;

pub(crate) use self::address::{Address, Refused};
pub(crate) use self::connection::{Full, Handle};
pub(crate) use self::dial::{Bounds, Dialer};
pub(crate) use self::event::{Dispatch, Event, Events, Failure, Read};

#[cfg(test)]
mod tests;
