//! Looking into the buckets of a write, taking from them, and giving back.

use super::plan::{Bucket, Home, Kind, Rules};
use super::state::State;
use super::write::{NONE, WriteState};
use crate::bucket::{Rate, Token};
use crate::governor::Class;
use crate::time::{Span, Time};
use crate::window::Limit;

/// Topics, messages and methods of one peer that have a bucket of their own at once.
const KEYED: usize = 256;

/// A window's limit for a class: the reserve is for those who wait with a finger on a button.
pub(super) fn limit_for(limit: Limit, reserve: u32, class: Class) -> Limit {
    let more = if class == Class::Interactive { reserve } else { 0 };
    Limit { units: limit.units + more, period: limit.period }
}

fn key_of(home: Home, write: &WriteState) -> u64 {
    match home {
        Home::Thread => write.thread.map_or(0, i64::cast_unsigned),
        Home::Message => write.message.map_or(0, |message| message.0),
        Home::Method => write.method.0,
        Home::Bot(_) | Home::PeerToken(_) | Home::PeerWindow(_) | Home::Route => 0,
    }
}

impl State {
    /// The earliest moment at which the bucket has enough for the write.
    pub(super) fn earliest(&mut self, id: u32, bucket: &Bucket) -> Time {
        let (now, base) = (self.now, self.thaw(self.writes[id].peer));
        let write = &self.writes[id];
        let weight = bucket.weight(write.weight);
        let at = match (bucket.home, bucket.kind) {
            (Home::Bot(slot), Kind::Token(rate)) => self.bots[slot].token.earliest(rate, base, weight),
            (Home::Bot(slot), Kind::Window { limit, reserve }) => {
                self.bots[slot].window.earliest(now, limit_for(limit, reserve, write.class), weight)
            }
            (Home::PeerToken(slot), Kind::Token(rate)) => {
                self.peers[write.peer].token(slot).earliest(rate, base, weight)
            }
            (Home::PeerWindow(slot), Kind::Window { limit, reserve }) => {
                let limit = limit_for(limit, reserve, write.class);
                self.peers[write.peer].window_mut(slot).earliest(now, limit, weight)
            }
            (home, Kind::Token(rate)) => self.keyed(bucket, key_of(home, write), write.peer, rate, base, weight),
            (_, Kind::Learned) => {
                self.peers.get(write.peer).map_or(now, |peer| peer.learned(write.method).earliest(now))
            }
            (_, Kind::Window { .. }) => now,
        };
        self.deferred_until(bucket, self.writes[id].peer).map_or(at, |until| at.max(until))
    }

    fn keyed(&self, bucket: &Bucket, key: u64, peer: u32, rate: Rate, base: Time, weight: u32) -> Time {
        let Some(extra) = self.peers.get(peer).and_then(|state| state.extra.as_ref()) else { return base };
        match extra.keyed.iter().find(|(id, other, _)| *id == bucket.id && *other == key) {
            Some((_, _, token)) => token.earliest(rate, base, weight),
            None if extra.keyed.iter().filter(|(_, _, token)| token.full_at() > base).count() >= KEYED => {
                base + Span::from_secs(1)
            }
            None => base,
        }
    }

    /// Takes from the bucket, or only stands in it where it is a window and `charge` is not set.
    pub(super) fn take(&mut self, id: u32, bucket: &Bucket, charge: bool) {
        let (now, base) = (self.now, self.thaw(self.writes[id].peer));
        let write = &mut self.writes[id];
        let weight = bucket.weight(write.weight);
        match bucket.kind {
            Kind::Window { .. } => write.stamped |= bucket.bit(),
            Kind::Token(_) | Kind::Learned if charge => write.charged |= bucket.bit(),
            Kind::Token(_) | Kind::Learned => return,
        }
        match (bucket.home, bucket.kind) {
            (Home::Bot(slot), Kind::Token(rate)) => self.bots[slot].token.take(rate, base, weight),
            (Home::Bot(slot), Kind::Window { limit, .. }) => self.bots[slot].window.release(now, limit, weight),
            (Home::PeerToken(slot), Kind::Token(rate)) => {
                self.peers[write.peer].token_mut(slot).take(rate, base, weight);
            }
            (Home::PeerWindow(slot), Kind::Window { limit, .. }) => {
                self.peers[write.peer].window_mut(slot).release(now, limit, weight);
            }
            (home, Kind::Token(rate)) => {
                let key = key_of(home, write);
                let Some(peer) = self.peers.get_mut(write.peer) else { return };
                let keyed = &mut peer.extra().keyed;
                keyed.retain(|(_, _, token)| token.full_at() > base);
                if let Some((_, _, token)) = keyed.iter_mut().find(|(other, k, _)| *other == bucket.id && *k == key) {
                    token.take(rate, base, weight);
                } else {
                    let mut token = Token::default();
                    token.take(rate, base, weight);
                    keyed.push((bucket.id, key, token));
                }
            }
            (_, Kind::Learned) => {
                let method = write.method;
                if let Some(peer) = self.peers.get_mut(write.peer) {
                    peer.learned_mut(method).release(now);
                }
            }
            (_, Kind::Window { .. }) => {}
        }
    }

