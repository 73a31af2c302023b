//! Cooldowns of the bot, a peer, a method, and a method to a peer.

use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::io::{Answer, Scope};
use super::peer::PeerState;
use super::plan::Rules;
use super::state::State;
use super::store::Store;
use super::write::{NONE, WriteState};
use crate::cooldown::{Cooldown, Cooling};
use crate::key::{MethodKey, Peer};
use crate::time::Time;

/// Methods whose cooldowns are remembered at once.
const METHODS: usize = 4_096;

impl State {
    /// What all cooldowns together say to a write.
    pub(super) fn cooling(&self, write: &WriteState) -> Cooling {
        let peer = self.peers.get(write.peer);
        let all = [
            self.bot_cooldown,
            self.method_cooldowns.get(&write.method).copied(),
            write.wider.and_then(|wider| self.method_cooldowns.get(&wider).copied()),
            peer.and_then(PeerState::cooldown),
            peer.and_then(|peer| peer.method_cooldown(write.method)),
        ];
        let asked = all.into_iter().flatten().map(|cooldown| cooldown.ask(self.now, write.waited));
        asked.fold(Cooling::Open { probe: false }, worse)
    }

    /// Whether there is any cooldown that might concern a write to this peer.
    #[inline]
    pub(super) fn anything_cools(&self, peer: u32) -> bool {
        cools(self.bot_cooldown, &self.method_cooldowns, self.peers.get(peer))
    }

    /// Each of a write's cooldowns, to be changed. One that comes back `None` is forgotten.
    fn each_cooldown(&mut self, id: u32, mut change: impl FnMut(Cooldown) -> Option<Cooldown>) {
        let (peer, method, wider) = (self.writes[id].peer, self.writes[id].method, self.writes[id].wider);
        self.bot_cooldown = self.bot_cooldown.and_then(&mut change);
        for method in [Some(method), wider].into_iter().flatten() {
            if let Some(cooldown) = self.method_cooldowns.get(&method).copied() {
                match change(cooldown) {
                    Some(changed) => self.method_cooldowns.insert(method, changed),
                    None => self.method_cooldowns.remove(&method),
                };
            }
        }
        let Some(extra) = self.peers.get_mut(peer).and_then(|peer| peer.extra.as_mut()) else { return };
        extra.cooldown = extra.cooldown.and_then(&mut change);
        extra.method_cooldowns.retain_mut(|(other, cooldown)| {
            if *other != method {
                return true;
            }
            match change(*cooldown) {
                Some(changed) => *cooldown = changed,
                None => return false,
            }
            true
        });
    }

    /// A cooldown ended: if this write was waiting, the next one is a probe; else it is forgotten.
    pub(super) fn note_ends(&mut self, id: u32) {
        let (now, waited) = (self.now, self.writes[id].waited);
        self.each_cooldown(
            id,
            |cooldown| if cooldown.over(now) { waited.then_some(Cooldown::Due) } else { Some(cooldown) },
        );
    }

    /// The write goes, as the probe of every scope that wants one.
    #[inline(never)]
    pub(super) fn take_probe(&mut self, id: u32) {
        let now = self.now;
        self.each_cooldown(id, |cooldown| match cooldown.ask(now, true) {
            Cooling::Open { probe: true } => Some(Cooldown::Probing { write: id, since: now }),
            _ => Some(cooldown),
        });
    }

    /// The write was answered; whether that opened (or passed on) a scope that others may wait for.
    #[inline]
    pub(super) fn settle_probe(&mut self, id: u32, result: Answer) {
        if self.anything_cools(self.writes[id].peer) {
            self.settle_probes(id, result);
        }
    }

    #[inline(never)]
    fn settle_probes(&mut self, id: u32, result: Answer) {
        let wide = |cooldown: &Cooldown| matches!(cooldown, Cooldown::Probing { write, .. } if *write == id);
        let method = self.method_cooldowns.get(&self.writes[id].method);
        let wider = self.writes[id].wider.and_then(|wider| self.method_cooldowns.get(&wider));
        let others_wait = self.bot_cooldown.iter().chain(method).chain(wider).any(wide);
        self.each_cooldown(id, |cooldown| match cooldown {
            Cooldown::Probing { write, .. } if write == id => (result == Answer::Transient).then_some(Cooldown::Due),
            _ => Some(cooldown),
        });
        if others_wait {
            self.enqueue_all(false);
        }
    }

