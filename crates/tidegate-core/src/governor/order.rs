//! Edits of one message: which must go before which.
//!
//! All that are under way (held, in flight, or awaiting their retry) stand in their message's chain, in the order in which
//! they came. One that does not commute with an older one goes only after that one's answer: so whatever their classes,
//! methods and bookings, the message ends as if all had been sent in order.

use alloc::vec::Vec;

use super::consider::{Verdict, Wait};
use super::io::DropReason;
use super::plan::Rules;
use super::state::State;
use super::write::{NONE, WriteState};
use crate::arena::Arena;
use crate::key::{MessageKey, UNKNOWN_FIELDS};
use crate::policy::Platform;
use crate::table::{Entry, Table};
use crate::time::Time;
use crate::window::UNANSWERED;

/// A table with no more places than this keeps them.
const KEPT: usize = 1_024;

/// Each message's chain, found by its newest edit.
#[derive(Debug)]
pub(super) struct Messages {
    table: Table<Newest>,
    ids: Ids,
}

/// What has a chain of its own.
#[derive(Clone, Copy, Debug)]
struct Ids {
    /// A message has the same id wherever it is named from.
    unique: bool,
}

#[derive(Clone, Copy, Debug)]
struct Newest(u32);

impl Entry for Newest {
    const FREE: Self = Self(NONE);

    #[inline]
    fn is_free(self) -> bool {
        self.0 == NONE
    }
}

/// A message of a peer, or a message alone.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Target {
    peer: u32,
    message: MessageKey,
}

impl Target {
    /// Ids that follow one another stand far apart.
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (self.message.0 ^ u64::from(self.peer).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

/// A write's place in line, as it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    id: u32,
    seq: u64,
    rank: u8,
}

impl Ids {
    #[inline]
    fn target(self, peer: u32, message: MessageKey) -> Target {
        Target { peer: if self.unique && message.is_id() { NONE } else { peer }, message }
    }

    #[inline]
    fn of(self, write: &WriteState) -> Option<Target> {
        Some(self.target(write.peer, write.message?))
    }

    /// The hash of a chain, by one of its edits.
    fn hash(self, writes: &Arena<WriteState>, newest: Newest) -> u64 {
        self.of(&writes[newest.0]).map_or(0, Target::hash)
    }
}

impl Messages {
    pub(super) fn new(platform: Platform) -> Self {
        // Discord's ids are snowflakes: a message of a webhook is also one of its channel.
        Self { table: Table::new(), ids: Ids { unique: platform == Platform::Discord } }
    }

    /// Gives memory back that a rush took.
    pub(super) fn shrink(&mut self, writes: &Arena<WriteState>) {
        let ids = self.ids;
        self.table.shrink(KEPT, |newest| ids.hash(writes, newest));
    }
}

impl State {
    /// The edit has come: it is the newest of its message.
    pub(super) fn join_chain(&mut self, id: u32) {
        let Self { messages: Messages { table, ids }, writes, .. } = self;
        let Some(target) = ids.of(&writes[id]) else { return };
        let is = |newest: Newest| ids.of(&writes[newest.0]) == Some(target);
        match table.replace(target.hash(), is, Newest(id)) {
            Some(Newest(older)) => {
                writes[older].newer = id;
                writes[id].older = older;
            }
            None => table.insert(target.hash(), Newest(id), |newest| ids.hash(writes, newest)),
        }
        writes[id].chained = true;
    }

    /// The edit is no longer under way: those that waited for it may go.
    pub(super) fn leave_chain(&mut self, id: u32) {
        let Self { messages: Messages { table, ids }, writes, .. } = self;
        let Some(target) = ids.of(&writes[id]).filter(|_| writes[id].chained) else { return };
        let (older, newer) = (writes[id].older, writes[id].newer);
        if newer == NONE {
            let is = |newest: Newest| newest.0 == id;
            if older == NONE {
                table.remove(target.hash(), is, |newest| ids.hash(writes, newest));
            } else {
                table.replace(target.hash(), is, Newest(older));
            }
        } else {
            writes[newer].older = older;
        }
        if older != NONE {
            writes[older].newer = newer;
        }
        let write = &mut writes[id];
        (write.chained, write.older, write.newer) = (false, NONE, NONE);
        if newer != NONE {
            self.wake_newer(newer);
        }
    }

