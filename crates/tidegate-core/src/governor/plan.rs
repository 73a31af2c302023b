//! What the engine derives from a policy once, so that a decision does not.

use alloc::vec::Vec;

use super::write::{Paced, WriteState};
use crate::bucket::Rate;
use crate::key::PeerKind;
use crate::policy::{Applies, BucketId, BucketScope, Marks, Policy, Row, RowId, Shape};
use crate::time::Span;
use crate::window::Limit;

/// A policy and what follows from it.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) policy: alloc::sync::Arc<Policy>,
    pub(super) buckets: Vec<Bucket>,
    /// For each row the rows whose held writes one of its own waits behind, as bits.
    conflicts: Vec<u32>,
    /// For each row the rows whose held writes one of its own drops, as bits.
    kills: Vec<u32>,
    /// For each row and reach the buckets that its writes take from, as bits.
    takes: Vec<[u32; 4]>,
    pub(super) bots: usize,
    /// Whether any row or bucket asks for topics.
    pub(super) forums: bool,
    /// Rows whose held writes keep back only those of their own route, as bits.
    by_route: u32,
    /// Whether the platform's answers teach anything.
    pub(super) learns: bool,
}

/// Which kind of peer a write goes to, as far as buckets ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Loose,
    Private,
    Group,
    Forum,
}

impl Reach {
    pub(super) fn of(kind: PeerKind, forum: bool) -> Self {
        match kind {
            PeerKind::Loose => Self::Loose,
            PeerKind::Private => Self::Private,
            PeerKind::Group if forum => Self::Forum,
            PeerKind::Group => Self::Group,
        }
    }

    fn kind(self) -> (PeerKind, bool) {
        match self {
            Self::Loose => (PeerKind::Loose, false),
            Self::Private => (PeerKind::Private, false),
            Self::Group => (PeerKind::Group, false),
            Self::Forum => (PeerKind::Group, true),
        }
    }
}

/// Buckets by their bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    bits: u32,
    buckets: &'a [Bucket],
}

impl<'a> Iterator for Bits<'a> {
    type Item = &'a Bucket;
    fn next(&mut self) -> Option<&'a Bucket> {
        let bucket = self.buckets.get(self.bits.trailing_zeros() as usize)?;
        self.bits &= self.bits - 1;
        Some(bucket)
    }
}

/// A bucket as the engine takes from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    pub(super) id: BucketId,
    pub(super) home: Home,
    pub(super) kind: Kind,
    pub(super) applies: Applies,
    pub(super) by_items: bool,
    pub(super) pass_after: Option<Span>,
    pub(super) pass_spacing: Span,
}

/// Where a bucket's state lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Bot(usize),
    PeerToken(usize),
    PeerWindow(usize),
    /// One for each topic of a peer.
    Thread,
    /// One for each message of a peer.
    Message,
    /// One for each method (of the peer, where there is one).
    Method,
    /// One for each route, told by the platform.
    Route,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Token(Rate),
    Window { limit: Limit, reserve: u32 },
    Learned,
}

impl Rules {
    pub(super) fn new(policy: alloc::sync::Arc<Policy>) -> Self {
        let (mut bots, mut peer_tokens, mut peer_windows) = (0, 0, 0);
        let next = |counter: &mut usize| {
            *counter += 1;
            *counter - 1
        };
        let mut buckets = Vec::new();
        for (def, id) in policy.buckets.iter().zip(0_u8..) {
            let kind = match def.shape {
                Shape::Token { units, period, burst } => Kind::Token(Rate::new(units, period, burst)),
                Shape::Window { units, period, reserve } => Kind::Window { limit: Limit { units, period }, reserve },
                Shape::Learned => Kind::Learned,
                Shape::Spacing { period } => Kind::Token(Rate::new(1, period, 1)),
            };
            let home = match (def.scope, kind) {
                (BucketScope::Bot, _) => Home::Bot(next(&mut bots)),
                (BucketScope::Peer, Kind::Token(_)) => Home::PeerToken(next(&mut peer_tokens)),
                (BucketScope::Peer, Kind::Window { .. } | Kind::Learned) => Home::PeerWindow(next(&mut peer_windows)),
                (BucketScope::Route, _) => Home::Route,
                (BucketScope::Thread, _) => Home::Thread,
                (BucketScope::Message, _) => Home::Message,
                (BucketScope::Method, _) => Home::Method,
            };
            buckets.push(Bucket {
                id: BucketId(id),
                home,
                kind,
                applies: def.applies,
                by_items: def.by_items,
                pass_after: def.pass_after,
                pass_spacing: def.pass_spacing,
            });
        }
        let conflicts = policy.rows.iter().map(|row| conflicts(&policy, row)).collect();
        let kills = (0_u8..)
            .zip(&policy.rows)
            .map(|(at, _)| mask(policy.rows.iter().map(|other| other.killed_by.contains(&RowId(at)))))
            .collect();
        let takes = policy.rows.iter().map(|row| takes(row, &buckets)).collect();
        let forums =
            policy.rows.iter().any(|row| row.applies == Some(Applies::Forum) || row.marks_forum != Marks::Never)
                || policy.buckets.iter().any(|bucket| bucket.applies == Applies::Forum);
        let by_route = mask(policy.rows.iter().map(|row| row.by_route(&policy)));
        let learns = policy.buckets.iter().any(|bucket| bucket.scope == BucketScope::Route);
        Self { policy, buckets, conflicts, kills, takes, bots, forums, by_route, learns }
    }

