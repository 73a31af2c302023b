//! One connection.

use std::net::IpAddr;

use super::minute::Minute;
use crate::discord::window::Rolling;

/// A connection; none has the number of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u64);

/// How what is written is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compress {
    /// Text frames.
    #[default]
    None,
    /// One zlib stream, flushed behind each message.
    Zlib,
    /// One zstd frame, flushed behind each message.
    Zstd,
}

/// The request that opens a connection.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// Where it comes from.
    pub from: IpAddr,
    /// Its path.
    pub path: String,
    /// Its query, decoded.
    pub query: Vec<(String, String)>,
}

impl Handshake {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The version asked for, 0 if it is none.
    pub(crate) fn version(&self) -> u8 {
        self.get("v").map_or(6, |version| version.parse().unwrap_or(0))
    }

    pub(crate) fn compress(&self) -> Compress {
        match self.get("compress") {
            Some("zlib-stream") => Compress::Zlib,
            Some("zstd-stream") => Compress::Zstd,
            _ => Compress::None,
        }
    }
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nobody has said who it is, or an op 9 took that back.
    Fresh,
    /// It carries this session.
    Live(u64),
}

#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) version: u8,
    /// It came to the address that READY told for RESUME.
    pub(crate) by_resume_url: bool,
    pub(crate) opened_us: u64,
    pub(crate) stage: Stage,
    /// 0 until it is known.
    pub(crate) bot: u64,
    pub(crate) shard: Option<(u32, u32)>,
    /// The next heartbeat is due.
    pub(crate) beat_by_us: u64,
    pub(crate) last_beat_us: u64,
    pub(crate) worst_beat_gap_us: u64,
    pub(crate) minute: Minute,
    pub(crate) presence: Rolling,
    pub(crate) frames: u64,
    pub(crate) last_op: u8,
    /// The moment for which a timer stands.
    pub(crate) armed_us: u64,
}

impl Conn {
    pub(crate) fn session(&self) -> Option<u64> {
        if let Stage::Live(session) = self.stage { Some(session) } else { None }
    }

    /// When it is to be looked at.
    pub(crate) fn due_us(&self) -> u64 {
        self.beat_by_us
    }
}
