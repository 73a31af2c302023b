//! A policy's buckets as the engine takes from them.

use super::plan::Reach;
use crate::bucket::Rate;
use crate::policy::{Applies, BucketDef, BucketId, BucketScope, Shape};
use crate::time::Span;
use crate::window::Limit;

/// A bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) store: Store,
    pub(super) id: BucketId,
    /// The id as a bit.
    bit: u32,
    applies: Applies,
    by_items: bool,
    /// It is our own pacing, not the platform's limit: past the end of a hold it keeps nothing back.
    pub(super) ours: bool,
    pub(super) pass_after: Option<Span>,
    pub(super) pass_spacing: Span,
}

/// Where a bucket's state lives, by its place there, and its shape. The last number of a window is its reserve.
#[derive(Clone, Copy, Debug)]
pub(super) enum Store {
    BotToken(usize, Rate),
    BotWindow(usize, Limit, u32),
    PeerToken(usize, Rate),
    PeerWindow(usize, Limit, u32),
    Keyed(By, Rate),
    /// One for each route of a peer, told by the platform.
    Route,
    /// There is no window for each topic, message or method.
    Nothing(By),
}

/// What of a peer has a bucket of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Thread,
    Message,
    Method,
}

/// The next free places.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) bots: usize,
    peer_tokens: usize,
    peer_windows: usize,
}

impl Bucket {
    pub(super) fn new(id: BucketId, def: &BucketDef, places: &mut Places) -> Self {
        Self {
            store: Store::new(def, places),
            id,
            bit: 1 << id.0,
            applies: def.applies,
            by_items: def.by_items,
            ours: matches!(def.shape, Shape::Spacing { .. }),
            pass_after: def.pass_after,
            pass_spacing: def.pass_spacing,
        }
    }

    #[inline]
    pub(super) fn bit(&self) -> u32 {
        self.bit
    }

    #[inline]
    pub(super) fn bot(&self) -> Option<usize> {
        match self.store {
            Store::BotToken(slot, _) | Store::BotWindow(slot, ..) => Some(slot),
            _ => None,
        }
    }

    /// Whether a write to such a peer takes from it. A bot's bucket for all is everybody's, chat or not.
    pub(super) fn counts(&self, reach: Reach) -> bool {
        match self.applies {
            Applies::All if self.bot().is_some() => true,
            applies => reach.is_in(applies),
        }
    }

    /// How long one more takes, where it is a token bucket of the peer.
    pub(super) fn refill(&self) -> Option<Span> {
        match self.store {
            Store::PeerToken(_, rate) => Some(rate.interval()),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn weight(&self, weight: u32) -> u32 {
        if self.by_items { weight } else { 1 }
    }
}

impl Store {
    fn new(def: &BucketDef, places: &mut Places) -> Self {
        let next = |place: &mut usize| {
            *place += 1;
            *place - 1
        };
        let by = match def.scope {
            BucketScope::Bot | BucketScope::Peer | BucketScope::Route => None,
            BucketScope::Thread => Some(By::Thread),
            BucketScope::Message => Some(By::Message),
            BucketScope::Method => Some(By::Method),
        };
        let rate = match def.shape {
            Shape::Window { units, period, reserve } => {
                let limit = Limit::new(units, period);
                return match by {
                    Some(by) => Self::Nothing(by),
                    None if def.scope == BucketScope::Bot => Self::BotWindow(next(&mut places.bots), limit, reserve),
                    None => Self::PeerWindow(next(&mut places.peer_windows), limit, reserve),
                };
            }
            Shape::Learned => return Self::Route,
            Shape::Token { units, period, burst } => Rate::new(units, period, burst),
            Shape::Spacing { period } => Rate::new(1, period, 1),
        };
        match by {
            Some(by) => Self::Keyed(by, rate),
            None if def.scope == BucketScope::Bot => Self::BotToken(next(&mut places.bots), rate),
            None => Self::PeerToken(next(&mut places.peer_tokens), rate),
        }
    }

    /// The shape, where it is a token bucket.
    pub(super) fn rate(&self) -> Option<Rate> {
        match self {
            Self::BotToken(_, rate) | Self::PeerToken(_, rate) | Self::Keyed(_, rate) => Some(*rate),
            Self::BotWindow(..) | Self::PeerWindow(..) | Self::Route | Self::Nothing(_) => None,
        }
    }

    /// Whether another bucket's state lives in the same place.
    pub(super) fn shares_place(&self, other: &Self) -> bool {
        use Store::{BotToken, BotWindow, Keyed, Nothing, PeerToken, PeerWindow, Route};
        match (self, other) {
            (BotToken(a, _) | BotWindow(a, ..), BotToken(b, _) | BotWindow(b, ..))
            | (PeerToken(a, _), PeerToken(b, _))
            | (PeerWindow(a, ..), PeerWindow(b, ..)) => a == b,
            (Keyed(a, _) | Nothing(a), Keyed(b, _) | Nothing(b)) => a == b,
            (Route, Route) => true,
            _ => false,
        }
    }
}
