//! What the engine derives from a policy once, so that a decision does not.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use alloc::vec::Vec;

use super::io::Class;
use super::store::{Bucket, Places, Store};
use super::write::{Paced, WriteState};
use crate::key::PeerKind;
use crate::policy::{Applies, BucketId, BucketScope, Marks, Policy, Row, RowId};
use crate::window::Limit;

/// A policy and what follows from it.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) policy: alloc::sync::Arc<Policy>,
    pub(super) buckets: Vec<Bucket>,
    rows: Vec<Plan>,
    pub(super) bots: usize,
    /// Whether any row or bucket asks for topics.
    pub(super) forums: bool,
    /// Whether the platform's answers teach anything.
    pub(super) learns: bool,
}

/// What follows from a row.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for one property of the row")]
pub(super) struct Plan {
    /// For each reach the buckets that its writes take from.
    takes: [Vec<Bucket>; 4],
    /// The bucket that groups outside its reach take alone.
    unmarked: Vec<Bucket>,
    /// The rows whose held writes one of its own waits behind, as bits.
    pub(super) conflicts: u32,
    /// The rows whose held writes one of its own drops, as bits.
    pub(super) kills: u32,
    pub(super) ordered: bool,
    /// A newer write of a message can take an older one's place.
    pub(super) merges: bool,
    /// Held writes keep back only those of their own route.
    pub(super) by_route: bool,
    /// It takes from what the platform tells of routes.
    pub(super) of_route: bool,
    then: Option<RowId>,
    /// Some of its classes keep a distance.
    pub(super) spaces: bool,
    /// Releases are remembered by the peer beyond its buckets.
    pub(super) remembers: bool,
    /// For each reach the peer's window that its previews are spread over.
    spread: [Option<(usize, Limit)>; 4],
}

/// Which kind of peer a write goes to, as far as buckets ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Loose,
    Private,
    Group,
    Forum,
}

const REACHES: [Reach; 4] = [Reach::Loose, Reach::Private, Reach::Group, Reach::Forum];

impl Reach {
    pub(super) fn of(kind: PeerKind, forum: bool) -> Self {
        match kind {
            PeerKind::Loose => Self::Loose,
            PeerKind::Private => Self::Private,
            PeerKind::Group if forum => Self::Forum,
            PeerKind::Group => Self::Group,
        }
    }

    pub(super) fn is_group(self) -> bool {
        matches!(self, Self::Group | Self::Forum)
    }

    pub(super) fn is_in(self, applies: Applies) -> bool {
        let (kind, forum) = self.kind();
        applies.to(kind, forum)
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
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    bits: u32,
    buckets: &'a [Bucket],
}

impl<'a> Iterator for Bits<'a> {
    type Item = &'a Bucket;
    #[inline]
    fn next(&mut self) -> Option<&'a Bucket> {
        let bucket = self.buckets.get(self.bits.trailing_zeros() as usize)?;
        self.bits &= self.bits - 1;
        Some(bucket)
    }
}

impl Rules {
    pub(super) fn new(policy: alloc::sync::Arc<Policy>) -> Self {
        let mut places = Places::default();
        let ids = (0_u8..).map(BucketId);
        let buckets: Vec<Bucket> =
            policy.buckets.iter().zip(ids).map(|(def, id)| Bucket::new(id, def, &mut places)).collect();
        let rows = (0_u8..).zip(&policy.rows).map(|(at, row)| Plan::new(&policy, &buckets, RowId(at), row)).collect();
        let forums =
            policy.rows.iter().any(|row| row.applies == Some(Applies::Forum) || row.marks_forum != Marks::Never)
                || policy.buckets.iter().any(|bucket| bucket.applies == Applies::Forum);
        let learns = policy.buckets.iter().any(|bucket| bucket.scope == BucketScope::Route);
        Self { policy, buckets, rows, bots: places.bots, forums, learns }
    }

    /// The buckets that a write takes from.
    #[inline]
    pub(super) fn buckets_of(&self, write: &WriteState) -> &[Bucket] {
        self.plan(write.row).buckets_of(write)
    }

    /// Those whose bits are set.
    pub(super) fn buckets_in(&self, bits: u32) -> Bits<'_> {
        Bits { bits, buckets: &self.buckets }
    }

    pub(super) fn row(&self, id: RowId) -> &Row {
        self.policy.row(id)
    }

    /// What follows from that row.
    #[inline]
    pub(super) fn plan(&self, id: RowId) -> &Plan {
        &self.rows[usize::from(id.0)]
    }

    /// The row itself, or the last one where it is of another table.
    pub(super) fn known(&self, id: RowId) -> RowId {
        RowId(id.0.min(u8::try_from(self.rows.len() - 1).unwrap_or(u8::MAX)))
    }
}

impl Plan {
    fn new(policy: &Policy, buckets: &[Bucket], id: RowId, row: &Row) -> Self {
        let mine = buckets.iter().filter(|bucket| row.buckets.contains(&bucket.id));
        let spread = row.spread.map(|id| &buckets[usize::from(id.0)]);
        let spread = spread.and_then(|bucket| match bucket.store {
            Store::PeerWindow(slot, limit, _) => Some((bucket, (slot, limit))),
            _ => None,
        });
        Self {
            takes: REACHES.map(|reach| mine.clone().filter(|bucket| bucket.counts(reach)).copied().collect()),
            unmarked: row.unmarked.iter().map(|id| buckets[usize::from(id.0)]).collect(),
            conflicts: conflicts(policy, row),
            kills: mask(policy.rows.iter().map(|other| other.killed_by.contains(&id))),
            ordered: row.ordered,
            merges: row.merges(),
            by_route: row.by_route(policy),
            of_route: row.buckets.iter().any(|id| matches!(buckets[usize::from(id.0)].store, Store::Route)),
            then: row.then,
            spaces: row.cells.iter().any(|cell| cell.spacing.is_some()),
            remembers: row.spread.is_some()
                || row.cells.iter().any(|cell| cell.pass_limit.is_some() || cell.spacing.is_some()),
            spread: REACHES.map(|reach| spread.filter(|(bucket, _)| bucket.counts(reach)).map(|(_, window)| window)),
        }
    }

    /// The buckets that a write of this row takes from.
    #[inline(always)]
    pub(super) fn buckets_of(&self, write: &WriteState) -> &[Bucket] {
        match write.paced {
            Paced::Fully => &self.takes[write.reach as usize],
            Paced::Unmarked => &self.unmarked,
            Paced::Free | Paced::Bypass => &[],
        }
    }

    /// The row in whose line a write of this one goes on to wait.
    #[inline]
    pub(super) fn next_of(&self, write: &WriteState) -> Option<RowId> {
        self.then.filter(|_| write.paced == Paced::Fully && !write.staged)
    }

    /// The window that the previews of a write of this row are spread over, where they are.
    #[inline]
    pub(super) fn spread_of(&self, write: &WriteState) -> Option<(usize, Limit)> {
        if write.rank == Class::Interactive.rank() || write.paced != Paced::Fully {
            return None;
        }
        self.spread(write.reach)
    }

    /// The window that previews of such a peer are spread over.
    #[inline]
    pub(super) fn spread(&self, reach: Reach) -> Option<(usize, Limit)> {
        self.spread[reach as usize]
    }
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
