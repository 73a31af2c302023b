//! What the engine keeps of one write that is held, booked or in flight.

use alloc::boxed::Box;

use super::io::{Class, Ticket};
use super::plan::Reach;
use crate::key::{MessageKey, MethodKey, Peer};
use crate::policy::{PastHold, RowId};
use crate::time::{Span, Time};

/// No write, no peer.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each tells one thing that happened to the write")]
pub(super) struct WriteState {
    pub(super) ticket: Ticket,
    /// The row it is counted under.
    pub(super) origin: RowId,
    /// The row in whose line it waits.
    pub(super) row: RowId,
    pub(super) class: Class,
    /// How urgent it is: as its class, or as the most urgent of those that wait for it.
    pub(super) rank: u8,
    /// The client named the class.
    pub(super) named: bool,
    /// Only the bucket for groups that the row does not pace, or none at all.
    pub(super) paced: Paced,
    /// The kind of its peer.
    pub(super) reach: Reach,
    pub(super) method: MethodKey,
    /// The peer's place, or [`NONE`].
    pub(super) peer: u32,
    /// For a write that goes at once and so has no peer state: whom a refusal would cool.
    pub(super) loose: Option<Box<Peer>>,
    /// A key whose cooldown concerns it too.
    pub(super) wider: Option<MethodKey>,
    pub(super) thread: Option<i64>,
    pub(super) message: Option<MessageKey>,
    pub(super) weight: u32,
    pub(super) fields: Box<[u64]>,
    pub(super) arrived: Time,
    /// How long it may be held.
    pub(super) limit: Span,
    pub(super) past: PastHold,
    /// Place within its class.
    pub(super) seq: u64,
    pub(super) stage: Stage,
    /// It took the place of another, whose answer it now owes.
    pub(super) superseded: bool,
    /// Its client left while it was in flight: it does not go again.
    pub(super) left: bool,
    /// It stands in its message's chain, between these two.
    pub(super) chained: bool,
    pub(super) older: u32,
    pub(super) newer: u32,
    /// From then on it is settled, unless a newer one comes.
    pub(super) settles_at: Option<Time>,
    /// It has taken its own row's buckets and waits in the next row's line.
    pub(super) staged: bool,
    /// A newer edit is being decided in its place.
    pub(super) shadowed: bool,
    /// It was there before: a cooldown that ended meanwhile makes it a probe.
    pub(super) waited: bool,
    /// Since when it has waited for the bot's bucket alone.
    pub(super) bot_since: Option<Time>,
    pub(super) retry_at: Time,
    /// A newer edit of its message has gone: it may not go again.
    pub(super) overtaken: bool,
    /// A shared store sent it back once: it has been counted as released.
    pub(super) gave_back: bool,
    /// Platform refusals so far.
    pub(super) refusals: u32,
    /// Tries that ended in a transient failure.
    pub(super) failures: u32,
    /// Buckets whose tokens it took, as bits.
    pub(super) charged: u32,
    /// Windows that it stands in, as bits.
    pub(super) stamped: u32,
    /// The others in flight of its peer.
    pub(super) next: u32,
    pub(super) previous: u32,
}

/// Where a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Held,
    /// Refused, with its place kept for when its client comes back.
    Booked {
        due: Time,
        lapses: Time,
    },
    Flying {
        since: Time,
    },
}

/// What a write has to do with budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paced {
    /// All of its row's buckets.
    Fully,
    /// The one bucket that groups outside the row's reach share.
    Unmarked,
    /// None: held by a cooldown alone.
    Free,
    /// None, and not counted.
    Bypass,
}

impl WriteState {
    /// Places in line compare by this: the more urgent first, among equals the earlier.
    pub(super) fn place(&self) -> (u8, u64) {
        (self.rank, self.seq)
    }

    pub(super) fn deadline(&self) -> Time {
        self.arrived + self.limit
    }

    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.stage == Stage::Held
    }

    pub(super) fn flying_since(&self) -> Option<Time> {
        match self.stage {
            Stage::Flying { since } => Some(since),
            Stage::Held | Stage::Booked { .. } => None,
        }
    }

    pub(super) fn counted(&self) -> bool {
        self.paced != Paced::Bypass
    }

    pub(super) fn named_final(&self) -> bool {
        self.named && self.class == Class::Final
    }

    /// Whether two edits of one message are generations of one text: they came by the same method and route.
    pub(super) fn same_kind(&self, other: &Self) -> bool {
        self.method == other.method && self.peer == other.peer
    }
}
