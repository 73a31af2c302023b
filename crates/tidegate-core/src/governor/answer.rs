//! What the platform (or a shared store) said to a write that was let go.

use super::Ticket;
use super::counters::Counted;
use super::io::{Answer, Output, RefusedScope, Scope};
use super::plan::Rules;
use super::purse::Landed;
use super::state::State;
use super::write::{NONE, Stage};
use crate::discord::Headers;
use crate::key::Peer;
use crate::policy::RefusedCools;
use crate::time::{Span, Time};

/// A write that the platform refused so often is given up.
const REFUSALS: u32 = 3;
/// The first pause after a transient failure; it doubles each time.
const RETRY: Span = Span::from_millis(400);
/// The longest.
const RETRY_MOST: Span = Span::from_secs(10);
/// Messages of a peer whose named finals are remembered at once.
const FINALS: u32 = 64;
/// Ended writes whose bucket may still be told.
const ENDED: usize = 64;
/// Messages of a peer whose look is known at once, and for how long after the last edit.
const KNOWN: usize = 64;
const KNOWN_FOR: Span = Span::from_secs(60);
/// Dry buckets of a shared store that are remembered at once.
const DEFERRALS: usize = 4_096;

impl State {
    pub(super) fn done(&mut self, rules: &Rules, ticket: Ticket, result: Answer) {
        if let Some(id) = self.tickets.get(ticket) {
            self.answered(rules, id, result);
        }
    }

    /// A write was answered, which says nothing of one that is not in flight.
    #[inline]
    pub(super) fn answered(&mut self, rules: &Rules, id: u32, result: Answer) {
        let ended = match result {
            Answer::Ok => Some(Counted::Delivered),
            Answer::Permanent => Some(Counted::Failed),
            Answer::Transient => None,
        };
        let mut purse = self.purse(id);
        let Some(landed) = purse.land(rules, ended) else { return };
        if rules.learns {
            purse.route_ended(rules);
            self.remember_ended(&landed);
        }
        if landed.linked {
            self.unlink(id);
        }
        if landed.cools {
            self.settle_probe(id, result);
        }
        if result == Answer::Ok && landed.of_message {
            self.remember_final(rules, id);
        }
        if ended.is_some() {
            self.forget_write(id, landed.ticket);
        } else {
            self.failed_once(rules, id);
        }
        if landed.waited_for || ended.is_none() {
            self.enqueue(landed.peer);
        }
    }

    /// What an answer teaches may be told after how it ended.
    fn remember_ended(&mut self, landed: &Landed) {
        if self.ended.len() >= ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((landed.ticket, (landed.peer, landed.method, landed.since)));
    }

    #[inline(never)]
    fn remember_final(&mut self, rules: &Rules, id: u32) {
        self.remember_known(rules, id);
        let (write, until) = (&self.writes[id], self.now + rules.policy.final_guard);
        let Some(message) = write.message.filter(|_| write.named_final()) else { return };
        let now = self.now;
        let Some(peer) = self.peers.get_mut(write.peer) else { return };
        let extra = peer.extra();
        extra.finals.retain(|(other, until)| *other != message && *until > now);
        if extra.finals.len() >= FINALS as usize {
            extra.finals.remove(0);
        }
        extra.finals.push((message, until));
        extra.remembers_until = extra.remembers_until.max(until);
    }

    /// An edit of the message was delivered: what it looks like is known.
    fn remember_known(&mut self, rules: &Rules, id: u32) {
        let (write, now) = (&self.writes[id], self.now);
        let Some(message) = write.message.filter(|_| rules.row(write.origin).partial) else { return };
        let Some(peer) = self.peers.get_mut(write.peer) else { return };
        let extra = peer.extra();
        extra.known.retain(|other| *other != message);
        if extra.known.len() >= KNOWN {
            extra.known.remove(0);
        }
        extra.known.push(message);
        extra.remembers_until = extra.remembers_until.max(now + KNOWN_FOR);
    }

    /// The answer to a released write told of its route's bucket.
    pub(super) fn learn(&mut self, rules: &Rules, ticket: Ticket, headers: Option<Headers>) {
        let flying = self.tickets.get(ticket).and_then(|id| {
            let write = &self.writes[id];
            Some((write.peer, write.method, write.flying_since()?))
        });
        let ended = || self.ended.iter().rev().find(|ended| ended.0 == ticket).map(|ended| ended.1);
        let Some((peer, method, since)) = flying.or_else(ended).filter(|_| rules.learns) else { return };
        let now = self.now;
        if let Some(state) = self.peers.get_mut(peer) {
            state.learned_mut(method).answered(now, since, headers);
            self.enqueue_grown(peer);
        }
    }

    /// A transient failure: again later, unless a newer edit says the same or it was tried often enough.
    fn failed_once(&mut self, rules: &Rules, id: u32) {
        let attempts = self.cell(rules, id).attempts;
        let write = &mut self.writes[id];
        write.failures += 1;
        let pause = RETRY.times(1 << (write.failures - 1).min(16)).min(RETRY_MOST);
        write.retry_at = self.now + pause;
        let given_up = write.failures >= attempts;
        self.goes_again(rules, id, given_up);
    }

    /// Back in line, unless nobody waits for it any more, a newer one says the same, or there is no way back: it was tried
    /// often enough, a newer edit has gone, or it went past all budgets and has no line.
    fn goes_again(&mut self, rules: &Rules, id: u32, given_up: bool) {
        if self.is_left(rules, id) || self.yields(rules, id) {
            return;
        }
        let write = &self.writes[id];
        if given_up || write.overtaken || write.peer == NONE {
            self.give_up(rules, id);
        } else {
            self.back_in_line(rules, id);
        }
    }

