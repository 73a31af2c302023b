//! The shards with their send queues, and when each wants to be called.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use super::io::{Reason, ShardKey};
use crate::gate::Gate;
use crate::send_queue::{self, SendQueue};
use crate::shard::{Generation, Shard};
use crate::time::Time;

/// One shard and what it may send.
#[derive(Debug)]
pub(super) struct Member<S> {
    pub(super) shard: Shard,
    pub(super) send_queue: SendQueue<S>,
    /// The connection that the send queue knows to be open.
    pub(super) opened: Option<Generation>,
    /// As it stands in the index.
    due: Option<Time>,
}

impl<S> Member<S> {
    /// A shard that was never connected.
    pub(super) fn new(now: Time, shard: Shard, settings: send_queue::Settings) -> Self {
        let mut send_queue = SendQueue::new(settings);
        send_queue.handle(now, send_queue::Input::Closed { code: None });
        Self { shard, send_queue, opened: None, due: None }
    }

    fn next(&self, key: ShardKey) -> Option<(Time, Reason)> {
        let shard = self.shard.poll_timeout().map(|(at, reason)| (at, Reason::Shard(key, reason)));
        let queue = self.send_queue.poll_timeout().map(|(at, reason)| (at, Reason::SendQueue(key, reason)));
        shard.into_iter().chain(queue).min_by_key(|(at, _)| *at)
    }
}

/// All of them. The index holds each member's next moment, so that nobody has to look through thousands.
#[derive(Debug)]
pub(super) struct Members<S> {
    by_key: BTreeMap<ShardKey, Box<Member<S>>>,
    index: BTreeSet<(Time, ShardKey)>,
}

impl<S> Members<S> {
    pub(super) fn new() -> Self {
        Self { by_key: BTreeMap::new(), index: BTreeSet::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn get(&self, key: ShardKey) -> Option<&Member<S>> {
        self.by_key.get(&key).map(|member| &**member)
    }

    /// To tell it something; [`Members::reindex`] follows.
    pub(super) fn get_mut(&mut self, key: ShardKey) -> Option<&mut Member<S>> {
        self.by_key.get_mut(&key).map(|member| &mut **member)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = ShardKey> + '_ {
        self.by_key.keys().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ShardKey, &Member<S>)> {
        self.by_key.iter().map(|(key, member)| (*key, &**member))
    }

    pub(super) fn insert(&mut self, key: ShardKey, member: Member<S>) {
        self.by_key.insert(key, Box::new(member));
        self.reindex(key);
    }

    pub(super) fn remove(&mut self, key: ShardKey) {
        if let Some(due) = self.by_key.remove(&key).and_then(|member| member.due) {
            self.index.remove(&(due, key));
        }
    }

    /// Its next moment may have changed. For most dispatches it has not.
    pub(super) fn reindex(&mut self, key: ShardKey) {
        let Some(member) = self.by_key.get_mut(&key) else { return };
        let due = member.next(key).map(|(at, _)| at);
        if due != member.due {
            if let Some(old) = core::mem::replace(&mut member.due, due) {
                self.index.remove(&(old, key));
            }
            if let Some(new) = due {
                self.index.insert((new, key));
            }
        }
    }

    /// Who is due first, and when.
    pub(super) fn first_due(&self) -> Option<(Time, ShardKey)> {
        self.index.first().copied()
    }

    pub(super) fn next(&self) -> Option<(Time, Reason)> {
        let (_, key) = self.first_due()?;
        self.get(key)?.next(key)
    }

    pub(super) fn check(&self) {
        let dues = self.by_key.iter().filter_map(|(key, member)| {
            assert_eq!(member.due, member.next(*key).map(|(at, _)| at), "the index knows when each is due");
            member.due.map(|due| (due, *key))
        });
        assert_eq!(dues.collect::<BTreeSet<_>>(), self.index, "and nothing else");
    }
}
