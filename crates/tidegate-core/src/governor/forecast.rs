//! When each write of a line would go, given all that must go before it.

use alloc::vec;
use alloc::vec::Vec;

use super::consider::Spread;
use super::plan::Rules;
use super::purse::limit_for;
use super::state::State;
use super::store::{Bucket, Store};
use super::write::{NONE, Stage, WriteState};
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

/// Writes of other peers that will take the bot's bucket first: by the length of their lines.
struct Others {
    slot: usize,
    /// For each number of turns, how many writes the others will have had by then.
    by_turn: Vec<u64>,
    /// The bot's window as if all its writes were answered now, once somebody asked for it.
    window: Option<Window>,
}

/// The moment and the weight of a write in flight that stands in the window.
fn unanswered(write: &WriteState, bucket: &Bucket) -> Option<(Time, u32)> {
    let since = write.flying_since().filter(|_| write.stamped & bucket.bit() != 0)?;
    Some((since, bucket.weight(write.weight)))
}

impl State {
    /// The moment at which each place of the peer's line would go, in line order. Outstanding answers count as given now.
    pub(super) fn forecast(&mut self, rules: &Rules, peer: u32) -> Vec<(u32, Time)> {
        let line = self.peers.get(peer).map(|peer| peer.line.clone()).unwrap_or_default();
        let mut ahead: Vec<Option<Ahead>> = rules.buckets.iter().map(|_| None).collect();
        let mut rows = vec![self.now; rules.policy.rows.len()];
        let mut others: Vec<Others> = (0..self.bots.len()).map(|slot| self.others(peer, slot, line.len())).collect();
        let mut taken = vec![0_u64; self.bots.len()];
        let mut routes: Vec<(MethodKey, Time)> = Vec::new();
        let mut result = Vec::with_capacity(line.len());
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
            let soft = self.unsettled(rules, &self.writes[id]) || self.writes[id].retry_at > self.now;
            at = at.max(self.writes[id].retry_at);
            at = at.max(self.after_older(rules, id, &result));
            if let Spread::Kept(until) = self.spread(rules, id) {
                at = at.max(until);
            }
            if let Stage::Booked { due, .. } = self.writes[id].stage {
                at = at.max(due);
            }
            at = self.look_ahead(rules, id, at, &mut ahead, &mut others, &mut taken, !soft);
            if !soft {
                rows[usize::from(row.0)] = at;
                routes.extend(method.map(|method| (method, at)));
            }
            result.push((id, at));
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
    #[expect(clippy::too_many_arguments, reason = "the state of one look ahead")]
    fn look_ahead(
        &mut self,
        rules: &Rules,
        id: u32,
        mut at: Time,
        ahead: &mut [Option<Ahead>],
        others: &mut [Others],
        taken: &mut [u64],
        take: bool,
    ) -> Time {
        let mine = rules.buckets_of(&self.writes[id]);
        for bucket in mine {
            at = at.max(match bucket.bot() {
                None => self.peer_bucket(id, bucket, at, ahead, take),
                Some(slot) => self.bot_bucket(id, bucket, &mut others[slot], taken[slot]),
            });
        }
        if !take {
            return at;
        }
        for bucket in mine {
            let weight = bucket.weight(self.writes[id].weight);
            if let Some(slot) = bucket.bot() {
                taken[slot] += u64::from(weight);
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
                            routes.push((method, self.peers[peer].learned(method)));
                        }
                        let mine = routes.iter().find(|(other, _)| *other == method);
                        mine.map_or(at, |(_, learned)| learned.earliest(at))
                    }
                    Ahead::Token(_) | Ahead::Window(_) => at,
                }
            }
            _ => self.earliest(id, bucket),
        };
        free.max(deferred)
    }

    /// The peer's window as if all its writes were answered now.
    fn settled(&mut self, peer: u32, slot: usize, limit: Limit, bucket: &Bucket) -> Window {
        let (now, writes) = (self.now, &self.writes);
        let first = writes.get(self.peers[peer].flying);
        let flying = core::iter::successors(first, |write| writes.get(write.next));
        self.peers[peer].window_mut(slot).settled(now, limit, flying.filter_map(|write| unanswered(write, bucket)))
    }

    fn bot_bucket(&mut self, id: u32, bucket: &Bucket, others: &mut Others, taken: u64) -> Time {
        let now = self.now;
        let slot = others.slot;
        let turn = usize::try_from(taken).unwrap_or(usize::MAX);
        let before = taken + others.by_turn.get(turn).or(others.by_turn.last()).copied().unwrap_or(0);
        let weight = bucket.weight(self.writes[id].weight);
        let free = match bucket.store {
            Store::BotWindow(_, limit, _) => {
                let window = others.window.get_or_insert_with(|| {
                    let flying = self.writes.iter().filter_map(|(_, write)| unanswered(write, bucket));
                    self.bots[slot].window.settled(now, limit, flying)
                });
                // One over the limit goes when all before it have lapsed.
                window.nth(now, limit, before + u64::from(weight.clamp(1, limit.units.max(1))) - 1)
            }
            Store::BotToken(_, rate) => {
                let mut level = self.bots[slot].token;
                let base = self.thaw(NONE);
                level.take(rate, base, u32::try_from(before).unwrap_or(u32::MAX));
                level.earliest(rate, base, weight)
            }
            _ => now,
        };
        free.max(self.deferred_until(bucket, NONE).unwrap_or(now))
    }

    /// The others' writes before each of this peer's turns: those who stand before it in the ring have as many turns as
    /// it has had and one more, those behind it as many.
    fn others(&self, peer: u32, slot: usize, turns: usize) -> Others {
        let mut by_turn = vec![0_u64; turns + 2];
        if self.bots[slot].nobody_waits() {
            return Others { slot, by_turn, window: None };
        }
        // How many peers have so many writes waiting, by whether they come before this one in their ring.
        let mut lengths = [vec![0_u64; turns + 3], vec![0_u64; turns + 3]];
        for ring in self.bots[slot].waiting() {
            let mine = ring.iter().position(|other| *other == peer).unwrap_or(ring.len());
            for (at, other) in ring.iter().enumerate().filter(|(_, other)| **other != peer) {
                let waiting = self.peers.get(*other).map_or(0, |other| other.line.len());
                lengths[usize::from(at > mine)][waiting.min(turns + 2)] += 1;
            }
        }
        let at_least = |list: &[u64], length: usize| list.iter().skip(length).sum::<u64>();
        let mut sum = 0;
        for (turn, before) in by_turn.iter_mut().enumerate() {
            sum += at_least(&lengths[0], turn + 1);
            if turn > 0 {
                sum += at_least(&lengths[1], turn);
            }
            *before = sum;
        }
        Others { slot, by_turn, window: None }
    }
}