    /// The newest edit of the message that is under way, or [`NONE`].
    pub(super) fn newest_of(&self, peer: u32, message: MessageKey) -> u32 {
        let (table, ids) = (&self.messages.table, self.messages.ids);
        let target = ids.target(peer, message);
        let is = |newest: Newest| ids.of(&self.writes[newest.0]) == Some(target);
        table.find(target.hash(), is).map_or(NONE, |newest| newest.0)
    }

    /// This one of a chain and all that came before it, the newest first.
    pub(super) fn chain_from(&self, newest: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| Some(id).filter(|id| *id != NONE);
        core::iter::successors(some(newest), move |id| some(self.writes[*id].older))
    }

    /// From this one of a chain on, lines are looked at again.
    fn wake_newer(&mut self, first: u32) {
        let mut at = first;
        while at != NONE {
            let (peer, newer) = (self.writes[at].peer, self.writes[at].newer);
            self.enqueue(peer);
            at = newer;
        }
    }

    /// An edit goes whose message has others under way.
    #[inline(never)]
    pub(super) fn went_of_chain(&mut self, rules: &Rules, id: u32) {
        // Only one that was lost can be in flight before it: it may not go again after this one.
        let lost: Vec<u32> = self
            .chain_from(self.writes[id].older)
            .filter(|older| !self.commute(rules, &self.writes[*older], &self.writes[id]))
            .collect();
        for older in lost {
            self.writes[older].overtaken |= !self.writes[older].is_held();
        }
        // Those of other peers that wait for it wait for its answer from now on.
        self.wake_newer(self.writes[id].newer);
    }

    /// Whether the end is the same in either order. Edits of Telegram's replace or drop each other's content and markup.
    fn commute(&self, rules: &Rules, one: &WriteState, other: &WriteState) -> bool {
        let partial = rules.row(one.origin).partial && rules.row(other.origin).partial;
        partial
            && !one.fields.iter().any(|field| *field == UNKNOWN_FIELDS || other.fields.contains(field))
            && !other.fields.contains(&UNKNOWN_FIELDS)
    }

    /// Whether the newer of two edits waits for the older one's answer. Those of one kind always do.
    fn in_order(&self, rules: &Rules, older: &WriteState, newer: &WriteState) -> bool {
        newer.same_kind(older) || !self.commute(rules, older, newer)
    }

    /// Whether what the older edit says is said by the newer one too.
    pub(super) fn covers(&self, rules: &Rules, newer: &WriteState, older: &WriteState) -> bool {
        let all = || older.fields.iter().all(|field| newer.fields.contains(field));
        newer.same_kind(older) && rules.plan(newer.origin).merges && (!rules.row(newer.origin).partial || all())
    }

    /// The nearest older edit whose answer this one waits for. One that is lost is waited for no longer; those that the
    /// newest of all is to take the place of are no matter to it.
    fn waits_for(&self, rules: &Rules, id: u32) -> Option<u32> {
        let write = &self.writes[id];
        let newest = write.newer == NONE;
        self.chain_from(write.older).find(|older| {
            let older = &self.writes[*older];
            let lost = older.flying_since().is_some_and(|since| since + UNANSWERED <= self.now);
            !lost && !(older.shadowed && newest) && self.in_order(rules, older, write)
        })
    }

    /// What an older edit of its message says to one that stands at the head of its line.
    #[inline]
    pub(super) fn behind_older(&self, rules: &Rules, id: u32) -> Option<Verdict> {
        if self.writes[id].older == NONE { None } else { self.behind(rules, id) }
    }

    #[inline(never)]
    fn behind(&self, rules: &Rules, id: u32) -> Option<Verdict> {
        let (write, older) = (&self.writes[id], &self.writes[self.waits_for(rules, id)?]);
        // A held one keeps others back itself, where anybody is to wait; one of another peer is no matter to this line.
        let holds_back = !older.is_held() && !self.unsettled(rules, write) && older.peer == write.peer;
        let wake = older.flying_since().map_or(Time::NEVER, |since| since + UNANSWERED);
        Some(Verdict::Wait(Wait { why: DropReason::Order, wake, holds_back, bot: None }))
    }

    /// When the edit that it waits for would go, by a forecast that has come as far as this one.
    pub(super) fn after_older(&self, rules: &Rules, id: u32, forecast: &[(u32, Time)]) -> Time {
        let older = if self.writes[id].older == NONE { None } else { self.waits_for(rules, id) };
        let found = older.and_then(|older| forecast.iter().rev().find(|(other, _)| *other == older));
        found.map_or(self.now, |(_, at)| *at)
    }

