//! One connection.

use std::net::IpAddr;

use super::minute::Minute;
use super::weather::Act;
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

/// What is still to come on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Todo {
    Hello,
    Ready {
        shard: (u32, u32),
        intents: u64,
        dead_resume_url: bool,
    },
    Resume {
        session: u64,
        seq: u64,
    },
    Act(Act),
    /// Of the random weather that was set so many turns in.
    Fate {
        act: Act,
        turn: u64,
    },
}

impl Todo {
    /// An IDENTIFY or RESUME waits for it.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Self::Ready { .. } | Self::Resume { .. })
    }
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nobody has said who it is, or an op 9 took that back.
    Fresh,
    /// IDENTIFY or RESUME was taken, and its answer is late.
    Asking,
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
    /// `s` of the first and the last dispatch written.
    pub(crate) seqs: Option<(u64, u64)>,
    /// Nothing is written any more.
    pub(crate) silent: bool,
    /// Heartbeats are not acknowledged.
    pub(crate) deaf: bool,
    /// Earliest first.
    todo: Vec<(u64, Todo)>,
    /// The moment for which a timer stands.
    pub(crate) armed_us: u64,
}

/// Acts that wait on one connection.
const TODO_MAX: usize = 16;

impl Conn {
    pub(crate) fn new(handshake: &Handshake, by_resume_url: bool, now_us: u64) -> Self {
        Self {
            version: handshake.version(),
            by_resume_url,
            opened_us: now_us,
            stage: Stage::Fresh,
            bot: 0,
            shard: None,
            beat_by_us: u64::MAX,
            last_beat_us: now_us,
            worst_beat_gap_us: 0,
            minute: Minute::default(),
            presence: Rolling::default(),
            frames: 0,
            last_op: 0,
            seqs: None,
            silent: false,
            deaf: false,
            todo: Vec::new(),
            armed_us: u64::MAX,
        }
    }

    /// Notes what is to come; what is too much is forgotten.
    pub(crate) fn add(&mut self, at_us: u64, todo: Todo) {
        if self.todo.len() < TODO_MAX {
            let place = self.todo.partition_point(|(other_us, _)| *other_us <= at_us);
            self.todo.insert(place, (at_us, todo));
        }
    }

    /// What has come.
    pub(crate) fn take_due(&mut self, now_us: u64) -> Option<Todo> {
        let (at_us, _) = self.todo.first()?;
        (*at_us <= now_us).then(|| self.todo.remove(0).1)
    }

    pub(crate) fn session(&self) -> Option<u64> {
        if let Stage::Live(session) = self.stage { Some(session) } else { None }
    }

    /// When it is to be looked at.
    pub(crate) fn due_us(&self) -> u64 {
        self.todo.first().map_or(u64::MAX, |(at_us, _)| *at_us).min(self.beat_by_us)
    }
}