    /// Cools a scope until then; an end that is later already stays.
    pub(super) fn cool(&mut self, rules: &Rules, scope: &Scope, until: Time) {
        if until <= self.now {
            return;
        }
        let merged = |old: Option<Cooldown>| {
            let new = Cooldown::Until(until);
            Some(match old {
                Some(old @ Cooldown::Until(_)) => old.later(new),
                Some(Cooldown::Due | Cooldown::Probing { .. }) | None => new,
            })
        };
        match scope {
            Scope::Bot => {
                self.freeze_all(rules, until);
                self.bot_cooldown = merged(self.bot_cooldown);
                self.enqueue_all(true);
            }
            Scope::Peer(peer) => {
                let at = self.peer(peer);
                self.freeze_peer(rules, at, until);
                let extra = self.peers[at].extra();
                extra.cooldown = merged(extra.cooldown);
                self.enqueue_grown(at);
            }
            Scope::Method(method) => {
                if self.method_cooldowns.len() >= METHODS {
                    let now = self.now;
                    self.method_cooldowns.retain(|_, cooldown| !cooldown.over(now));
                }
                let old = self.method_cooldowns.get(method).copied();
                if let Some(cooldown) = merged(old) {
                    self.method_cooldowns.insert(*method, cooldown);
                }
                self.enqueue_all(true);
            }
            Scope::PeerMethod(peer, method) => self.cool_peer_method(peer, *method, merged),
        }
    }

    fn cool_peer_method(
        &mut self,
        peer: &Peer,
        method: MethodKey,
        merged: impl Fn(Option<Cooldown>) -> Option<Cooldown>,
    ) {
        let (at, now) = (self.peer(peer), self.now);
        let list = &mut self.peers[at].extra().method_cooldowns;
        list.retain(|(other, cooldown)| *other == method || !cooldown.over(now));
        let old = list.iter().position(|(other, _)| *other == method).map(|at| list.swap_remove(at).1);
        if let Some(cooldown) = merged(old) {
            list.push((method, cooldown));
        }
        self.enqueue_grown(at);
    }

    /// The peer's place; made where it is not known.
    pub(super) fn peer(&mut self, key: &Peer) -> u32 {
        let key = self.moved.get(key).cloned().unwrap_or_else(|| key.clone());
        let (at, new) = self.peers.find_or_insert(key);
        if new {
            let soon = super::state::soon(self.now);
            self.watch(at, soon);
        }
        at
    }

    /// Nothing refills in the peer's buckets until then.
    fn freeze_peer(&mut self, rules: &Rules, peer: u32, until: Time) {
        let base = self.thaw(peer);
        if until <= base {
            return;
        }
        let Some(state) = self.peers.get_mut(peer) else { return };
        for bucket in &rules.buckets {
            match bucket.store {
                Store::PeerToken(slot, rate) if state.token(slot).full_at() > base => {
                    state.token_mut(slot).freeze(rate, base, until);
                }
                Store::Keyed(_, rate) => {
                    let keyed = state.extra.iter_mut().flat_map(|extra| extra.keyed.iter_mut());
                    keyed.filter(|(id, ..)| *id == bucket.id).for_each(|(_, _, token)| token.freeze(rate, base, until));
                }
                _ => {}
            }
        }
    }

    /// Nothing refills anywhere until then. Rare, so it may look at every peer.
    fn freeze_all(&mut self, rules: &Rules, until: Time) {
        let base = self.thaw(NONE);
        for bucket in &rules.buckets {
            if let Store::BotToken(slot, rate) = bucket.store
                && until > base
            {
                self.bots[slot].token.freeze(rate, base, until);
            }
        }
        let all: Vec<u32> = self.peers.keys().collect();
        for peer in all {
            self.freeze_peer(rules, peer, until);
        }
    }
}

/// Whether there is any cooldown that might concern a write to this peer.
#[inline]
pub(super) fn cools(
    bot: Option<Cooldown>,
    methods: &HashMap<MethodKey, Cooldown, FixedState>,
    peer: Option<&PeerState>,
) -> bool {
    let extra = peer.and_then(|peer| peer.extra.as_ref());
    bot.is_some()
        || !methods.is_empty()
        || extra.is_some_and(|extra| extra.cooldown.is_some() || !extra.method_cooldowns.is_empty())
}

fn worse(a: Cooling, b: Cooling) -> Cooling {
    use Cooling::{Open, Probing, Until};
    match (a, b) {
        (Until(a), Until(b)) => Until(a.max(b)),
        (until @ Until(_), _) | (_, until @ Until(_)) => until,
        (Probing(a), Probing(b)) => Probing(a.max(b)),
        (probing @ Probing(_), _) | (_, probing @ Probing(_)) => probing,
        (Open { probe: a }, Open { probe: b }) => Open { probe: a || b },
    }
}
