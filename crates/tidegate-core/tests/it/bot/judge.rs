//! Discord's own books: what may be written to it, and when.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::Time;
use tidegate_core::bot::ShardKey;
use tidegate_core::identify_queue::SessionStartLimit;
use tidegate_core::shard::{Event, Generation};

const SPACING_MS: u64 = 5_000;
const DAY_MS: u64 = 86_400_000;

/// One connection as Discord sees it.
struct Connection {
    generation: Generation,
    /// What was written to it, and whether it was a command.
    written: VecDeque<(u64, bool)>,
    opened: bool,
    ready: bool,
    /// It is being closed: nothing that is written to it leaves any more.
    closing: bool,
}

pub(super) struct Judge {
    pub(super) max_concurrency: i64,
    /// Session starts a day.
    pub(super) total: i64,
    /// In any 24 h.
    pub(super) rolling: usize,
    pub(super) identifies_ms: Vec<(u64, i64)>,
    connections: BTreeMap<ShardKey, Connection>,
}

impl Judge {
    pub(super) fn new(max_concurrency: i64, total: i64, rolling: usize) -> Self {
        Self { max_concurrency, total, rolling, identifies_ms: Vec::new(), connections: BTreeMap::new() }
    }

    pub(super) fn limit(&self) -> SessionStartLimit {
        self.limit_at(0)
    }

    /// What `GET /gateway/bot` answers.
    pub(super) fn limit_at(&self, now_ms: u64) -> SessionStartLimit {
        let day_ms = now_ms / DAY_MS * DAY_MS;
        let used = self.identifies_ms.iter().filter(|(at_ms, _)| *at_ms >= day_ms).count();
        SessionStartLimit {
            max_concurrency: self.max_concurrency,
            remaining: self.total - i64::try_from(used).unwrap(),
            reset_at: Time::from_millis(day_ms + DAY_MS),
        }
    }

    /// An IDENTIFY, of whomever.
    pub(super) fn identifies(&mut self, now_ms: u64, id: i64) {
        let bucket = id % self.max_concurrency;
        let of_bucket = self.identifies_ms.iter().rev().find(|(_, other)| other % self.max_concurrency == bucket);
        if let Some((last_ms, other)) = of_bucket {
            assert!(now_ms >= last_ms + SPACING_MS, "{now_ms}: {id} identifies {} ms after {other}", now_ms - last_ms);
        }
        self.identifies_ms.push((now_ms, id));
        let since_ms = (now_ms + 1).saturating_sub(DAY_MS);
        let in_a_day = self.identifies_ms.iter().rev().take_while(|(at_ms, _)| *at_ms >= since_ms).count();
        assert!(in_a_day <= self.rolling, "{in_a_day} session starts in 24 h");
        assert!(self.limit_at(now_ms).remaining >= 0, "the day's budget is overspent");
    }

    pub(super) fn dials(&mut self, key: ShardKey, generation: Generation) {
        let written = VecDeque::new();
        let connection = Connection { generation, written, opened: false, ready: false, closing: false };
        assert!(self.connections.insert(key, connection).is_none(), "{key:?} has two connections");
    }

    pub(super) fn closes(&mut self, key: ShardKey, generation: Generation) {
        let connection = self.connections.remove(&key);
        assert!(connection.is_some_and(|connection| connection.generation == generation), "{key:?} closes its own");
    }

    /// Its send queue closes it.
    pub(super) fn closing(&mut self, key: ShardKey) -> Option<Generation> {
        let connection = self.connections.get_mut(&key)?;
        connection.closing = true;
        Some(connection.generation)
    }

    pub(super) fn forgets(&mut self, key: ShardKey) {
        assert!(!self.connections.contains_key(&key), "{key:?} is forgotten with a connection");
    }

    /// An event reaches the shard.
    pub(super) fn heard(&mut self, key: ShardKey, generation: Generation, event: &Event) {
        let Some(connection) = self.connections.get_mut(&key).filter(|it| it.generation == generation) else { return };
        match event {
            Event::Ready { .. } | Event::Resumed => connection.ready = true,
            Event::Closed { .. } => drop(self.connections.remove(&key)),
            // One that never opened has nothing to close.
            Event::Error if !connection.opened => drop(self.connections.remove(&key)),
            Event::Opened | Event::Hello { .. } | Event::InvalidSession { .. } => connection.opened = true,
            _ => {}
        }
    }

    pub(super) fn writes_to(&self, key: ShardKey, generation: Generation) -> bool {
        self.connections.get(&key).is_some_and(|connection| connection.generation == generation)
    }

    /// A frame leaves.
    pub(super) fn wrote(&mut self, now_ms: u64, key: ShardKey, command: bool) {
        let Some(connection) = self.connections.get_mut(&key) else { panic!("{key:?} writes into the air") };
        if connection.closing {
            assert!(!command, "a command on a connection that is being closed");
            return;
        }
        assert!(!command || connection.ready, "a command before READY");
        while connection.written.front().is_some_and(|(at_ms, _)| at_ms + 60_000 <= now_ms) {
            connection.written.pop_front();
        }
        connection.written.push_back((now_ms, command));
        assert!(connection.written.len() <= 120, "4008");
    }
}
