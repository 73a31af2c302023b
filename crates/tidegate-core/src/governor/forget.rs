//! Forgetting peers that are as good as new, and changing the rules under those that are not.

use alloc::vec::Vec;

use super::plan::Rules;
use super::state::{State, soon};
use super::store::{Bucket, Store};
use super::write::Paced;
use crate::bucket::Token;
use crate::time::Time;

/// Peers looked at in one go: a million that end together must not stall a decision.
const AT_ONCE: usize = 256;

impl State {
    /// Looks at the peer again then, whether it can be forgotten.
    pub(super) fn watch(&mut self, peer: u32, at: Time) {
        let second = self.wheel.insert(self.now, at, peer);
        if let Some(state) = self.peers.get_mut(peer) {
            state.watched = second;
        }
    }

    /// Forgets some of the peers that are due.
    pub(super) fn forget_some(&mut self) {
        for _ in 0..AT_ONCE {
            let Some((peer, second)) = self.wheel.due(self.now) else { return };
            let Some(state) = self.peers.get_mut(peer).filter(|state| state.watched == second) else { continue };
            let fresh = state.fresh_at(self.now);
            if fresh <= self.now {
                self.peers.remove(peer);
            } else {
                let again = if fresh == Time::NEVER { soon(self.now) } else { fresh };
                self.watch(peer, again);
            }
        }
    }

    /// Forgets every peer that is as good as new.
    pub(super) fn forget_all(&mut self, _rules: &Rules) {
        let all: Vec<u32> = self.peers.keys().collect();
        for peer in all {
            if self.peers[peer].fresh_at(self.now) <= self.now {
                self.peers.remove(peer);
            }
        }
    }

    /// Another policy: a token bucket whose shape changed is full, a window keeps its past, a running cooldown stays.
    pub(super) fn change_rules(&mut self, old: &Rules, new: &Rules) {
        let same_tables = old.policy.buckets.len() == new.policy.buckets.len()
            && old.policy.buckets.iter().zip(&new.policy.buckets).all(|(a, b)| a.name == b.name && a.scope == b.scope)
            && old.policy.rows.len() == new.policy.rows.len()
            && old.policy.rows.iter().zip(&new.policy.rows).all(|(a, b)| a.name == b.name)
            && old.buckets.iter().zip(&new.buckets).all(|(a, b)| a.store.shares_place(&b.store));
        if same_tables {
            for (old, new) in old.buckets.iter().zip(&new.buckets) {
                if let (Some(was), Some(is)) = (old.store.rate(), new.store.rate())
                    && was != is
                {
                    self.refill(new);
                }
            }
        } else {
            self.change_tables(old, new);
        }
        for bot in &mut self.bots {
            bot.wake = Time::ZERO;
        }
        if new.policy.enabled {
            self.enqueue_all(true);
        } else {
            self.release_all(new);
        }
    }

    fn refill(&mut self, bucket: &Bucket) {
        let peers: Vec<u32> = self.peers.keys().collect();
        match bucket.store {
            Store::BotToken(slot, _) => self.bots[slot].token = Token::default(),
            Store::PeerToken(slot, _) => {
                for peer in peers {
                    *self.peers[peer].token_mut(slot) = Token::default();
                }
            }
            Store::Keyed(..) => {
                for peer in peers {
                    if let Some(extra) = &mut self.peers[peer].extra {
                        extra.keyed.retain(|(other, ..)| *other != bucket.id);
                    }
                }
            }
            Store::BotWindow(..) | Store::PeerWindow(..) | Store::Nothing(_) | Store::Route => {}
        }
    }

    /// A table of another make: what waits finds its row by name (or the last one), every bucket starts anew.
    fn change_tables(&mut self, old: &Rules, new: &Rules) {
        let all: Vec<u32> = self.writes.keys().collect();
        let last = new.policy.rows.len() - 1;
        let find = |row| {
            let name = &old.row(row).name;
            let at = new.policy.rows.iter().position(|row| row.name == *name).unwrap_or(last);
            crate::policy::RowId(u8::try_from(at).unwrap_or(0))
        };
        for id in all {
            let write = &mut self.writes[id];
            write.origin = find(write.origin);
            write.row = find(write.row);
            write.stamped = 0;
            write.charged = 0;
            write.bot_since = None;
        }
        self.tally.counters.rename(&new.policy, &find);
        self.bots = (0..new.bots).map(|_| super::rings::Bot::new()).collect();
        self.deferrals.clear();
        let peers: Vec<u32> = self.peers.keys().collect();
        for peer in peers {
            self.peers[peer].renew();
        }
    }

    /// The policy was switched off: all that it holds goes, but for edits that wait for an older one of their message.
    fn release_all(&mut self, rules: &Rules) {
        let mut waiting: Vec<u32> = self.peers.iter().flat_map(|(_, peer)| peer.line.iter().copied()).collect();
        waiting.sort_by_key(|id| self.writes[*id].seq);
        for id in waiting {
            if !self.writes[id].is_held() {
                self.forget_booking(id);
                continue;
            }
            let peer = self.writes[id].peer;
            for bot in &mut self.bots {
                bot.leave(peer);
            }
            if self.behind_older(rules, id).is_some() {
                self.writes[id].paced = Paced::Free;
                self.enqueue(peer);
                continue;
            }
            self.unline(id);
            let go = super::consider::Go { how: super::consider::How::Passed, quiet: false };
            self.release(rules, id, go);
        }
    }
}
