//! What goes into a shard and what comes out of it. Payloads never do.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::settings::StoredSession;
use crate::discord::Fatal;
use crate::time::{Span, Time};

/// The number of one connection, from 1. What carries an older one changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub u64);

/// The identify queue's number for one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant(pub u64);

/// What one connection tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The WebSocket is open.
    Opened,
    /// Op 10.
    Hello {
        /// How often Discord wants a heartbeat.
        interval: Span,
    },
    /// The READY dispatch.
    Ready {
        /// The session's id.
        session: Box<str>,
        /// Where to RESUME it.
        resume_url: Box<str>,
        /// READY's own number.
        seq: u64,
    },
    /// The RESUMED dispatch.
    Resumed,
    /// Any dispatch, by its number.
    Dispatch {
        /// Its number.
        seq: u64,
    },
    /// Op 11.
    Ack,
    /// Op 1: a beat is asked for.
    BeatAsked,
    /// Op 7.
    Reconnect,
    /// Op 9.
    InvalidSession {
        /// Discord's own word on whether a RESUME may work.
        resumable: bool,
    },
    /// The socket is closed.
    Closed {
        /// With this code, where there was one.
        code: Option<u16>,
    },
    /// The socket failed, open or not; a close need not follow.
    Error,
    /// A command with this opcode was written to it. Told so that a 4002 can name the last.
    Sent {
        /// The opcode.
        op: u8,
    },
}

/// What the world tells a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Be connected from now on.
    Start,
    /// A bot sent an IDENTIFY: it wants a new session.
    Fresh {
        /// Whether it is another than the last.
        differs: bool,
    },
    /// A refresh left session starts: those who wait for the budget may ask again.
    Budget,
    /// The shard is the first of its line.
    NextInLine {
        /// Its place comes then at the earliest.
        due: Time,
    },
    /// The shard may IDENTIFY.
    Granted {
        /// The grant's number.
        grant: Grant,
    },
    /// No session start is left.
    Denied {
        /// When there may be some again.
        refresh_at: Time,
    },
    /// A connection tells something.
    Socket {
        /// Which.
        generation: Generation,
        /// What.
        event: Event,
    },
    /// The token was refused over HTTP (401).
    Unauthorized,
    /// Disconnect so that the session can be resumed.
    Stop,
    /// End the session.
    Logout,
    /// Be connected, and RESUME from there: a bot has had no more than this. As after op 7 that is done at once, once until
    /// the connection is stable again, and then under the backoff.
    Rewind {
        /// The last dispatch that it has had.
        seq: u64,
    },
    /// A person re-arms it.
    Restart,
    /// Time has passed.
    Tick,
}

/// Why a shard waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Attempts failed.
    Backoff,
    /// Discord said that too much was sent.
    Cooldown,
    /// Discord sent op 9.
    InvalidSession,
    /// No session start is left.
    Budget,
}

/// Why a shard stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Discord will not take it back.
    Fatal(Fatal),
    /// No session start is left, and it is set to stop then.
    Budget,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Closed by the other side.
    Closed(Option<u16>),
    /// The socket failed.
    Error,
    /// Nothing came for too long.
    Watchdog,
    /// A heartbeat was not acknowledged.
    Zombie,
    /// Op 7.
    Reconnect,
    /// Op 9.
    InvalidSession {
        /// Whether Discord said that a RESUME may work.
        resumable: bool,
    },
}

/// For people; nothing is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A connection that is no longer ours told something.
    Stale {
        /// Which.
        generation: Generation,
    },
    /// Connections that became READY or RESUMED keep ending before they are stable.
    Unstable {
        /// How the last ones ended, and how often so.
        reasons: Vec<(End, u32)>,
    },
    /// It was not re-armed.
    NotYet {
        /// Until then.
        until: Time,
        /// Why.
        why: Why,
    },
    /// Discord could not decode what we sent (4002).
    Undecodable {
        /// The opcode sent last, where one was.
        last_op: Option<u8>,
    },
}

/// What a shard asks of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Dial.
    Connect {
        /// The new connection's number.
        generation: Generation,
        /// Where to.
        url: Box<str>,
    },
    /// Close a connection and forget it; where it is not open yet, give the dial up.
    Close {
        /// Which.
        generation: Generation,
        /// With which code. 1000 ends the session, 4000 does not.
        code: u16,
    },
    /// Write op 1.
    Beat {
        /// On which connection.
        generation: Generation,
        /// The last dispatch's number.
        seq: Option<u64>,
    },
    /// Write op 2 as the very next frame.
    Identify {
        /// On which connection.
        generation: Generation,
    },
    /// Write op 6.
    Resume {
        /// On which connection.
        generation: Generation,
        /// The session.
        session: Box<str>,
        /// The last dispatch's number.
        seq: u64,
    },
    /// Join the identify queue.
    RequestGrant,
    /// Give a grant back.
    ReleaseGrant {
        /// Which.
        grant: Grant,
        /// Whether no IDENTIFY was written with it.
        unused: bool,
    },
    /// Write the session down, or that there is none any more.
    SaveSession(Option<StoredSession>),
    /// The session is gone; a new one takes an IDENTIFY.
    Lost,
    /// Nothing is dialled or asked for until then.
    Waiting {
        /// Until when.
        until: Time,
        /// Why.
        why: Why,
    },
    /// It tries no more until re-armed.
    Stopped(StopReason),
    /// For people.
    Note(Note),
}

/// Why a shard wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A heartbeat is due.
    Beat,
    /// The connection says nothing.
    Watchdog,
    /// A wait ends.
    Wait(Why),
    /// Its place in the line is near.
    EarlyDial,
}
