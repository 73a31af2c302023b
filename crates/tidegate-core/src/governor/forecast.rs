//! When each write of a line would go, given all that must go before it.

use alloc::vec;
use alloc::vec::Vec;

use super::consider::Spread;
use super::plan::Rules;
use super::purse::limit_for;
use super::state::State;
use super::store::{Bucket, Store};
use super::turns::{Level, Turns, unanswered};
use super::write::Stage;
use crate::bucket::Token;
use crate::cooldown::Cooling;
use crate::discord::Learned;
use crate::key::MethodKey;
use crate::time::Time;
use crate::window::{Limit, Window};

/// A peer's bucket as it will have been used.
enum Ahead {
    Token(Token),
    Window(Window),
    /// Of each of the peer's routes.
    Learned(Vec<(MethodKey, Learned)>),
}

/// The peer's turns at one of the bot's buckets.
struct Mine {
    turns: Turns,
    /// How many of them are taken.
    taken: usize,
    /// Where it stands in no ring: the level behind all others, with its own writes that came before.
    own: Option<Level>,
}

impl State {
    /// The moment at which each place of the peer's line would go, in line order. Outstanding answers count as given now.
    pub(super) fn forecast(&mut self, rules: &Rules, peer: u32) -> Vec<(u32, Time)> {
        let line = self.peers.get(peer).map(|peer| peer.line.clone()).unwrap_or_default();
        let mut ahead: Vec<Option<Ahead>> = rules.buckets.iter().map(|_| None).collect();
        let mut rows = vec![self.now; rules.policy.rows.len()];
        let turns = (0..self.bots.len()).map(|slot| self.turns(rules, slot));
        let mut mine: Vec<Mine> = turns.map(|turns| Mine { turns, taken: 0, own: None }).collect();
        let mut routes: Vec<(MethodKey, Time)> = Vec::new();
        let mut result = Vec::with_capacity(line.len());
        self.looked += line.len() as u64;
        for id in line {
            if self.writes[id].shadowed {
                continue;
            }
            let mut at = self.cold_until(id);
            let row = self.writes[id].row;
            let conflicts = rules.plan(row).conflicts;
            for (other, free) in rows.iter().enumerate() {
                if conflicts & (1 << other) != 0 {
                    at = at.max(*free);
                }
            }
            let method = rules.plan(row).by_route.then(|| self.writes[id].method);
            if let Some((_, free)) = routes.iter().rev().find(|(other, _)| Some(*other) == method) {
                at = at.max(*free);
            }
            let soft = self.is_soft(rules, &self.writes[id]);
            at = at.max(self.writes[id].retry_at);
            at = at.max(self.after_older(rules, id, &result));
            if let Spread::Kept(until) = self.spread(rules, id) {
                at = at.max(until);
            }
            if let Some(until) = self.purse(id).spaced(rules) {
                at = at.max(until);
            }
            if let Stage::Booked { due, .. } = self.writes[id].stage {
                at = at.max(due);
            }
            at = self.look_ahead(rules, id, at, &mut ahead, &mut mine, !soft);
            if !soft {
                rows[usize::from(row.0)] = at;
                routes.extend(method.map(|method| (method, at)));
            }
            result.push((id, at));
        }
        for (slot, mine) in self.turns.iter_mut().zip(mine) {
            *slot = Some(mine.turns);
        }
        result
    }

    fn cold_until(&self, id: u32) -> Time {
        match self.cooling(&self.writes[id]) {
            Cooling::Until(until) => until,
            Cooling::Open { .. } | Cooling::Probing(_) => self.now,
        }
    }

