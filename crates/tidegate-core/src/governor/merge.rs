//! Latest wins: which held edits a newer one covers, and what a message's fate does to its edits.

use alloc::vec::Vec;

use super::counters::Counted;
use super::io::{DropReason, Output};
use super::plan::Rules;
use super::state::State;
use super::write::NONE;
use crate::key::MessageKey;

/// Messages of a peer that are being streamed at once.
const STREAMS: usize = 32;

impl State {
    /// The held edits of the same message that this one covers, the latest first. A partial edit covers one only when it
    /// has every field of that and of all later ones.
    pub(super) fn covered(&self, rules: &Rules, id: u32) -> Vec<u32> {
        let write = &self.writes[id];
        let merges = rules.plan(write.origin).merges;
        let Some(peer) = self.peers.get(write.peer).filter(|_| merges && write.message.is_some()) else {
            return Vec::new();
        };
        let mut older: Vec<u32> = peer
            .line
            .iter()
            .copied()
            .filter(|id| self.writes[*id].is_held() && self.writes[*id].same_target(write.message, write.method))
            .collect();
        older.sort_by_key(|id| core::cmp::Reverse(self.writes[*id].seq));
        if rules.row(write.origin).partial {
            let covers = |id: &u32| self.writes[*id].fields.iter().all(|field| write.fields.contains(field));
            let reach = older.iter().position(|id| !covers(id)).unwrap_or(older.len());
            older.truncate(reach);
        }
        older
    }

    /// The newer write takes the place in line of those it covers: until it is decided they are as if not there.
    pub(super) fn shadow(&mut self, rules: &Rules, id: u32, older: &[u32]) {
        for old in older {
            self.writes[*old].shadowed = true;
            let old = &self.writes[*old];
            let (seq, staged, row, arrived) = (old.seq, old.staged, old.row, old.arrived);
            let newer = &mut self.writes[id];
            newer.seq = newer.seq.min(seq);
            if staged {
                newer.staged = true;
                newer.row = row;
            }
            if newer.arrived.since(arrived) < rules.policy.settle {
                newer.settles_at = Some(newer.arrived + rules.policy.settle);
                self.note_stream(rules, id);
            }
        }
    }

    /// An edit that comes shortly after one of a stream belongs to it too, whatever became of that one: it is settled if
    /// none follows. Else the end of a stream that comes just behind a preview would wait as long as a preview.
    pub(super) fn join_stream(&mut self, rules: &Rules, id: u32) {
        let (now, settle, write) = (self.now, rules.policy.settle, &self.writes[id]);
        let (Some(message), Some(_)) = (write.message, rules.row(write.row).spread) else { return };
        let Some(extra) = self.peers.get(write.peer).and_then(|peer| peer.extra.as_ref()) else { return };
        if extra.streams.iter().any(|(other, at)| *other == message && *at + settle > now) && !write.class.is_chrome() {
            self.writes[id].settles_at = Some(now + settle);
            self.note_stream(rules, id);
        }
    }

    /// The write is one of a stream of edits: it came shortly after one that it took the place of.
    fn note_stream(&mut self, rules: &Rules, id: u32) {
        let (now, settle, write) = (self.now, rules.policy.settle, &self.writes[id]);
        let Some(message) = write.message else { return };
        let Some(peer) = self.peers.get_mut(write.peer) else { return };
        let extra = peer.extra();
        extra.streams.retain(|(other, at)| *other != message && *at + settle > now);
        if extra.streams.len() < STREAMS {
            extra.streams.push((message, now));
        }
        extra.remembers_until = extra.remembers_until.max(now + settle);
    }

    /// The newer write was not taken in after all.
    pub(super) fn unshadow(&mut self, older: &[u32]) {
        for id in older {
            if let Some(old) = self.writes.get_mut(*id) {
                old.shadowed = false;
            }
        }
    }

    /// The newer write stands (or went) in the others' place; it owes their clients an answer.
    pub(super) fn supersede(&mut self, rules: &Rules, by: super::Ticket, newer: Option<u32>, older: &[u32]) {
        for id in older {
            self.unline(*id);
            self.outputs.push_back(Output::Superseded { ticket: self.writes[*id].ticket, by });
            self.count(rules, *id, Counted::Superseded);
            self.end(*id);
        }
        if let Some(newer) = newer.and_then(|newer| self.writes.get_mut(newer)) {
            newer.superseded |= !older.is_empty();
        }
    }

    /// An edit goes that no budget holds: older ones of its message neither wait nor go again.
    pub(super) fn overtake_all(&mut self, rules: &Rules, peer: u32, write: &super::Write) {
        if !rules.row(write.row).merges() || write.message.is_none() {
            return;
        }
        let (message, method) = (write.message, write.method);
        let line = self.peers.get(peer).map(|peer| peer.line.clone()).unwrap_or_default();
        let older: Vec<u32> = line
            .into_iter()
            .filter(|id| self.writes[*id].is_held() && self.writes[*id].same_target(message, method))
            .collect();
        self.supersede(rules, write.ticket, None, &older);
        self.overtake(peer, message, method, u64::MAX);
        self.enqueue(peer);
    }

    /// An edit of the message goes: older ones in flight may not come back after it.
    pub(super) fn overtake(&mut self, peer: u32, message: Option<MessageKey>, method: crate::key::MethodKey, seq: u64) {
        let mut at = self.peers.get(peer).map_or(NONE, |peer| peer.flying);
        while at != NONE {
            let other = &mut self.writes[at];
            other.overtaken |= other.seq < seq && other.same_target(message, method);
            at = other.next;
        }
    }

    /// Whether a named final of the message is held, in flight, or was delivered a moment ago.
    #[inline]
    pub(super) fn final_near(&self, peer: u32, message: Option<MessageKey>) -> bool {
        let (Some(state), Some(message)) = (self.peers.get(peer), message) else { return false };
        let is_it = |id: u32| self.writes[id].named_final() && self.writes[id].message == Some(message);
        if state.line.iter().any(|id| self.writes[*id].is_held() && is_it(*id)) {
            return true;
        }
        let mut at = state.flying;
        while at != NONE {
            if is_it(at) {
                return true;
            }
            at = self.writes[at].next;
        }
        let finals = state.extra.iter().flat_map(|extra| &extra.finals);
        finals.into_iter().any(|(other, until)| *other == message && *until > self.now)
    }

    /// The message is being deleted: what would edit it is dropped.
    pub(super) fn drop_edits_of(&mut self, rules: &Rules, peer: u32, message: MessageKey) {
        self.drop_held(rules, peer, DropReason::Order, |state, id| {
            state.writes[id].message == Some(message) && rules.plan(state.writes[id].origin).merges
        });
    }

    /// A write goes to the peer: what it makes pointless, of the rows whose bits are set, is dropped.
    #[inline(never)]
    pub(super) fn drop_killed(&mut self, rules: &Rules, peer: u32, kills: u32) {
        if self.peers.get(peer).is_none_or(|peer| peer.line.is_empty()) {
            return;
        }
        self.drop_held(rules, peer, DropReason::Sent, |state, id| kills & (1 << state.writes[id].origin.0) != 0);
    }

    fn drop_held(&mut self, rules: &Rules, peer: u32, reason: DropReason, which: impl Fn(&Self, u32) -> bool) {
        let line = self.peers.get(peer).map(|peer| peer.line.clone()).unwrap_or_default();
        for id in line {
            if self.writes[id].is_held() && which(self, id) {
                self.unline(id);
                self.drop_write(rules, id, reason);
            }
        }
    }
}
