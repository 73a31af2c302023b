//! All edits of one message that are under way (held, in flight, or awaiting their retry), in the order in which they came.

use alloc::vec::Vec;

use super::plan::Rules;
use super::state::State;
use super::write::{NONE, WriteState};
use crate::arena::Arena;
use crate::key::MessageKey;
use crate::policy::Platform;
use crate::table::{Entry, Table};

/// A table with no more places than this keeps them.
const KEPT: usize = 1_024;

/// Each message's chain, found by its newest edit.
#[derive(Debug)]
pub(super) struct Messages {
    table: Table<Newest>,
    ids: Ids,
}

/// What has a chain of its own.
#[derive(Clone, Copy, Debug)]
struct Ids {
    /// A message has the same id wherever it is named from.
    unique: bool,
}

#[derive(Clone, Copy, Debug)]
struct Newest(u32);

impl Entry for Newest {
    const FREE: Self = Self(NONE);

    #[inline]
    fn is_free(self) -> bool {
        self.0 == NONE
    }
}

/// A message of a peer, or a message alone.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Target {
    peer: u32,
    message: MessageKey,
}

impl Target {
    /// Ids that follow one another stand far apart.
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (self.message.0 ^ u64::from(self.peer).rotate_right(24)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
    }
}

impl Ids {
    #[inline]
    fn target(self, peer: u32, message: MessageKey) -> Target {
        Target { peer: if self.unique && message.is_id() { NONE } else { peer }, message }
    }

    #[inline]
    fn of(self, write: &WriteState) -> Option<Target> {
        Some(self.target(write.peer, write.message?))
    }

    /// The hash of a chain, by one of its edits.
    fn hash(self, writes: &Arena<WriteState>, newest: Newest) -> u64 {
        self.of(&writes[newest.0]).map_or(0, Target::hash)
    }
}

impl Messages {
    pub(super) fn new(platform: Platform) -> Self {
        // Discord's ids are snowflakes: a message of a webhook is also one of its channel.
        Self { table: Table::new(), ids: Ids { unique: platform == Platform::Discord } }
    }

    /// Gives memory back that a rush took.
    pub(super) fn shrink(&mut self, writes: &Arena<WriteState>) {
        let ids = self.ids;
        self.table.shrink(KEPT, |newest| ids.hash(writes, newest));
    }
}

impl State {
    /// The edit has come: it is the newest of its message.
    pub(super) fn join_chain(&mut self, id: u32) {
        let Self { messages: Messages { table, ids }, writes, .. } = self;
        let Some(target) = ids.of(&writes[id]) else { return };
        let is = |newest: Newest| ids.of(&writes[newest.0]) == Some(target);
        match table.replace(target.hash(), is, Newest(id)) {
            Some(Newest(older)) => {
                writes[older].newer = id;
                writes[id].older = older;
            }
            None => table.insert(target.hash(), Newest(id), |newest| ids.hash(writes, newest)),
        }
        writes[id].chained = true;
    }

    /// The edit is no longer under way: those that waited for it may go.
    pub(super) fn leave_chain(&mut self, id: u32) {
        let Self { messages: Messages { table, ids }, writes, .. } = self;
        let Some(target) = ids.of(&writes[id]).filter(|_| writes[id].chained) else { return };
        let (older, newer) = (writes[id].older, writes[id].newer);
        if newer == NONE {
            let is = |newest: Newest| newest.0 == id;
            if older == NONE {
                table.remove(target.hash(), is, |newest| ids.hash(writes, newest));
            } else {
                table.replace(target.hash(), is, Newest(older));
            }
        } else {
            writes[newer].older = older;
        }
        if older != NONE {
            writes[older].newer = newer;
        }
        let write = &mut writes[id];
        (write.chained, write.older, write.newer) = (false, NONE, NONE);
        if newer != NONE {
            self.wake_newer(newer);
        }
    }

    /// The newest edit of the message that is under way, or [`NONE`].
    pub(super) fn newest_of(&self, peer: u32, message: MessageKey) -> u32 {
        let (table, ids) = (&self.messages.table, self.messages.ids);
        let target = ids.target(peer, message);
        let is = |newest: Newest| ids.of(&self.writes[newest.0]) == Some(target);
        table.find(target.hash(), is).map_or(NONE, |newest| newest.0)
    }

    /// This one of a chain and all that came before it, the newest first.
    pub(super) fn chain_from(&self, newest: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| Some(id).filter(|id| *id != NONE);
        core::iter::successors(some(newest), move |id| some(self.writes[*id].older))
    }

    /// From this one of a chain on, lines are looked at again.
    pub(super) fn wake_newer(&mut self, first: u32) {
        let mut at = first;
        while at != NONE {
            let (peer, newer) = (self.writes[at].peer, self.writes[at].newer);
            self.enqueue(peer);
            at = newer;
        }
    }

    /// Edits to a chat by two names turn out to be edits to one: `moved`, now of the other name, join its chains. What
    /// left already went first, whenever it came.
    pub(super) fn join_chains(&mut self, rules: &Rules, moved: &[u32]) {
        for id in moved.iter().copied() {
            let Some(message) = self.writes.get(id).filter(|write| !write.chained).and_then(|write| write.message)
            else {
                continue;
            };
            let mut all: Vec<u32> = self.chain_from(self.newest_of(self.writes[id].peer, message)).collect();
            for id in &all {
                self.leave_chain(*id);
            }
            let joins =
                |id: &&u32| self.writes.get(**id).is_some_and(|write| !write.chained && write.message == Some(message));
            all.extend(moved.iter().filter(joins));
            all.sort_by_key(|id| {
                let write = &self.writes[*id];
                (write.is_held(), write.arrived, write.seq)
            });
            for id in &all {
                self.join_chain(*id);
            }
            for id in &all {
                if !self.writes[*id].is_held() {
                    self.went_of_chain(rules, *id);
                }
            }
            self.drop_outdated(rules, &all);
            if let Some(newest) = all.into_iter().rev().find(|id| self.writes.get(*id).is_some()) {
                self.arrange(newest);
            }
        }
    }

    /// What a newer edit covers that left under the other name does not go any more.
    fn drop_outdated(&mut self, rules: &Rules, chain: &[u32]) {
        for id in chain {
            let Some(write) = self.writes.get(*id).filter(|write| write.is_held()) else { continue };
            let outdates =
                |by: &WriteState| by.flying_since().is_some() && by.arrived > write.arrived && rules.covers(by, write);
            let by = chain.iter().copied().find(|by| self.writes.get(*by).is_some_and(outdates));
            if let Some(by) = by {
                self.supersede(rules, self.writes[by].ticket, Some(by), &[*id]);
            }
        }
    }
}
