//! The shards with their send queues, and when each wants to be called.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::io::{Reason, ShardKey};
use crate::arena::Arena;
use crate::gate::Gate;
use crate::send_queue::{self, SendQueue};
use crate::shard::{Generation, Shard};
use crate::time::Time;

/// A member's place, as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat(u32);

/// One shard and what it may send.
#[derive(Debug)]
pub(super) struct Member<S> {
    pub(super) key: ShardKey,
    pub(super) shard: Shard,
    pub(super) send_queue: SendQueue<S>,
    /// The connection that the send queue knows to be open.
    pub(super) opened: Option<Generation>,
    /// As it stands in the index.
    due: Option<Time>,
}

impl<S: Clone> Member<S> {
    /// A shard that was never connected.
    pub(super) fn new(now: Time, key: ShardKey, shard: Shard, settings: send_queue::Settings) -> Self {
        let mut send_queue = SendQueue::new(settings);
        send_queue.handle(now, send_queue::Input::Closed { code: None });
        Self { key, shard, send_queue, opened: None, due: None }
    }

    fn next(&self) -> Option<(Time, Reason)> {
        let shard = self.shard.poll_timeout().map(|(at, reason)| (at, Reason::Shard(self.key, reason)));
        let queue = self.send_queue.poll_timeout().map(|(at, reason)| (at, Reason::SendQueue(self.key, reason)));
        match (shard, queue) {
            (Some(shard), Some(queue)) if queue.0 < shard.0 => Some(queue),
            (shard, queue) => shard.or(queue),
        }
    }
}

/// All of them. The index holds each member's next moment, so that nobody has to look through thousands.
#[derive(Debug)]
pub(super) struct Members<S> {
    seats: Arena<Box<Member<S>>>,
    by_key: HashMap<ShardKey, Seat, FixedState>,
    in_order: BTreeMap<ShardKey, Seat>,
    index: BTreeSet<(Time, Seat)>,
}

impl<S: Clone> Members<S> {
    pub(super) fn new() -> Self {
        Self {
            seats: Arena::default(),
            by_key: HashMap::with_hasher(FixedState::with_seed(7)),
            in_order: BTreeMap::new(),
            index: BTreeSet::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    pub(super) fn seat(&self, key: ShardKey) -> Option<Seat> {
        self.by_key.get(&key).copied()
    }

    pub(super) fn get(&self, key: ShardKey) -> Option<&Member<S>> {
        self.at(self.seat(key)?)
    }

    pub(super) fn at(&self, seat: Seat) -> Option<&Member<S>> {
        self.seats.get(seat.0).map(|member| &**member)
    }

    /// To tell it something; [`Members::reindex`] follows.
    pub(super) fn at_mut(&mut self, seat: Seat) -> Option<&mut Member<S>> {
        self.seats.get_mut(seat.0).map(|member| &mut **member)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = ShardKey> + '_ {
        self.in_order.keys().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Member<S>> {
        self.seats.iter().map(|(_, member)| &**member)
    }

    pub(super) fn insert(&mut self, member: Member<S>) {
        let key = member.key;
        let seat = Seat(self.seats.insert(Box::new(member)));
        self.by_key.insert(key, seat);
        self.in_order.insert(key, seat);
        self.reindex(seat);
    }

    pub(super) fn remove(&mut self, key: ShardKey) {
        let Some(seat) = self.by_key.remove(&key) else { return };
        self.in_order.remove(&key);
        if let Some(due) = self.seats.remove(seat.0).and_then(|member| member.due) {
            self.index.remove(&(due, seat));
        }
    }

    /// Its next moment may have changed. For most dispatches it has not.
    pub(super) fn reindex(&mut self, seat: Seat) {
        let Some(member) = self.seats.get_mut(seat.0) else { return };
        let due = member.next().map(|(at, _)| at);
        if due != member.due {
            if let Some(old) = core::mem::replace(&mut member.due, due) {
                self.index.remove(&(old, seat));
            }
            if let Some(new) = due {
                self.index.insert((new, seat));
            }
        }
    }

    /// Who is due first, and when.
    pub(super) fn first_due(&self) -> Option<(Time, Seat)> {
        self.index.first().copied()
    }

    pub(super) fn next(&self) -> Option<(Time, Reason)> {
        let (_, seat) = self.first_due()?;
        self.at(seat)?.next()
    }

    pub(super) fn check(&self) {
        let dues = self.in_order.iter().filter_map(|(key, seat)| {
            let member = self.at(*seat)?;
            assert_eq!((member.key, self.seat(*key)), (*key, Some(*seat)), "each sits where it is looked for");
            assert_eq!(member.due, member.next().map(|(at, _)| at), "the index knows when each is due");
            member.due.map(|due| (due, *seat))
        });
        assert_eq!(dues.collect::<BTreeSet<_>>(), self.index, "and nothing else");
        assert!(self.in_order.len() == self.len() && self.by_key.len() == self.len(), "nobody sits in vain");
    }
}
