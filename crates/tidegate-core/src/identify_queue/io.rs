//! What goes into an identify queue and what comes out of it.

use crate::time::{Span, Time};

/// A shard's id. A negative one is folded into a bucket like any other; the wire refuses it.
pub type Shard = i64;

/// The number of one grant, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(pub u64);

/// What `GET /gateway/bot` says, on the caller's clock. Off the wire: held to what can be, never rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStartLimit {
    /// How many shards may IDENTIFY at once, each in a bucket of its own. Below 1 it is 1.
    pub max_concurrency: i64,
    /// Session starts left. Below 0 it is 0.
    pub remaining: i64,
    /// When they are all there again.
    pub reset_at: Time,
}

/// What the world tells an identify queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// This shard is where its next frame is IDENTIFY. A grant that it holds is given back; asking again does not move it.
    Request {
        /// The shard.
        shard: Shard,
        /// Asked over HTTP, by a bot that will not tell when it wrote IDENTIFY: spacing counts from the grant's end.
        http: bool,
    },
    /// The shard is done with its place, however it went.
    Release {
        /// The shard.
        shard: Shard,
        /// That grant alone; without a number the current one, or the request that waits.
        grant: Option<GrantId>,
        /// No IDENTIFY was written: the start and the spacing are undone.
        unused: bool,
    },
    /// IDENTIFY was written just now.
    Identified {
        /// The shard.
        shard: Shard,
        /// On that grant; without a number on the current one.
        grant: Option<GrantId>,
    },
    /// A newer answer of `GET /gateway/bot`.
    Refresh {
        /// What it says.
        limit: SessionStartLimit,
        /// Its `session_start_limit.total`, where it changed.
        total: Option<u64>,
        /// Its number of shards, where it changed.
        shards: Option<u64>,
    },
    /// The shared store said "not before" to this grant, so it never left.
    Deferred {
        /// The shard.
        shard: Shard,
        /// The grant.
        grant: GrantId,
        /// Its bucket is not free before this.
        until: Time,
    },
    /// Look again.
    Tick,
}

/// Something for people to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// So few session starts are left of the day.
    BudgetLow {
        /// How many.
        remaining: u64,
    },
    /// The shard waits.
    Waiting {
        /// The shard.
        shard: Shard,
        /// Shards ahead of it in its bucket; with none it is next, and only the clock is awaited.
        behind: usize,
    },
}

/// What an identify queue asks of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Write IDENTIFY for this shard as the very next frame.
    Grant {
        /// The shard.
        shard: Shard,
        /// The grant's number.
        grant: GrantId,
    },
    /// The budget is gone; the request is dropped.
    Deny {
        /// The shard.
        shard: Shard,
        /// When asking again may help.
        refresh_at: Time,
    },
    /// Something for people to know.
    Note(Note),
    /// So long from now something useful can happen. A help for latency: [`Input::Tick`] is safe at any time.
    Wake {
        /// How long.
        wait: Span,
    },
}

/// Why an identify queue wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A grant lapses.
    Lapse,
    /// A bucket's spacing is over.
    Spacing,
}
