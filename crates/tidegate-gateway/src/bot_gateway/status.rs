//! What one bot's shards do, for operators.

use tidegate_core::bot::ShardKey;
use tidegate_core::identify_queue::IdentifyQueue;
use tidegate_core::send_queue::SendQueue;
use tidegate_core::shard::{Shard, Status};
use tidegate_core::{Span, Time};
use tidegate_net::Token;

use super::{Fleet, Gate, State};

/// What one bot's shards do.
#[derive(Clone, Debug)]
pub struct BotStatus {
    /// Whose shards they are.
    pub token: Token,
    /// Session starts that tidegate still lets the bot have. It and the next three are there once Discord has said how
    /// many there are.
    pub starts_left: Option<u64>,
    /// Session starts that Discord still lets the bot have.
    pub left_of_the_day: Option<u64>,
    /// Session starts of the last 24 hours.
    pub in_24_h: Option<u64>,
    /// Session starts that tidegate lets the bot have in any 24 hours.
    pub rolling_limit: Option<u64>,
    /// The shards, by id and count.
    pub shards: Vec<ShardStatus>,
    /// What happened since the process began, by its name.
    pub counts: Vec<(&'static str, u64)>,
}

/// What one shard does.
#[derive(Clone, Debug)]
pub struct ShardStatus {
    /// Its id and count.
    pub key: ShardKey,
    /// What it does.
    pub status: Status,
    /// Whether its connection has lasted for a while.
    pub stable: bool,
    /// How often it failed in a row.
    pub backoff_step: Option<u32>,
    /// The last dispatch of its session.
    pub seq: Option<u64>,
    /// Whether a bot has the session.
    pub bot_attached: bool,
    /// How long a bot that wants the session still waits for it.
    pub newcomer_waits: Option<Span>,
    /// Commands that wait to be sent.
    pub commands_waiting: Option<usize>,
    /// Events that are kept for a RESUME, and their bytes.
    pub ring: Option<(usize, usize)>,
}

impl Fleet {
    pub(crate) fn report(&self, now: Time) -> BotStatus {
        let starts_left = self.starts_left();
        let state = self.lock();
        let queue = state.gate.as_ref().map(Gate::identify_queue);
        BotStatus {
            token: self.token.clone(),
            starts_left,
            left_of_the_day: queue.map(IdentifyQueue::remaining),
            in_24_h: queue.map(IdentifyQueue::counted),
            rolling_limit: queue.map(|queue| queue.settings().rolling_limit()),
            shards: state.seats.keys().map(|key| state.report(now, *key)).collect(),
            counts: self.counts.list().collect(),
        }
    }
}

impl State {
    fn report(&self, now: Time, key: ShardKey) -> ShardStatus {
        let gate = self.gate.as_ref();
        let shard = gate.and_then(|gate| gate.shard(key));
        let seat = self.seats.get(&key);
        ShardStatus {
            key,
            status: shard.map_or(Status::Off, Shard::status),
            stable: shard.is_some_and(Shard::is_stable),
            backoff_step: shard.map(Shard::backoff_step),
            seq: shard.and_then(Shard::session).map(|(_, seq)| seq),
            bot_attached: seat.is_some_and(|seat| seat.session.attached().is_some()),
            newcomer_waits: seat.and_then(|seat| seat.session.newcomer()).map(|at| at.since(now)),
            commands_waiting: gate.and_then(|gate| gate.send_queue(key)).map(SendQueue::waiting),
            ring: seat.map(|seat| seat.ring.size()),
        }
    }
}