    /// The places in line of a message's edits are given out anew, in the order of the chain, and each becomes as urgent as
    /// the most urgent behind it: so what must go first stands first. The newest takes part though it is in no line yet;
    /// those whose place it takes do not. Returns the places as they were.
    pub(super) fn arrange(&mut self, newest: u32) -> Vec<Place> {
        if self.writes[newest].older == NONE {
            return Vec::new();
        }
        let chain: Vec<u32> = self.chain_from(newest).collect();
        let mut seqs: Vec<u64> = chain.iter().map(|id| self.writes[*id].seq).collect();
        seqs.sort_unstable();
        let staying: Vec<u32> = chain.into_iter().filter(|id| !self.writes[*id].shadowed).collect();
        let mut before = Vec::new();
        let mut rank = u8::MAX;
        for (id, seq) in staying.iter().zip(seqs[..staying.len()].iter().rev()) {
            let write = &mut self.writes[*id];
            rank = rank.min(write.rank);
            if (write.seq, write.rank) != (*seq, rank) {
                before.push(Place { id: *id, seq: write.seq, rank: write.rank });
                (write.seq, write.rank) = (*seq, rank);
            }
        }
        self.sort_lines(&before);
        before
    }

    /// Puts back what [`Self::arrange`] changed.
    pub(super) fn rearrange(&mut self, places: &[Place]) {
        for place in places {
            if let Some(write) = self.writes.get_mut(place.id) {
                (write.seq, write.rank) = (place.seq, place.rank);
            }
        }
        self.sort_lines(places);
    }

    /// Edits to a chat by two names turn out to be edits to one: `moved`, now of the other name, join its chains. What
    /// left already went first, whenever it came.
    pub(super) fn join_chains(&mut self, rules: &Rules, moved: &[u32]) {
        for id in moved.iter().copied() {
            let Some(message) = self.writes.get(id).filter(|write| !write.chained).and_then(|write| write.message) else {
                continue;
            };
            let mut all: Vec<u32> = self.chain_from(self.newest_of(self.writes[id].peer, message)).collect();
            for id in &all {
                self.leave_chain(*id);
            }
            let joins = |id: &&u32| {
                self.writes.get(**id).is_some_and(|write| !write.chained && write.message == Some(message))
            };
            all.extend(moved.iter().filter(joins));
            all.sort_by_key(|id| {
                let write = &self.writes[*id];
                (write.is_held(), write.arrived, write.seq)
            });
            for id in &all {
                self.join_chain(*id);
            }
            self.drop_outdated(rules, &all);
            if let Some(newest) = all.into_iter().rev().find(|id| self.writes.get(*id).is_some()) {
                self.arrange(newest);
            }
        }
    }

    /// What a newer edit covers that left under the other name does not go any more.
    fn drop_outdated(&mut self, rules: &Rules, chain: &[u32]) {
        for id in chain {
            let write = &self.writes[*id];
            let by = chain.iter().find(|by| {
                let by = &self.writes[**by];
                write.is_held() && !by.is_held() && by.arrived > write.arrived && self.covers(rules, by, write)
            });
            if let Some(by) = by {
                let (ticket, by) = (self.writes[*by].ticket, *by);
                self.supersede(rules, ticket, Some(by), &[*id]);
            }
        }
    }

    fn sort_lines(&mut self, changed: &[Place]) {
        for place in changed {
            let writes = &self.writes;
            let peer = writes.get(place.id).map_or(NONE, |write| write.peer);
            if let Some(peer) = self.peers.get_mut(peer) {
                peer.line.sort_by_key(|id| writes[*id].place());
            }
        }
    }

    /// Panics where an edit went before an older one that it does not commute with, or stands before one that it waits for.
    pub(super) fn check_order(&self, rules: &Rules) {
        for (id, write) in self.writes.iter().filter(|(_, write)| write.older != NONE) {
            for older in self.chain_from(write.older) {
                let older = &self.writes[older];
                if !older.is_held() || !self.in_order(rules, older, write) {
                    continue;
                }
                let went = write.flying_since().is_some();
                assert!(!went || self.commute(rules, older, write), "{id} went before an older edit of its message");
                assert!(went || older.place() < write.place(), "{id} stands before an older edit of its message");
            }
        }
    }
}