    /// The write was answered: from now on its units lapse.
    pub(super) fn lapse(&mut self, rules: &Rules, id: u32, since: Time) {
        let now = self.now;
        let write = &self.writes[id];
        for bucket in rules.buckets_in(write.stamped) {
            let Kind::Window { limit, .. } = bucket.kind else { continue };
            let weight = bucket.weight(write.weight);
            match bucket.home {
                Home::Bot(slot) => {
                    self.bots[slot].window.answered(since, now, limit, weight);
                    self.bots[slot].wake = Time::ZERO;
                }
                Home::PeerWindow(slot) => {
                    self.peers[write.peer].window_mut(slot).answered(since, now, limit, weight);
                }
                _ => {}
            }
        }
        self.writes[id].stamped = 0;
        self.writes[id].charged = 0;
    }

    /// The write did not go after all: all that it took is given back.
    pub(super) fn give_back(&mut self, rules: &Rules, id: u32, since: Time) {
        let (now, base) = (self.now, self.thaw(self.writes[id].peer));
        let write = &self.writes[id];
        for bucket in rules.buckets_in(write.stamped | write.charged) {
            let weight = bucket.weight(write.weight);
            let (stamped, charged) = (write.stamped & bucket.bit() != 0, write.charged & bucket.bit() != 0);
            match (bucket.home, bucket.kind) {
                (Home::Bot(slot), Kind::Window { limit, .. }) if stamped => {
                    self.bots[slot].window.take_back(since, now, limit, weight);
                    self.bots[slot].wake = Time::ZERO;
                }
                (Home::PeerWindow(slot), Kind::Window { limit, .. }) if stamped => {
                    self.peers[write.peer].window_mut(slot).take_back(since, now, limit, weight);
                }
                (Home::Bot(slot), Kind::Token(rate)) if charged => {
                    self.bots[slot].token.give_back(rate, base, weight);
                }
                (Home::PeerToken(slot), Kind::Token(rate)) if charged => {
                    self.peers[write.peer].token_mut(slot).give_back(rate, base, weight);
                }
                (_, Kind::Learned) if charged => {
                    let method = write.method;
                    if let Some(peer) = self.peers.get_mut(write.peer) {
                        peer.learned_mut(method).give_back();
                    }
                }
                (home, Kind::Token(rate)) if charged => {
                    let key = key_of(home, write);
                    let extra = self.peers.get_mut(write.peer).and_then(|peer| peer.extra.as_mut());
                    let keyed = extra.into_iter().flat_map(|extra| extra.keyed.iter_mut());
                    for (_, _, token) in keyed.filter(|(other, k, _)| *other == bucket.id && *k == key) {
                        token.give_back(rate, base, weight);
                    }
                }
                _ => {}
            }
        }
        self.writes[id].stamped = 0;
        self.writes[id].charged = 0;
    }

    /// Until when a shared store called the bucket dry.
    pub(super) fn deferred_until(&self, bucket: &Bucket, peer: u32) -> Option<Time> {
        if self.deferrals.is_empty() {
            return None;
        }
        let whose = if bucket.bot().is_some() { NONE } else { peer };
        let found = self.deferrals.iter().filter(|(id, other, _)| *id == bucket.id && *other == whose);
        found.map(|(_, _, until)| *until).max()
    }
}
