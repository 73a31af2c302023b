//! Latest wins: which held edits a newer one covers, and what a message's fate does to its edits.

use alloc::vec::Vec;

use super::counters::Counted;
use super::io::{DropReason, Output};
use super::order::Place;
use super::plan::Rules;
use super::state::State;
use crate::key::MessageKey;

/// Messages of a peer that are being streamed at once.
const STREAMS: usize = 32;

/// What a new edit takes the place of, as long as it is being decided.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) older: Vec<u32>,
    /// The places of the message's other edits as they were before.
    places: Vec<Place>,
}

impl State {
    /// The held edits of the same message that this one covers, the latest first. A partial edit covers one only when it
    /// has every field of that and of all later ones of its kind. None reaches over what may end the message's edits (a
    /// poll that is stopped): what comes after that may change nothing any more.
    fn covered(&self, rules: &Rules, id: u32) -> Vec<u32> {
        let write = &self.writes[id];
        let edits = self.chain_from(write.older).take_while(|older| self.is_edit(rules, *older));
        let kind = edits.filter(|older| self.writes[*older].same_kind(write));
        kind.filter(|older| self.writes[*older].is_held())
            .take_while(|older| rules.covers(write, &self.writes[*older]))
            .collect()
    }

    /// Whether it is of a row of edits: another may end what edits of the message change.
    pub(super) fn is_edit(&self, rules: &Rules, id: u32) -> bool {
        rules.plan(self.writes[id].origin).merges
    }

    /// The newer write takes the place in line of those it covers: until it is decided they are as if not there. Where
    /// others of the message stand between, those move up and the newer write comes last, so that all stay in order.
    pub(super) fn shadow(&mut self, rules: &Rules, id: u32) -> Taken {
        let older = self.covered(rules, id);
        if older.is_empty() {
            self.claim(id);
        }
        for old in &older {
            self.writes[*old].shadowed = true;
            let old = &self.writes[*old];
            let (staged, row, arrived) = (old.staged, old.row, old.arrived);
            let newer = &mut self.writes[id];
            if staged {
                newer.staged = true;
                newer.row = row;
            }
            if newer.arrived.since(arrived) < rules.policy.settle {
                newer.settles_at = Some(newer.arrived + rules.policy.settle);
                self.note_stream(rules, id);
            }
        }
        let places = self.arrange(id);
        Taken { older, places }
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
    pub(super) fn unshadow(&mut self, taken: &Taken) {
        for id in &taken.older {
            if let Some(old) = self.writes.get_mut(*id) {
                old.shadowed = false;
            }
        }
        self.rearrange(&taken.places);
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

    /// Whether a named final of the edit's message is held, in flight, or was delivered a moment ago.
    #[inline]
    pub(super) fn final_near(&self, id: u32) -> bool {
        let write = &self.writes[id];
        let (Some(state), Some(message)) = (self.peers.get(write.peer), write.message) else { return false };
        if self.chain_from(write.older).any(|older| self.writes[older].named_final()) {
            return true;
        }
        let finals = state.extra.iter().flat_map(|extra| &extra.finals);
        finals.into_iter().any(|(other, until)| *other == message && *until > self.now)
    }

    /// The message is being deleted: what would edit it is dropped.
    pub(super) fn drop_edits_of(&mut self, rules: &Rules, peer: u32, message: MessageKey) {
        let edits: Vec<u32> = self.chain_from(self.newest_of(peer, message)).collect();
        for id in edits {
            if self.writes[id].is_held() {
                self.unline(id);
                self.drop_write(rules, id, DropReason::Order);
            }
        }
    }

    /// A write goes to the peer: what it makes pointless, of the rows whose bits are set, is dropped.
    #[inline(never)]
    pub(super) fn drop_killed(&mut self, rules: &Rules, peer: u32, kills: u32) {
        if self.peers.get(peer).is_none_or(|peer| peer.line.is_empty()) {
            return;
        }
        let line = self.peers.get(peer).map(|peer| peer.line.clone()).unwrap_or_default();
        for id in line {
            if self.writes[id].is_held() && kills & (1 << self.writes[id].origin.0) != 0 {
                self.unline(id);
                self.drop_write(rules, id, DropReason::Sent);
            }
        }
    }
}
