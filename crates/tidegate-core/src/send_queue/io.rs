//! What goes into a send queue and what comes out of it.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::time::Span;

/// A guild's id as the protocol writes it.
pub type Guild = Arc<str>;

/// What the world tells a send queue. `S` stands for a snapshot of a guild's subscriptions; it is handed on unseen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<S> {
    /// A frame that is not a heartbeat, IDENTIFY, RESUME or subscription wants to go.
    Command {
        /// The caller's own number for it.
        id: u64,
        /// Its opcode. Presence updates (3) are merged; requests (8, 31, 43) are awaited to be answered.
        op: u8,
        /// The guild whose voice state (op 4) it sets.
        guild: Option<Guild>,
        /// The size of the whole frame in UTF-8 bytes.
        bytes: usize,
    },
    /// A request for guild members (op 8) wants to go.
    MembersRequest {
        /// The caller's own number for it.
        id: u64,
        /// The guild.
        guild: Guild,
        /// Whether it asks for all members (an empty query, limit 0).
        all: bool,
        /// The size of the whole frame in UTF-8 bytes.
        bytes: usize,
    },
    /// What a client wants to see of a guild from now on (op 37, or its older form op 14). Replaces what was not sent yet.
    Subscribe {
        /// The guild.
        guild: Guild,
        /// The snapshot. An empty one is one like any other.
        snapshot: S,
        /// The size of the map's entry (`"guild":snapshot`) in UTF-8 bytes.
        bytes: usize,
    },
    /// A heartbeat, IDENTIFY or RESUME goes to the socket now.
    Direct {
        /// Its opcode: 1, 2 or 6.
        op: u8,
    },
    /// The living connection's oldest heartbeat that was not acknowledged yet is.
    Ack,
    /// All of a request's answer has come, or another command's effect was seen: it is not asked again.
    Answered {
        /// The command's number.
        id: u64,
    },
    /// Discord dropped a request with a `RATE_LIMITED` dispatch.
    RateLimited {
        /// The opcode it names. Only op 8 is defined
        /// (<https://discord.com/developers/docs/events/gateway-events#rate-limited>).
        opcode: u8,
        /// The guild it names.
        guild: Guild,
        /// When to ask again.
        retry_after: Span,
    },
    /// The connection is over.
    Closed {
        /// Its close code, where there was one.
        code: Option<u16>,
    },
    /// A new socket is open.
    Opened,
    /// READY came: a new session, to which nothing is owed of what another was asked.
    Ready,
    /// RESUMED came: what was lost with the last connection is asked again.
    Resumed,
    /// Time has passed.
    Tick,
}

/// What goes to the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<S> {
    /// The command or members request with this number.
    Command {
        /// Its number.
        id: u64,
    },
    /// One subscription frame: each guild's newest snapshot, the one that waited longest first.
    Subscriptions(Vec<(Guild, S)>),
}

/// What was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The command with this number.
    Command {
        /// Its number.
        id: u64,
    },
    /// A snapshot of this guild. An older one that waits is left as it was.
    Snapshot {
        /// The guild.
        guild: Guild,
    },
}

/// Why something never goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefuseReason {
    /// Over `max_payload`.
    TooLarge,
    /// Too many wait.
    QueueFull,
}

/// Why a command that waited never goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A newer presence took its place.
    Superseded,
    /// Discord closed the connection because too much was sent.
    After4008,
    /// It waited 60 s between two connections.
    Expired,
}

/// What a send queue asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<S> {
    /// Write this frame now.
    Send(Frame<S>),
    /// This never goes; nothing of it was kept.
    Refused {
        /// What.
        what: Refused,
        /// Why.
        reason: RefuseReason,
    },
    /// This command waited and never goes.
    Dropped {
        /// Its number.
        id: u64,
        /// Why.
        reason: DropReason,
    },
    /// Close the connection, before Discord does.
    Close {
        /// The close code.
        code: u16,
    },
}

/// Why a send queue wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A command may go.
    Command,
    /// A subscription frame may go.
    Subscription,
    /// A command has waited as long as it may between two connections.
    Expiry,
}
