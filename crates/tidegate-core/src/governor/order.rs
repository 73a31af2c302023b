//! Edits of one message: which must go before which.
//!
//! One that does not commute with an older one of its chain goes only after that one's answer: so whatever their classes,
//! methods and bookings, the message ends as if all had been sent in order.

use alloc::vec::Vec;

use super::consider::{Verdict, Wait};
use super::io::DropReason;
use super::plan::Rules;
use super::state::State;
use super::write::{NONE, WriteState};
use crate::key::UNKNOWN_FIELDS;
use crate::time::Time;
use crate::window::UNANSWERED;

/// A write's place in line, as it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    id: u32,
    seq: u64,
    rank: u8,
}

impl Rules {
    /// Whether the end is the same in either order. Edits of Telegram's replace or drop each other's content and markup.
    fn commute(&self, one: &WriteState, other: &WriteState) -> bool {
        let partial = self.row(one.origin).partial && self.row(other.origin).partial;
        partial
            && !one.fields.iter().any(|field| *field == UNKNOWN_FIELDS || other.fields.contains(field))
            && !other.fields.contains(&UNKNOWN_FIELDS)
    }

    /// Whether the newer of two edits waits for the older one's answer. Those of one kind always do.
    fn in_order(&self, older: &WriteState, newer: &WriteState) -> bool {
        newer.same_kind(older) || !self.commute(older, newer)
    }

    /// Whether what the older edit says is said by the newer one too.
    pub(super) fn covers(&self, newer: &WriteState, older: &WriteState) -> bool {
        let all = || older.fields.iter().all(|field| newer.fields.contains(field));
        newer.same_kind(older) && self.plan(newer.origin).merges && (!self.row(newer.origin).partial || all())
    }
}

impl State {
    /// An edit goes whose message has others under way.
    #[inline(never)]
    pub(super) fn went_of_chain(&mut self, rules: &Rules, id: u32) {
        // Only one that was lost can be in flight before it: it may not go again after this one.
        let lost: Vec<u32> = self
            .chain_from(self.writes[id].older)
            .filter(|older| !rules.commute(&self.writes[*older], &self.writes[id]))
            .collect();
        for older in lost {
            self.writes[older].overtaken |= !self.writes[older].is_held();
        }
        // Those of other peers that wait for it wait for its answer from now on.
        self.wake_newer(self.writes[id].newer);
    }

    /// The nearest older edit whose answer this one waits for. One that is lost is waited for no longer; those that the
    /// newest of all is to take the place of are no matter to it.
    fn waits_for(&self, rules: &Rules, id: u32) -> Option<u32> {
        let write = &self.writes[id];
        let newest = write.newer == NONE;
        self.chain_from(write.older).find(|older| {
            let older = &self.writes[*older];
            let lost = older.flying_since().is_some_and(|since| since + UNANSWERED <= self.now);
            !(lost || older.shadowed && newest) && rules.in_order(older, write)
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
                if !older.is_held() || !rules.in_order(older, write) {
                    continue;
                }
                let went = write.flying_since().is_some();
                assert!(!went || rules.commute(older, write), "{id} went before an older edit of its message");
                assert!(went || older.place() < write.place(), "{id} stands before an older edit of its message");
            }
        }
    }
}