    /// The moment, `at` or later, at which all buckets have enough; then they are used, where `take` is set.
    fn look_ahead(
        &mut self,
        rules: &Rules,
        id: u32,
        mut at: Time,
        ahead: &mut [Option<Ahead>],
        mine: &mut [Mine],
        take: bool,
    ) -> Time {
        let buckets = rules.buckets_of(&self.writes[id]);
        for bucket in buckets {
            at = at.max(match bucket.bot() {
                None => self.peer_bucket(id, bucket, at, ahead, take),
                Some(slot) => self.bot_bucket(id, bucket, &mut mine[slot]),
            });
        }
        if !take {
            return at;
        }
        for bucket in buckets {
            let weight = bucket.weight(self.writes[id].weight);
            if let Some(slot) = bucket.bot() {
                mine[slot].taken += 1;
                if let Some(own) = &mut mine[slot].own {
                    own.not_before(at);
                    own.place(weight);
                }
            }
            match (&mut ahead[usize::from(bucket.id.0)], bucket.store) {
                (Some(Ahead::Token(level)), Store::PeerToken(_, rate)) => level.take(rate, at, weight),
                (Some(Ahead::Window(window)), Store::PeerWindow(_, limit, _)) => window.foresee(at, limit, weight),
                (Some(Ahead::Learned(routes)), Store::Route) => {
                    let method = self.writes[id].method;
                    routes
                        .iter_mut()
                        .filter(|(other, _)| *other == method)
                        .for_each(|(_, learned)| learned.foresee(at));
                }
                _ => {}
            }
        }
        at
    }

    fn peer_bucket(&mut self, id: u32, bucket: &Bucket, at: Time, ahead: &mut [Option<Ahead>], take: bool) -> Time {
        let (peer, now) = (self.writes[id].peer, self.now);
        let base = self.thaw(peer).max(at);
        let (weight, class) = (bucket.weight(self.writes[id].weight), self.writes[id].class);
        let deferred = self.deferred_until(bucket, peer).unwrap_or(now);
        let state = &mut ahead[usize::from(bucket.id.0)];
        let free = match bucket.store {
            Store::PeerToken(slot, rate) => {
                let token = self.peers[peer].token(slot);
                match state.get_or_insert(Ahead::Token(token)) {
                    Ahead::Token(token) => token.earliest(rate, base, weight),
                    Ahead::Window(_) | Ahead::Learned(_) => at,
                }
            }
            Store::PeerWindow(slot, limit, reserve) => {
                let state = match state {
                    Some(known) => known,
                    None => state.insert(Ahead::Window(self.settled(peer, slot, limit, bucket))),
                };
                match state {
                    Ahead::Window(window) if take => {
                        window.earliest(at.into(), limit_for(limit, reserve, class), weight)
                    }
                    // A look drops what has lapsed by then; one that does not take must leave it for the others.
                    Ahead::Window(window) => {
                        window.clone().earliest(at.into(), limit_for(limit, reserve, class), weight)
                    }
                    Ahead::Token(_) | Ahead::Learned(_) => at,
                }
            }
            Store::Route => {
                let method = self.writes[id].method;
                match state.get_or_insert(Ahead::Learned(Vec::new())) {
                    Ahead::Learned(routes) => {
                        if !routes.iter().any(|(other, _)| *other == method) {
                            routes.push((method, self.peers[peer].learned(method).cloned().unwrap_or_default()));
                        }
                        let mine = routes.iter().find(|(other, _)| *other == method);
                        mine.map_or(at, |(_, learned)| learned.earliest(at))
                    }
                    Ahead::Token(_) | Ahead::Window(_) => at,
                }
            }
            _ => self.earliest(id, bucket),
        };
        let free = if bucket.ours { free.min(self.writes[id].paced_until.max(at)) } else { free };
        free.max(deferred)
    }

    /// The peer's window as if all its writes were answered now.
    fn settled(&mut self, peer: u32, slot: usize, limit: Limit, bucket: &Bucket) -> Window {
        let (now, writes) = (self.now, &self.writes);
        let first = writes.get(self.peers[peer].flying);
        let flying = core::iter::successors(first, |write| writes.get(write.next));
        self.peers[peer].window_mut(slot).settled(now, limit, flying.filter_map(|write| unanswered(write, bucket)))
    }

    fn bot_bucket(&self, id: u32, bucket: &Bucket, mine: &mut Mine) -> Time {
        let (peer, weight) = (self.writes[id].peer, bucket.weight(self.writes[id].weight));
        let times = mine.turns.of(peer);
        if let Some(at) = times.get(mine.taken).or(times.last()) {
            return *at;
        }
        let Some(round) = mine.turns.round(mine.taken) else { return self.now };
        let own = mine.own.get_or_insert_with(|| round.clone());
        own.earliest(weight).max(round.earliest(weight))
    }
}