    /// A newer held edit of the message that covers this one makes it pointless; whether there is one.
    fn yields(&mut self, rules: &Rules, id: u32) -> bool {
        let mut newer = self.writes[id].newer;
        while newer != NONE {
            let other = &self.writes[newer];
            if !self.is_edit(rules, newer) {
                return false;
            }
            if other.is_held() && rules.covers(other, &self.writes[id]) {
                break;
            }
            newer = other.newer;
        }
        if newer == NONE {
            return false;
        }
        let (ticket, by) = (self.writes[id].ticket, self.writes[newer].ticket);
        self.outputs.push_back(Output::Superseded { ticket, by });
        self.count(rules, id, Counted::Superseded);
        self.writes[newer].superseded = true;
        self.end(id);
        true
    }

    fn give_up(&mut self, rules: &Rules, id: u32) {
        self.outputs.push_back(Output::Failed { ticket: self.writes[id].ticket });
        self.count(rules, id, Counted::Failed);
        self.end(id);
    }

    /// Back to its place: within its class before all that came later.
    fn back_in_line(&mut self, rules: &Rules, id: u32) {
        let write = &mut self.writes[id];
        write.stage = Stage::Held;
        write.waited = true;
        self.enline(rules, id);
    }

    pub(super) fn refused(
        &mut self,
        rules: &Rules,
        ticket: Ticket,
        retry_after: Option<Span>,
        scope: Option<RefusedScope>,
    ) {
        let flying = self.tickets.get(ticket).filter(|id| self.writes[*id].flying_since().is_some());
        let Some(id) = flying else { return };
        let until = self.now + retry_after.unwrap_or(rules.policy.default_retry) + rules.policy.margin;
        if self.purse(id).land(rules, None).is_some_and(|landed| landed.linked) {
            self.unlink(id);
        }
        self.settle_probe(id, Answer::Transient);
        let peer = self.writes[id].peer;
        let key =
            self.peers.get(peer).map(|peer| peer.key.clone()).or_else(|| self.writes[id].loose.as_deref().cloned());
        let key = key.filter(|key| !matches!(key, Peer::Method(_)));
        let scope = self.refused_scope(rules, id, key.as_ref(), scope);
        self.cool(rules, &scope, until);
        if let Some(key) = key {
            self.escalate(rules, &key, until);
        }
        self.writes[id].refusals += 1;
        let given_up = self.writes[id].refusals >= REFUSALS;
        self.goes_again(rules, id, given_up);
        self.enqueue_grown(peer);
    }

    /// What a refusal cools: what the platform says, else what the row says.
    fn refused_scope(&self, rules: &Rules, id: u32, key: Option<&Peer>, named: Option<RefusedScope>) -> Scope {
        let write = &self.writes[id];
        let row = rules.row(write.origin);
        match (named, key) {
            (Some(RefusedScope::Bot), _) => Scope::Bot,
            (Some(RefusedScope::Wider), _) if write.wider.is_some() => {
                Scope::Method(write.wider.unwrap_or(write.method))
            }
            (Some(RefusedScope::Method), _) | (_, None) => Scope::Method(write.method),
            (Some(RefusedScope::Peer), Some(key)) => Scope::Peer(key.clone()),
            (None, Some(key)) if !row.is_free() && row.refused == RefusedCools::Peer => Scope::Peer(key.clone()),
            (Some(RefusedScope::PeerMethod | RefusedScope::Wider) | None, Some(key)) => {
                Scope::PeerMethod(key.clone(), write.method)
            }
        }
    }

    /// Several peers refused at once: the bot itself is too fast.
    fn escalate(&mut self, rules: &Rules, peer: &Peer, until: Time) {
        let Some(escalate) = rules.policy.escalate else { return };
        let now = self.now;
        self.refusals.retain(|(other, at, end)| other != peer && *at + escalate.within > now && *end > now);
        if self.refusals.len() >= escalate.peers.max(16) {
            self.refusals.remove(0);
        }
        self.refusals.push((peer.clone(), now, until));
        if self.refusals.len() >= escalate.peers {
            let earliest = self.refusals.iter().map(|(_, _, end)| *end).min().unwrap_or(now);
            self.cool(rules, &Scope::Bot, earliest.min(now + escalate.at_most));
        }
    }

    pub(super) fn deferred(&mut self, rules: &Rules, ticket: Ticket, bucket: &str, until: Time) {
        let flying = self.tickets.get(ticket);
        let Some((id, since)) = flying.and_then(|id| Some((id, self.writes[id].flying_since()?))) else { return };
        self.give_back(rules, id, since);
        self.unlink(id);
        self.uncount(id, Counted::InFlight);
        self.settle_probe(id, Answer::Transient);
        let peer = self.writes[id].peer;
        let now = self.now;
        self.deferrals.retain(|(_, _, until)| *until > now);
        let mine = rules.buckets_of(&self.writes[id]);
        // A name that is not the row's means that the store knows another table: then none of its buckets will do.
        let known = mine.iter().any(|mine| *rules.policy.bucket(mine.id).name == *bucket);
        for mine in mine.iter().filter(|mine| !known || *rules.policy.bucket(mine.id).name == *bucket) {
            let whose = if mine.bot().is_some() { NONE } else { peer };
            if self.deferrals.len() < DEFERRALS {
                self.deferrals.push((mine.id, whose, until));
            }
        }
        self.writes[id].gave_back = true;
        self.goes_again(rules, id, false);
        self.enqueue_grown(peer);
    }
}
