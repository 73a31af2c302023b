//! A new write that is under a budget: decided at once, or put in line.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::consider::{Go, How, Verdict};
use super::counters::Counted;
use super::io::{DropReason, Output, Write};
use super::merge::Taken;
use super::plan::{Plan, Reach, Rules};
use super::state::State;
use super::write::{Paced, Stage, WriteState};
use super::{HELD_MAX, HELD_PER_PEER_MAX, PEERS_MAX};
use crate::key::{Peer, PeerKind};
use crate::policy::{Dry, Row};
use crate::time::Span;

impl State {
    /// Takes a write in under a budget; whether it went at once, and nothing else came of it.
    #[inline(always)]
    pub(super) fn admit(&mut self, rules: &Rules, row: &Row, write: &mut Write, paced: Paced, reach: Reach) -> bool {
        let key = write.peer.take().unwrap_or(Peer::Method(write.method));
        if self.peers.len() >= PEERS_MAX && self.peers.find(&key).is_none() {
            // Once a second at most: a flood of new peers must not make every write look at all of them.
            if self.swept + Span::from_secs(1) <= self.now {
                self.swept = self.now;
                self.forget_all(rules);
            }
            if self.peers.len() >= PEERS_MAX {
                let id = self.store_apart(row, write, paced);
                self.count(rules, id, Counted::Accepted);
                self.refuse_full(rules, id, Span::from_secs(1));
                return false;
            }
        }
        let (peer, new) = self.peers.find_or_insert(key);
        if new {
            let next = self.now + Span::from_secs(1);
            self.watch(peer, next);
        }
        let deletes = write.message.filter(|_| rules.policy.deletes.contains(&write.method));
        let plan = rules.plan(write.row);
        let id = self.store(row, write, peer, paced, reach);
        if write.message.is_some() && (plan.merges || rules.policy.edits.contains(&write.method)) {
            self.join_chain(id);
        }
        if paced == Paced::Unmarked && self.peers[peer].line.is_empty() && self.bypasses(rules, id) {
            return false;
        }
        if let Some(message) = deletes {
            self.drop_edits_of(rules, peer, message);
        }
        if plan.remembers {
            self.join_stream(rules, id);
        }
        if (plan.merges || plan.spaces) && self.dropped_at_once(rules, id) {
            return false;
        }
        if self.goes_at_once(rules, plan, id) {
            return !self.instant;
        }
        if self.decide(rules, id, peer) && plan.kills != 0 {
            self.drop_killed(rules, peer, plan.kills);
        }
        false
    }

    /// A write of a group that its row does not pace takes the shared bucket and is not counted, if it can go at once.
    fn bypasses(&mut self, rules: &Rules, id: u32) -> bool {
        let Verdict::Go(go) = self.consider(rules, id, None, 0) else { return false };
        if go.how != How::Token {
            return false;
        }
        self.charge(rules, id, true);
        self.writes[id].paced = Paced::Bypass;
        self.release(rules, id, go);
        true
    }

    /// Chrome that comes too soon, or beside a named final.
    #[inline(never)]
    fn dropped_at_once(&mut self, rules: &Rules, id: u32) -> bool {
        let (write, cell) = (&self.writes[id], self.cell(rules, id));
        let chrome = write.class.is_chrome() && rules.plan(write.origin).merges;
        let reason = if chrome && self.final_near(id) {
            DropReason::Order
        } else if let Some(spacing) = cell.spacing {
            let extra = self.peers.get(write.peer).and_then(|peer| peer.extra.as_ref());
            match extra.and_then(|extra| extra.spaced) {
                Some(last) if last + spacing > self.now => DropReason::Spacing,
                _ => return false,
            }
        } else {
            return false;
        };
        self.count(rules, id, Counted::Accepted);
        self.drop_write(rules, id, reason);
        true
    }

    /// Counts a write that has just come, and lets it go in the common case: nothing stands before it and all its
    /// budgets have enough. Whether it went.
    #[inline]
    fn goes_at_once(&mut self, rules: &Rules, plan: &Plan, id: u32) -> bool {
        let mut purse = self.purse(id);
        let at_once = purse.is_alone()
            && purse.is_clear()
            && plan.next_of(purse.write).is_none()
            && plan.spread_of(purse.write).is_none();
        if !at_once || !purse.affords(plan.buckets_of(purse.write)) {
            purse.count(rules, [Counted::Accepted]);
            return false;
        }
        let gone = purse.go_at_once(rules, plan, id);
        self.follow(rules, id, Go { how: How::Token, quiet: false }, gone);
        true
    }

