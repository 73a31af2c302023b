//! What goes into a bot's Gateway side and what comes out of it.

use alloc::boxed::Box;

use crate::{identify_queue, send_queue, shard};

/// A shard's id, and of how many. Two counts side by side are two shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardKey {
    /// The shard's id, from 0.
    pub id: u32,
    /// Of how many, from 1.
    pub count: u32,
}

impl ShardKey {
    /// As the identify queue knows it.
    pub(super) fn queued(self) -> identify_queue::Shard {
        self.id.into()
    }
}

impl core::fmt::Display for ShardKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.id, self.count)
    }
}

/// The numbers of all its gates.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Of each shard; `shard`, `url`, `seed` and `autonomous` are each shard's own.
    pub shard: shard::Settings,
    /// Of each shard's send queue.
    pub send_queue: send_queue::Settings,
    /// Of the one identify queue.
    pub identify_queue: identify_queue::Settings,
    /// Shards that there may be. One more is refused.
    pub shards_max: usize,
}

/// What the world tells. What names a shard that is not there changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<S> {
    /// Makes a shard that is off. One that is there already stays as it is.
    Open {
        /// Which.
        key: ShardKey,
        /// The main Gateway address.
        url: Box<str>,
        /// Where its jitter starts.
        seed: u64,
        /// Whether it asks for grants by itself.
        autonomous: bool,
        /// What was written down of its session.
        stored: Option<shard::StoredSession>,
    },
    /// Drops a shard: it is stopped, gives its grant back and leaves its line.
    Forget {
        /// Which.
        key: ShardKey,
    },
    /// A shard is told something. Its place in the identify queue is none of the driver's business.
    Shard {
        /// Which.
        key: ShardKey,
        /// What.
        input: shard::Input,
    },
    /// A shard's send queue is told something. How its connection fares it learns from the shard's events.
    SendQueue {
        /// Whose.
        key: ShardKey,
        /// What.
        input: send_queue::Input<S>,
    },
    /// A newer answer of `GET /gateway/bot`, or somebody who asks over HTTP for a grant, gives it back or defers it. A
    /// grant of a shard of ours cannot be given back or deferred from outside: the shard has acted on it by then.
    IdentifyQueue(identify_queue::Input),
    /// The token was refused over HTTP (401): every shard is told.
    Unauthorized,
    /// Time has passed.
    Tick,
}

/// What is asked of the world. What the gates ask of each other comes out too, so that it can be logged and counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<S> {
    /// A shard's. [`RequestGrant`](shard::Output::RequestGrant) and [`ReleaseGrant`](shard::Output::ReleaseGrant) are
    /// carried out already.
    Shard {
        /// Whose.
        key: ShardKey,
        /// What.
        output: shard::Output,
    },
    /// A send queue's. Where it closes its connection, that comes before the frame that would be one too many.
    SendQueue {
        /// Whose.
        key: ShardKey,
        /// What.
        output: send_queue::Output<S>,
    },
    /// The identify queue's, to a shard of ours or to people: carried out already.
    IdentifyQueue(identify_queue::Output),
    /// A grant for, or a denial of, somebody who asked through [`Input::IdentifyQueue`].
    Outside(identify_queue::Output),
    /// There are as many shards as there may be.
    NotOpened {
        /// The one that was not made.
        key: ShardKey,
    },
}

/// Why it wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A shard does.
    Shard(ShardKey, shard::Reason),
    /// A send queue does.
    SendQueue(ShardKey, send_queue::Reason),
    /// The identify queue does.
    IdentifyQueue(identify_queue::Reason),
    /// A grant lapses, and another shard with its id may follow.
    Turn,
}

/// Whether the gates of the composite tell this to each other.
pub(super) fn is_wired(input: &shard::Input) -> bool {
    match input {
        shard::Input::Budget
        | shard::Input::NextInLine { .. }
        | shard::Input::Granted { .. }
        | shard::Input::Denied { .. } => true,
        shard::Input::Start
        | shard::Input::Fresh { .. }
        | shard::Input::Socket { .. }
        | shard::Input::Unauthorized
        | shard::Input::Stop
        | shard::Input::Logout
        | shard::Input::Rewind { .. }
        | shard::Input::Restart
        | shard::Input::Tick => false,
    }
}

/// The same for a send queue.
pub(super) fn is_send_queue_wired<S>(input: &send_queue::Input<S>) -> bool {
    match input {
        send_queue::Input::Direct { .. }
        | send_queue::Input::Ack
        | send_queue::Input::Opened
        | send_queue::Input::Ready
        | send_queue::Input::Resumed
        | send_queue::Input::Closed { .. } => true,
        send_queue::Input::Command { .. }
        | send_queue::Input::MembersRequest { .. }
        | send_queue::Input::Subscribe { .. }
        | send_queue::Input::RateLimited { .. }
        | send_queue::Input::Answered { .. }
        | send_queue::Input::Tick => false,
    }
}
