//! What the model has written.

use std::sync::Arc;

use bytes::Bytes;

use super::conn::ConnId;

/// What is to be done on a connection, in this order.
#[derive(Clone, Debug)]
pub enum Output {
    /// Write a message.
    Write {
        /// Where.
        conn: ConnId,
        /// What.
        frame: Frame,
    },
    /// Write a close frame. Nothing else comes of this connection.
    Close {
        /// Where.
        conn: ConnId,
        /// 1005 is a close frame without a code.
        code: u16,
        /// The text beside it.
        reason: &'static str,
        /// The close frame is written a second time.
        twice: bool,
    },
    /// End the connection without a close frame. Nothing else comes of it.
    Cut {
        /// Where.
        conn: ConnId,
    },
    /// Read and write no more, and leave the connection open. Nothing else comes of it.
    Freeze {
        /// Where.
        conn: ConnId,
    },
}

/// A message.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What it is.
    pub kind: Kind,
    /// It as JSON.
    pub text: Bytes,
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Op 0.
    Dispatch {
        /// `s`.
        seq: u64,
        /// `t`.
        event: Arc<str>,
    },
    /// Op 1: a heartbeat is wanted at once.
    Beat,
    /// Op 7.
    Reconnect,
    /// Op 9.
    Invalid {
        /// `d`.
        resumable: bool,
    },
    /// Op 10.
    Hello {
        /// Real time behind a port with a scale.
        interval_ms: u64,
    },
    /// Op 11.
    Ack,
}

impl Frame {
    pub(crate) fn plain(kind: Kind) -> Self {
        let text: Bytes = match &kind {
            Kind::Dispatch { .. } => Bytes::new(),
            Kind::Beat => Bytes::from_static(br#"{"t":null,"s":null,"op":1,"d":null}"#),
            Kind::Reconnect => Bytes::from_static(br#"{"t":null,"s":null,"op":7,"d":null}"#),
            Kind::Invalid { resumable: true } => Bytes::from_static(br#"{"t":null,"s":null,"op":9,"d":true}"#),
            Kind::Invalid { resumable: false } => Bytes::from_static(br#"{"t":null,"s":null,"op":9,"d":false}"#),
            Kind::Ack => Bytes::from_static(br#"{"t":null,"s":null,"op":11,"d":null}"#),
            Kind::Hello { interval_ms } => Bytes::from(format!(
                r#"{{"t":null,"s":null,"op":10,"d":{{"heartbeat_interval":{interval_ms},"_trace":["sandbox"]}}}}"#
            )),
        };
        Self { kind, text }
    }
}

impl Output {
    /// Where it is to be done.
    pub fn conn(&self) -> ConnId {
        match self {
            Self::Write { conn, .. } | Self::Close { conn, .. } | Self::Cut { conn } | Self::Freeze { conn } => *conn,
        }
    }
}
