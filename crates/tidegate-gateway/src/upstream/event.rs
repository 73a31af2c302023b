//! What a connection tells.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;

use super::address::Refused;
use crate::effect::Answer;
use crate::wire::Malformed;
use crate::wire::codec::Broken;
use crate::wire::ready::{RateLimited, Ready};

/// Who is told what happens on one connection. It is called in the connection's task, between two reads, and must not wait.
pub(crate) trait Events: Send + 'static {
    /// Something happened. After [`Event::Closed`] or [`Event::Failed`] nothing more does.
    fn event(&mut self, event: Event<'_>);

    /// Nothing more is to be had at the moment: what was gathered may be handed on.
    fn pause(&mut self) {}
}

/// What happened.
#[derive(Debug, PartialEq)]
pub(crate) enum Event<'a> {
    /// The WebSocket is open.
    Opened,
    /// Op 10.
    Hello {
        /// How often Discord wants a heartbeat, as it says; at least 1 ms.
        interval: Duration,
    },
    /// Op 0.
    Dispatch(Dispatch<'a>),
    /// Op 11.
    Ack,
    /// Op 1.
    BeatAsked,
    /// Op 7.
    Reconnect,
    /// Op 9.
    InvalidSession {
        /// Whether a RESUME may work.
        resumable: bool,
    },
    /// An opcode that is not known here; a sign of life.
    Unknown {
        /// Which.
        op: u64,
    },
    /// A frame left the queue for the socket.
    Sent {
        /// Its opcode.
        op: u8,
    },
    /// The connection is closed, by whichever side.
    Closed {
        /// The peer's code, where it sent one.
        code: Option<u16>,
        /// The peer's reason, at most 123 bytes.
        reason: &'a str,
    },
    /// The connection could not be made, or broke.
    Failed(&'a Failure),
}

/// One dispatch.
#[derive(Debug, PartialEq)]
pub(crate) struct Dispatch<'a> {
    /// Its number.
    pub(crate) seq: u64,
    /// Its name.
    pub(crate) name: &'a str,
    /// All of it, as it came.
    pub(crate) payload: Bytes,
    /// Where its data stands in the payload.
    pub(crate) data: Range<usize>,
    /// What was read of its data.
    pub(crate) read: Read,
}

/// What is read of a dispatch's data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Read {
    /// READY's session.
    Ready(Ready),
    /// It is RESUMED, which says nothing.
    Resumed,
    /// A request was dropped.
    RateLimited(RateLimited),
    /// It may answer a command. Whether one awaits it is not known here.
    Answer(Answer),
    /// Nothing.
    #[default]
    Nothing,
}

/// Why a connection was not made, or broke.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// It must not be dialled.
    #[error("not dialled: {0}")]
    Address(#[from] Refused),
    /// No connection to the host, or no TLS.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// It took too long.
    #[error("no WebSocket within {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// Another answer than 101.
    #[error("refused with HTTP status {0}")]
    Status(u16),
    /// An answer that opens no WebSocket.
    #[error("no WebSocket: {0}")]
    Handshake(String),
    /// The open WebSocket broke.
    #[error("the connection broke: {0}")]
    Socket(String),
    /// A message that cannot be inflated.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// A message that is no payload.
    #[error("a payload that cannot be read: {0}")]
    Malformed(#[from] Malformed),
    /// Too many pings that could not be answered.
    #[error("too many pings")]
    Pings,
}

impl From<tokio_websockets::Error> for Failure {
    fn from(error: tokio_websockets::Error) -> Self {
        Self::Socket(error.to_string())
    }
}
