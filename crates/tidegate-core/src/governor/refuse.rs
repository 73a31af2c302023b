//! Ends that are not releases: dropped, refused with or without a place kept, cancelled.

use alloc::boxed::Box;

use super::counters::Counted;
use super::io::{DropReason, Output, RefuseReason};
use super::plan::Rules;
use super::pump::Waiting;
use super::state::State;
use super::write::{NONE, Stage};
use super::{BOOKED_PER_PEER_MAX, Ticket};
use crate::policy::{PastHold, Platform};
use crate::time::{Span, Time};

/// A place is kept so long past the moment that its client was told.
const BOOKING_GRACE: Span = Span::from_secs(2);

/// What to tell a client whose write waits for the answer to another.
const UNKNOWN_WAIT: Span = Span::from_secs(1);

impl State {
    /// Drops a write that stands in no line.
    pub(super) fn drop_write(&mut self, rules: &Rules, id: u32, reason: DropReason) {
        self.outputs.push_back(Output::Drop { ticket: self.writes[id].ticket, reason });
        self.count(rules, id, Counted::Dropped);
        self.end(id);
    }

    /// Refuses a held write because something cools for too long; nothing is booked.
    pub(super) fn refuse_cold(&mut self, rules: &Rules, id: u32, until: Time) {
        self.unline(id);
        let retry_after = until.since(self.now);
        let ticket = self.writes[id].ticket;
        self.outputs.push_back(Output::Refuse { ticket, retry_after, reason: RefuseReason::Cooldown });
        self.count(rules, id, Counted::Refused);
        self.end(id);
    }

    /// Refuses a held write because too many are.
    pub(super) fn refuse_full(&mut self, rules: &Rules, id: u32, retry_after: Span) {
        self.unline(id);
        let ticket = self.writes[id].ticket;
        let retry_after = retry_after.max(Span::from_secs(1));
        self.outputs.push_back(Output::Refuse { ticket, retry_after, reason: RefuseReason::QueueFull });
        self.count(rules, id, Counted::Refused);
        self.end(id);
    }

    /// Refuses a held write that would go at `at`, and keeps its place for then.
    fn refuse_late(&mut self, rules: &Rules, id: u32, at: Time) {
        let now = self.now;
        self.unline(id);
        let peer = self.writes[id].peer;
        let booked = self.peers.get(peer).map_or(BOOKED_PER_PEER_MAX, |peer| peer.booked);
        let room = booked < BOOKED_PER_PEER_MAX;
        let due = if room { at } else { self.last_due(peer).max(now + Span::from_millis(1)) };
        let ticket = self.writes[id].ticket;
        let retry_after = due.since(now).max(Span::from_micros(1));
        self.outputs.push_back(Output::Refuse { ticket, retry_after, reason: RefuseReason::MaxHold });
        self.count(rules, id, Counted::Refused);
        if !room {
            self.end(id);
            return;
        }
        self.tickets.remove(ticket);
        self.leave_chain(id);
        let told = match rules.policy.platform {
            Platform::Telegram => Span::from_secs(retry_after.as_secs_ceil()),
            Platform::Discord => retry_after,
        };
        let write = &mut self.writes[id];
        write.stage = Stage::Booked { due, lapses: now + told + BOOKING_GRACE };
        write.fields = Box::default();
        write.message = None;
        let place = write.place();
        let writes = &self.writes;
        if let Some(peer) = self.peers.get_mut(peer) {
            let at = peer.line.partition_point(|other| writes[*other].place() <= place);
            peer.line.insert(at, id);
            peer.booked += 1;
        }
    }

    fn last_due(&self, peer: u32) -> Time {
        let line = self.peers.get(peer).map_or(&[][..], |peer| &peer.line);
        let dues = line.iter().filter_map(|id| match self.writes[*id].stage {
            Stage::Booked { due, .. } => Some(due),
            Stage::Held | Stage::Flying { .. } => None,
        });
        dues.max().unwrap_or(self.now)
    }