    /// The buckets that a write takes from.
    pub(super) fn buckets_of(&self, write: &WriteState) -> Bits<'_> {
        let bits = match write.paced {
            Paced::Fully => self.takes[usize::from(write.row.0)][write.reach as usize],
            Paced::Unmarked => self.row(write.row).unmarked.map_or(0, |id| 1 << id.0),
            Paced::Free | Paced::Bypass => 0,
        };
        Bits { bits, buckets: &self.buckets }
    }

    /// Those whose bits are set.
    pub(super) fn buckets_in(&self, bits: u32) -> Bits<'_> {
        Bits { bits, buckets: &self.buckets }
    }

    /// Whether a bucket of its row counts a write's peer.
    pub(super) fn applies(&self, bucket: &Bucket, write: &WriteState) -> bool {
        let (kind, forum) = write.reach.kind();
        bucket.applies_to(kind, forum)
    }

    pub(super) fn row(&self, id: RowId) -> &Row {
        self.policy.row(id)
    }

    pub(super) fn bucket(&self, id: BucketId) -> &Bucket {
        &self.buckets[usize::from(id.0)]
    }

    pub(super) fn conflicts(&self, row: RowId) -> u32 {
        self.conflicts[usize::from(row.0)]
    }

    pub(super) fn by_route(&self, row: RowId) -> bool {
        self.by_route & (1 << row.0) != 0
    }

    pub(super) fn kills(&self, row: RowId) -> u32 {
        self.kills[usize::from(row.0)]
    }
}

impl Bucket {
    pub(super) fn bit(&self) -> u32 {
        1 << self.id.0
    }

    pub(super) fn bot(&self) -> Option<usize> {
        match self.home {
            Home::Bot(at) => Some(at),
            _ => None,
        }
    }

    /// Whether a write to such a peer takes from it. A bot's bucket for all is everybody's, chat or not.
    pub(super) fn applies_to(&self, kind: PeerKind, forum: bool) -> bool {
        match self.applies {
            Applies::All if self.bot().is_some() => true,
            applies => applies.to(kind, forum),
        }
    }

    pub(super) fn weight(&self, weight: u32) -> u32 {
        if self.by_items { weight } else { 1 }
    }
}

fn takes(row: &Row, buckets: &[Bucket]) -> [u32; 4] {
    [Reach::Loose, Reach::Private, Reach::Group, Reach::Forum].map(|reach| {
        let (kind, forum) = reach.kind();
        let mine = row.buckets.iter().map(|id| &buckets[usize::from(id.0)]);
        mine.filter(|bucket| bucket.applies_to(kind, forum)).fold(0, |bits, bucket| bits | bucket.bit())
    })
}

/// A write waits behind held ones of its own surface, of another ordered row where both are, and behind those that take
/// from a bucket of the peer that it takes from too.
fn conflicts(policy: &Policy, row: &Row) -> u32 {
    let of_peer = |row: &Row| -> Vec<BucketId> {
        row.buckets.iter().copied().filter(|id| policy.bucket(*id).scope == BucketScope::Peer).collect()
    };
    let own = of_peer(row);
    mask(policy.rows.iter().map(|other| {
        (other.name == row.name && !row.by_route(policy))
            || (other.ordered && row.ordered)
            || of_peer(other).iter().any(|bucket| own.contains(bucket))
    }))
}

fn mask(bits: impl Iterator<Item = bool>) -> u32 {
    bits.zip(0_u32..).fold(0, |mask, (bit, at)| mask | (u32::from(bit) << at))
}
