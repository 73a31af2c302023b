//! What goes into a governor and what comes out of it. Payloads never do: it sees tickets, keys and costs.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::counters::Counted;
pub use crate::class::Class;
use crate::discord::Headers;
use crate::key::{MessageKey, MethodKey, Peer};
use crate::policy::{Policy, RowId};
use crate::time::{Span, Time};

/// The caller's own number for one write. Unique among the writes that are held or in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// One write that asks to leave.
#[derive(Clone, Debug)]
pub struct Write {
    /// The caller's number for it.
    pub ticket: Ticket,
    /// Its policy row, from [`Policy::row_of`](crate::policy::Policy::row_of).
    pub row: RowId,
    /// Its method, for cooldowns and to tell edits apart.
    pub method: MethodKey,
    /// The chat, channel or inline message that the platform counts by.
    pub peer: Option<Peer>,
    /// A key whose cooldown concerns it too: a token webhook's id, whatever the token.
    pub wider: Option<MethodKey>,
    /// The topic, where it has one.
    pub thread: Option<i64>,
    /// The message (or draft) that it writes to.
    pub message: Option<MessageKey>,
    /// The class that the client named; `None` takes the row's default.
    pub class: Option<Class>,
    /// How many messages it makes.
    pub weight: u32,
    /// Hashes of the top-level keys of the body, for rows whose edits are partial.
    pub fields: Box<[u64]>,
    /// The hold limit that the client named for itself.
    pub max_hold: Option<Span>,
    /// What `max_hold = "auto"` means for this client; `None`: 30 s, or 60 s for edits and rich.
    pub auto_hold: Option<Span>,
}

/// How a released write ended, other than by a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The platform took it.
    Ok,
    /// It may work when tried again.
    Transient,
    /// It will never work.
    Permanent,
}

/// What cools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of the bot's paced writes.
    Bot,
    /// One peer.
    Peer(Peer),
    /// One method.
    Method(MethodKey),
    /// One method to one peer.
    PeerMethod(Peer, MethodKey),
}

/// Which scope a platform's refusal names; left out, the row decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedScope {
    /// The bot.
    Bot,
    /// The write's peer.
    Peer,
    /// The write's method.
    Method,
    /// The write's method to its peer.
    PeerMethod,
    /// All that shares the write's wider key ([`Write::wider`]).
    Wider,
}

/// What the world tells a governor.
#[derive(Clone, Debug)]
pub enum Input {
    /// A write asks to leave.
    Write(Write),
    /// A released write was answered.
    Done {
        /// Which.
        ticket: Ticket,
        /// How.
        result: Answer,
    },
    /// The platform refused a released write for now (429).
    Refused {
        /// Which.
        ticket: Ticket,
        /// The platform's own figure; `None` where it named none that makes sense.
        retry_after: Option<Span>,
        /// The platform's own scope, where it names one.
        scope: Option<RefusedScope>,
    },
    /// What the answer to a released write told of its route's bucket.
    Learned {
        /// Which.
        ticket: Ticket,
        /// Its headers; `None` where it had none.
        headers: Option<Headers>,
    },
    /// A shared store did not let a released write go yet.
    Deferred {
        /// Which.
        ticket: Ticket,
        /// The dry bucket's name.
        bucket: Box<str>,
        /// Not before this.
        until: Time,
    },
    /// The client of a write left. One that is in flight ends with its answer, and is not tried again.
    Cancel {
        /// Which.
        ticket: Ticket,
    },
    /// The hold of a write that is not in flight ends then at the latest: the platform has become slower, or the
    /// program goes down. It is never made longer.
    HoldUntil {
        /// Which.
        ticket: Ticket,
        /// When. A moment that has passed ends it now.
        until: Time,
    },
    /// Something cools from outside (no margin).
    Cooldown {
        /// What.
        scope: Scope,
        /// How long from now.
        duration: Span,
    },
    /// A chat has another id from now on.
    Migrate {
        /// The old id.
        from: Peer,
        /// The new one.
        to: Peer,
    },
    /// Another policy from now on (same platform; rows of earlier writes are found again by name).
    Policy(Arc<Policy>),
    /// Time has passed.
    Tick,
    /// How many peers are there?
    QueryPeers,
    /// What are the counters?
    QueryCounters,
}

/// How a write left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At once, by its tokens.
    Admitted,
    /// By its tokens, after waiting.
    Held,
    /// Without a token, as its row allows.
    Passed,
    /// Without a token, past its hold limit, as its row allows.
    FailedOpen,
    /// Not a matter of any budget.
    Bypass,
}

/// Why a write was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A bucket was dry.
    Dry,
    /// Previews of this peer are spread wider.
    Spread,
    /// Too soon after the last of its kind.
    Spacing,
    /// Behind another, after or beside a named final, or its message was deleted.
    Order,
    /// Something cools.
    Cooldown,
    /// It would wait longer than it may.
    MaxHold,
    /// The draft's message was sent.
    Sent,
}

/// Why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefuseReason {
    /// It would wait longer than it may.
    MaxHold,
    /// Something cools for longer than it may wait.
    Cooldown,
    /// Too many are held.
    QueueFull,
}

/// What a governor asks of the world. Every write ends in exactly one of `Drop`, `Superseded`, `Refuse`, `Failed`, its
/// own cancellation, or a `Done` with ok or permanent after its last `Send`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send it now.
    Send {
        /// Which.
        ticket: Ticket,
        /// How it got through.
        outcome: Outcome,
        /// How long it waited.
        held: Span,
    },
    /// Do not send it; answer as the row says.
    Drop {
        /// Which.
        ticket: Ticket,
        /// Why.
        reason: DropReason,
    },
    /// Do not send it; a newer write says the same and more. Its answer is this one's too.
    Superseded {
        /// Which.
        ticket: Ticket,
        /// The newer one.
        by: Ticket,
    },
    /// Do not send it; tell the client to come back.
    Refuse {
        /// Which.
        ticket: Ticket,
        /// When to come back.
        retry_after: Span,
        /// Why.
        reason: RefuseReason,
    },
    /// It was tried as often as it may be; pass the platform's last answer on.
    Failed {
        /// Which.
        ticket: Ticket,
    },
    /// What happened to a peer's writes lately.
    Note(Summary),
    /// Answers [`Input::QueryPeers`].
    Peers(usize),
    /// Answers [`Input::QueryCounters`]: surface, class and outcome, in table order, zeros left out.
    Counters(Vec<Count>),
}

/// One counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The surface's name.
    pub surface: Box<str>,
    /// The class.
    pub class: Class,
    /// What is counted.
    pub what: Counted,
    /// How many.
    pub count: u64,
}

/// Why a governor wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something held may be able to go, or has waited as long as it may.
    Held,
    /// A cooldown ends, or a probe has not been answered.
    Cooldown,
    /// Peers may be forgotten.
    Forget,
}

/// What happened to one peer's writes since the last summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The peer.
    pub peer: Peer,
    /// Its counters that are not zero, in table order.
    pub counts: Vec<Count>,
}