    pub(super) fn forget_booking(&mut self, id: u32) {
        self.unline(id);
        self.writes.discard(id);
    }

    /// Refuses held writes of the peer that would wait longer than they may, and drops those that are dropped at the end
    /// of their hold; whether there was one. It is asked when nothing can go now. Of those whose time is up it refuses the
    /// first, whatever waits behind that one's place, and whatever waits for something else than its turn: what is left may
    /// go once that one has given way.
    pub(super) fn review(&mut self, rules: &Rules, peer: u32) -> bool {
        let (mut any, mut given_way) = (false, false);
        let mut waiting = Waiting::default();
        for (id, at) in self.forecast(rules, peer) {
            let write = &self.writes[id];
            if !write.is_held() || write.past == PastHold::Admit || write.shadowed {
                continue;
            }
            let (drops, overdue) = (write.past == PastHold::Drop, write.deadline() <= self.now);
            // What waits for an answer has no forecast: it is over when its time is up.
            let late = at.since(write.arrived) > write.limit && !drops;
            let over = overdue && (!given_way || waiting.keeps_back(write) || self.cannot_go(rules, id));
            if drops && over {
                self.unline(id);
                self.drop_write(rules, id, DropReason::MaxHold);
            } else if over {
                self.refuse_late(rules, id, at.max(self.now + UNKNOWN_WAIT));
                if let Some(place) = self.writes.get(id).filter(|write| !self.unsettled(rules, write)) {
                    waiting.block(rules, place);
                }
            } else if late && !overdue {
                self.refuse_late(rules, id, at);
            } else {
                continue;
            }
            any = true;
            given_way |= over;
        }
        any
    }

    /// Whether it could not go now, had it the turn.
    fn cannot_go(&mut self, rules: &Rules, id: u32) -> bool {
        if self.kept_back(rules, id).is_some() {
            return true;
        }
        let buckets = rules.buckets_of(&self.writes[id]);
        buckets.iter().any(|bucket| self.earliest(id, bucket) > self.now)
    }

    /// The client of a write left.
    pub(super) fn cancel(&mut self, rules: &Rules, ticket: Ticket) {
        let Some(id) = self.tickets.get(ticket) else { return };
        // One that took another's place owes the other's client an answer.
        if self.writes[id].superseded {
            return;
        }
        if !self.writes[id].is_held() {
            // Its answer is still taken in.
            self.writes[id].left = true;
            return;
        }
        let peer = self.writes[id].peer;
        self.unline(id);
        self.count(rules, id, Counted::Cancelled);
        self.end(id);
        self.enqueue(peer);
    }

    /// A write that is no longer in flight would go again. It does not where its client left meanwhile; whether it did.
    pub(super) fn is_left(&mut self, rules: &Rules, id: u32) -> bool {
        if !self.writes[id].left {
            return false;
        }
        self.count(rules, id, Counted::Cancelled);
        self.end(id);
        true
    }

    /// A held write's client can wait until then only.
    pub(super) fn hold_until(&mut self, ticket: Ticket, until: Time) {
        let Some(id) = self.tickets.get(ticket).filter(|id| self.writes[*id].is_held()) else { return };
        let write = &mut self.writes[id];
        let limit = until.since(write.arrived);
        if limit < write.limit {
            write.limit = limit;
            if write.paced_until < Time::NEVER {
                write.paced_until = write.deadline();
            }
            let peer = write.peer;
            // Its wait is measured against the new limit.
            self.enqueue_grown(peer);
        }
    }

    /// Forgets a write that has ended.
    #[inline]
    pub(super) fn end(&mut self, id: u32) {
        let Some(write) = self.writes.get(id) else { return };
        debug_assert!(write.next == NONE && write.previous == NONE, "it is still in flight");
        self.forget_write(id, write.ticket);
    }

    #[inline]
    pub(super) fn forget_write(&mut self, id: u32, ticket: Ticket) {
        if self.writes[id].chained {
            self.leave_chain(id);
        }
        self.tickets.remove(ticket);
        self.writes.discard(id);
    }
}