    /// Decides about a write that has just come and does not go at once; whether it was taken in (went or waits).
    #[inline(never)]
    fn decide(&mut self, rules: &Rules, id: u32, peer: u32) -> bool {
        if self.purse(id).is_alone() {
            let verdict = self.consider(rules, id, None, 0);
            if let Verdict::Go(go) = verdict
                && !self.next_stage(rules, id, go)
            {
                self.release(rules, id, go);
                return true;
            }
            if let Verdict::Drop(reason) = verdict {
                self.drop_write(rules, id, reason);
                return false;
            }
        }
        self.line_up(rules, id, peer)
    }

    /// Puts a write that has just come into its peer's line and looks at that; whether it was taken in.
    #[inline(never)]
    fn line_up(&mut self, rules: &Rules, id: u32, peer: u32) -> bool {
        let taken = self.shadow(rules, id);
        let ticket = self.writes[id].ticket;
        self.enline(rules, id);
        self.last_wait = None;
        self.pump(rules, peer, None);
        if self.peers.get(peer).is_some_and(|peer| peer.late) {
            // Its hold ends as it comes: it is refused only if it has no turn at this moment either.
            while self.serve_any(rules) {}
        }
        // A number may be used again as soon as its write has ended, but not before this input is done with.
        let waits = self.tickets.get(ticket) == Some(id) && self.writes.get(id).is_some_and(WriteState::is_held);
        if !waits {
            let went = self.went(ticket);
            if went {
                self.supersede(rules, ticket, Some(id), &taken.older);
            } else {
                self.unshadow(&taken);
                self.enqueue(peer);
            }
            return went;
        }
        self.hold(rules, id, &taken)
    }

    /// The write does not go now: what its row does then. Whether it is held.
    fn hold(&mut self, rules: &Rules, id: u32, taken: &Taken) -> bool {
        let (peer, older) = (self.writes[id].peer, &taken.older);
        let why = self.last_wait.filter(|(other, _)| *other == id).map_or(DropReason::Order, |(_, why)| why);
        if self.cell(rules, id).dry == Dry::Drop && self.may_drop(rules, id) {
            self.unline(id);
            self.unshadow(taken);
            self.drop_write(rules, id, why);
            self.enqueue(peer);
            return false;
        }
        if self.peers[peer].held() - older.len() > HELD_PER_PEER_MAX as usize || self.held - older.len() > HELD_MAX {
            let at = self.forecast(rules, peer).into_iter().find(|(other, _)| *other == id).map(|(_, at)| at);
            let wait = at.unwrap_or(self.now).since(self.now);
            self.unshadow(taken);
            self.refuse_full(rules, id, wait);
            self.enqueue(peer);
            return false;
        }
        let ticket = self.writes[id].ticket;
        self.review(rules, peer);
        let held = self.writes.get(id).is_some_and(|write| write.ticket == ticket && write.is_held());
        if held {
            self.writes[id].waited = true;
            self.supersede(rules, ticket, Some(id), older);
        } else {
            self.unshadow(taken);
        }
        self.enqueue(peer);
        held
    }

    /// A dropped partial edit is answered with the message as it was delivered last; one that is not known must be told
    /// by the platform.
    fn may_drop(&self, rules: &Rules, id: u32) -> bool {
        let write = &self.writes[id];
        let (row, peer) = (rules.row(write.origin), self.peers.get(write.peer));
        let known =
            |message| peer.and_then(|peer| peer.extra.as_ref()).is_some_and(|extra| extra.known.contains(&message));
        !row.partial || write.message.is_none_or(known)
    }

    /// Whether the last word on this ticket in this input was that it goes.
    fn went(&self, ticket: super::Ticket) -> bool {
        let last = self.outputs.iter().rev().find_map(|output| match output {
            Output::Send { ticket: other, .. } if *other == ticket => Some(true),
            Output::Drop { ticket: other, .. } | Output::Refuse { ticket: other, .. } if *other == ticket => {
                Some(false)
            }
            _ => None,
        });
        last.unwrap_or(false)
    }

    /// The oldest booking of its row that is due gives the write its place.
    pub(super) fn claim(&mut self, id: u32) {
        let write = &self.writes[id];
        let Some(peer) = self.peers.get(write.peer).filter(|peer| peer.booked > 0) else { return };
        let due = peer.line.iter().copied().filter(|other| {
            let other = &self.writes[*other];
            other.origin == write.origin && matches!(other.stage, Stage::Booked { due, .. } if due <= self.now)
        });
        if let Some(oldest) = due.min_by_key(|id| self.writes[*id].seq) {
            self.writes[id].seq = self.writes[oldest].seq;
            self.forget_booking(oldest);
        }
    }

    pub(super) fn reach(&self, rules: &Rules, peer: u32) -> Reach {
        let Some(peer) = self.peers.get(peer) else { return Reach::Loose };
        let kind = peer.key.kind();
        Reach::of(kind, rules.forums && kind == PeerKind::Group && self.forums.get(&peer.key).is_some())
    }
}
