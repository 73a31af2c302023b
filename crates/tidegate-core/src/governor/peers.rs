//! The peers that are not as new, by key.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::peer::PeerState;
use crate::arena::Arena;
use crate::key::Peer;
use crate::table::{Entry, Table};

/// Submaps, so that no growth moves more than a sixty-fourth at once.
const SHARDS: usize = 64;
/// A submap with no more places than this keeps them.
const KEPT: usize = 64;

/// All peers.
#[derive(Debug)]
pub(super) struct Peers {
    arena: Arena<PeerState>,
    shards: Vec<Table<Mark>>,
    hasher: FixedState,
}

/// Where a peer stands, and above that some of its hash: of two hundred others that are looked at, one is taken for it
/// until their keys are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark(u32);

impl Mark {
    /// Sixteen million peers: they are far fewer.
    const BITS: u32 = 24;
    const PLACE: u32 = (1 << Self::BITS) - 1;

    fn new(hash: u64, at: u32) -> Self {
        Self(Self::upper(hash) | (at & Self::PLACE))
    }

    /// Other bits of the hash than those that say where it stands in a submap, and in which.
    #[expect(clippy::cast_possible_truncation, reason = "some bits are meant")]
    fn upper(hash: u64) -> u32 {
        hash as u32 & !Self::PLACE
    }

    #[inline]
    fn may_be(self, hash: u64) -> bool {
        (self.0 ^ Self::upper(hash)) >> Self::BITS == 0
    }

    fn peer(self) -> u32 {
        self.0 & Self::PLACE
    }
}

impl Entry for Mark {
    const FREE: Self = Self(u32::MAX);

    #[inline]
    fn is_free(self) -> bool {
        self == Self::FREE
    }
}

impl Peers {
    pub(super) fn new() -> Self {
        Self {
            arena: Arena::default(),
            shards: (0..SHARDS).map(|_| Table::new()).collect(),
            hasher: FixedState::with_seed(0x7469_6465),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.arena.len()
    }

    #[inline]
    pub(super) fn find(&self, key: &Peer) -> Option<u32> {
        self.find_hashed(hash(&self.hasher, key), key)
    }

    #[inline(always)]
    fn find_hashed(&self, hash: u64, key: &Peer) -> Option<u32> {
        let is = |mark: Mark| mark.may_be(hash) && self.arena.get(mark.peer()).is_some_and(|peer| peer.key == *key);
        self.shards[shard(hash)].find(hash, is).map(Mark::peer)
    }

    /// The peer's place, and whether it was made just now.
    #[inline(always)]
    pub(super) fn find_or_insert(&mut self, key: Peer) -> (u32, bool) {
        let hash = hash(&self.hasher, &key);
        match self.find_hashed(hash, &key) {
            Some(at) => (at, false),
            None => (self.insert(hash, key), true),
        }
    }

    #[inline(never)]
    fn insert(&mut self, key_hash: u64, key: Peer) -> u32 {
        let at = self.arena.insert(PeerState::new(key));
        let (arena, hasher) = (&self.arena, &self.hasher);
        let mark = Mark::new(key_hash, at);
        self.shards[shard(key_hash)].insert(key_hash, mark, |mark| hash(hasher, &arena[mark.peer()].key));
        at
    }

    pub(super) fn remove(&mut self, at: u32) -> Option<PeerState> {
        let (arena, hasher) = (&self.arena, &self.hasher);
        let key_hash = hash(hasher, &arena.get(at)?.key);
        let hash_of = |mark: Mark| hash(hasher, &arena[mark.peer()].key);
        let table = &mut self.shards[shard(key_hash)];
        table.remove(key_hash, |mark| mark == Mark::new(key_hash, at), hash_of);
        table.shrink(KEPT, hash_of);
        self.arena.remove(at)
    }

    #[inline]
    pub(super) fn get(&self, at: u32) -> Option<&PeerState> {
        self.arena.get(at)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: u32) -> Option<&mut PeerState> {
        self.arena.get_mut(at)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = u32> + '_ {
        self.arena.keys()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &PeerState)> + '_ {
        self.arena.iter()
    }
}

#[inline]
fn hash(hasher: &FixedState, key: &Peer) -> u64 {
    match key {
        // Nearly all of them.
        Peer::Id(id) => hasher.hash_one(*id),
        Peer::Name(_) | Peer::Inline(_) | Peer::Method(_) => hasher.hash_one(key),
    }
}

/// By the lowest bits: a table uses the upper ones.
#[expect(clippy::cast_possible_truncation, reason = "there are few")]
fn shard(hash: u64) -> usize {
    (hash % SHARDS as u64) as usize
}

impl core::ops::Index<u32> for Peers {
    type Output = PeerState;
    #[inline]
    fn index(&self, at: u32) -> &PeerState {
        &self.arena[at]
    }
}

impl core::ops::IndexMut<u32> for Peers {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut PeerState {
        &mut self.arena[at]
    }
}
