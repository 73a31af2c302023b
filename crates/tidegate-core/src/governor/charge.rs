//! What a write's budgets say and take, by its number.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::cooling::cools;
use super::plan::Rules;
use super::purse::{Purse, deferred_until, thaw};
use super::state::State;
use super::store::Bucket;
use crate::time::Time;

impl State {
    #[inline(always)]
    pub(super) fn purse(&mut self, id: u32) -> Purse<'_> {
        let write = &mut self.writes[id];
        let peer = self.peers.get_mut(write.peer);
        let cools = cools(self.bot_cooldown, &self.method_cooldowns, peer.as_deref());
        let (now, base) = (self.now, if cools { thaw(self.now, self.bot_cooldown, peer.as_deref()) } else { self.now });
        let (bots, deferrals, outputs, tally) = (&mut self.bots, &self.deferrals, &mut self.outputs, &mut self.tally);
        Purse { now, tick: now.into(), base, cools, write, peer, bots, deferrals, outputs, tally }
    }

    /// The earliest moment at which the bucket has enough for the write.
    pub(super) fn earliest(&mut self, id: u32, bucket: &Bucket) -> Time {
        self.purse(id).earliest(bucket)
    }

    /// Takes from all buckets of the write, or only stands in its windows where `charge` is not set.
    #[inline]
    pub(super) fn charge(&mut self, rules: &Rules, id: u32, charge: bool) {
        let mut purse = self.purse(id);
        purse.charge(rules.buckets_of(purse.write), charge);
    }

    /// The write did not go after all: all that it took is given back.
    pub(super) fn give_back(&mut self, rules: &Rules, id: u32, since: Time) {
        let mut purse = self.purse(id);
        for bucket in rules.buckets_in(purse.write.stamped | purse.write.charged) {
            purse.give_back(bucket, since);
        }
        purse.write.stamped = 0;
        purse.write.charged = 0;
    }

    /// Until when refills of the peer's buckets stand still, now at the earliest.
    pub(super) fn thaw(&self, peer: u32) -> Time {
        thaw(self.now, self.bot_cooldown, self.peers.get(peer))
    }

    /// Until when a shared store called the bucket dry.
    pub(super) fn deferred_until(&self, bucket: &Bucket, peer: u32) -> Option<Time> {
        deferred_until(&self.deferrals, bucket, peer)
    }
}
