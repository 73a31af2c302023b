//! One shard, with all that hangs on it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::Time;
use tidegate_core::shard::{self, Generation};
use tokio::runtime::Handle as Runtime;

use super::commands::Commands;
use crate::mailbox::{Link, Tell};
use crate::ring::{Position, Ring};
use crate::session::{Session, Word};
use crate::upstream;

/// One shard of a bot.
pub(crate) struct Seat {
    pub(crate) session: Session,
    pub(crate) ring: Arc<Ring>,
    /// Bots that spoke to it and have not left.
    pub(super) links: HashMap<u64, Arc<Link>>,
    /// The thread of the bot that spoke last: Discord's connection lives there too.
    pub(super) runtime: Runtime,
    /// Where that bot finds tidegate.
    pub(super) address: Arc<str>,
    pub(super) upstream: Option<Upstream>,
    /// The session's id that it is found by.
    pub(super) named: Option<Box<str>>,
    pub(super) commands: Commands,
    /// The bot's own id, as READY said.
    pub(super) user: Option<Box<str>>,
    /// When its session is to be told the time.
    pub(super) due: Option<Time>,
    /// Whether the gates know of it.
    pub(super) opened: bool,
    /// What its shard is told once they do.
    pub(super) pending: VecDeque<shard::Input>,
}

/// The connection to Discord that lives.
pub(super) struct Upstream {
    /// No two connections have the same. What carries another's is of the past.
    pub(super) serial: u64,
    pub(super) generation: Generation,
    /// Not there once it was told to close.
    pub(super) handle: Option<upstream::Handle>,
}

impl Seat {
    pub(super) fn new(session: Session, ring: Arc<Ring>, address: &Arc<str>) -> Self {
        Self {
            session,
            ring,
            links: HashMap::new(),
            runtime: Runtime::current(),
            address: Arc::clone(address),
            upstream: None,
            named: None,
            commands: Commands::default(),
            user: None,
            due: None,
            opened: false,
            pending: VecDeque::new(),
        }
    }

    /// Tells a bot.
    pub(super) fn say(&self, bot: u64, word: Word) {
        let Some(link) = self.links.get(&bot) else { return };
        let ring = Arc::clone(&self.ring);
        let (head, seq) = ring.head();
        match word {
            Word::Begin => self.follow(link, ring.start(), true),
            Word::Follow => self.follow(link, ring.start(), false),
            Word::Replay(from) => {
                self.follow(link, from, false);
                link.tell(Tell::Resumed { at: head, seq });
            }
            Word::Resumed => link.tell(Tell::Resumed { at: head, seq }),
            Word::Invalid => link.tell(Tell::Invalid),
            Word::Close(close) => link.tell(Tell::Close(close)),
        }
    }

    fn follow(&self, link: &Arc<Link>, from: Position, begins: bool) {
        self.ring.read_by(Some(Arc::clone(link.waker())));
        link.tell(Tell::Follow { ring: Arc::clone(&self.ring), from, begins });
    }

    /// Writes a frame to Discord's connection of that generation. One that takes no more frames is found dead by its
    /// heartbeats.
    pub(super) fn write(&self, generation: Generation, op: u8, frame: Bytes) {
        let upstream = self.upstream.as_ref().filter(|upstream| upstream.generation == generation);
        if let Some(handle) = upstream.and_then(|upstream| upstream.handle.as_ref())
            && handle.send(op, frame).is_err()
        {
            tracing::warn!(op, "a frame could not be written: the connection takes no more");
        }
    }

    /// Closes Discord's connection. It may still tell that it is closed.
    pub(super) fn close(&mut self, code: u16) {
        if let Some(handle) = self.upstream.as_mut().and_then(|upstream| upstream.handle.take()) {
            handle.close(code);
        }
    }
}
