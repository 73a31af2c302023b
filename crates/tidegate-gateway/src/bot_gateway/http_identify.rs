//! Bots that keep their own Gateway connection and ask for a place in the identify line over HTTP. Each shard is asked for
//! by one of them at most.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::Span;
use tidegate_core::bot;
use tidegate_core::identify_queue::{GrantId, Input, Output, Shard};
use tokio::sync::oneshot;

use super::{Caller, Fleet, Turn};
use crate::discover::Discover;
use crate::frame::Identity;

/// Requests of one bot that may wait.
const WAITING_MAX: usize = 4096;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// It may IDENTIFY.
    Granted(GrantId),
    /// No session start is left; asking again may help then.
    Denied(Span),
    /// A newer request for the same shard has its place.
    Replaced,
    /// It was given back before its turn came.
    Released,
    /// Discord does not take the token.
    Unauthorized,
}

/// Those that wait.
#[derive(Debug, Default)]
pub(super) struct Outside {
    waiting: BTreeMap<Shard, Waiter>,
    last: u64,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    answer: oneshot::Sender<Given>,
}

impl Outside {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// A request that waits. Dropped, it is cancelled.
pub struct Place {
    fleet: Arc<Fleet>,
    shard: Shard,
    number: u64,
    answer: oneshot::Receiver<Given>,
}

impl Place {
    /// What becomes of it.
    pub async fn given(&mut self) -> Given {
        (&mut self.answer).await.unwrap_or(Given::Replaced)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Only while it waits is there anything to cancel.
        self.answer.close();
        if let Ok(Given::Granted(grant)) = self.answer.try_recv() {
            return self.fleet.give_back(self.shard, Some(grant), true);
        }
        let (shard, number) = (self.shard, self.number);
        self.fleet.turn(|turn| turn.leaves(shard, number));
    }
}

impl Fleet {
    /// Asks for a shard's place; `None` where too many wait. Without an identity nobody can ask Discord what is left, and
    /// its usual limits are taken.
    pub(crate) fn ask(
        self: &Arc<Self>,
        discover: &Arc<dyn Discover>,
        identity: Option<Identity>,
        shard: Shard,
    ) -> Option<Place> {
        let (answer, place) = oneshot::channel();
        let number = self.turn(|turn| turn.asks(discover, identity, shard, answer))?;
        Some(Place { fleet: Arc::clone(self), shard, number, answer: place })
    }

    /// Gives a grant back: the one with that number, or the current one, or a place in the line.
    pub(crate) fn give_back(self: &Arc<Self>, shard: Shard, grant: Option<GrantId>, unused: bool) {
        self.turn(|turn| {
            turn.tell(bot::Input::IdentifyQueue(Input::Release { shard, grant, unused }));
            if grant.is_none() {
                turn.answer(shard, Given::Released);
            }
        });
    }
}

impl Turn<'_> {
    fn asks(
        &mut self,
        discover: &Arc<dyn Discover>,
        identity: Option<Identity>,
        shard: Shard,
        answer: oneshot::Sender<Given>,
    ) -> Option<u64> {
        let outside = &mut self.state.outside;
        if outside.waiting.len() >= WAITING_MAX && !outside.waiting.contains_key(&shard) {
            return None;
        }
        outside.last += 1;
        let number = outside.last;
        if let Some(older) = outside.waiting.insert(shard, Waiter { number, answer }) {
            let _ = older.answer.send(Given::Replaced);
        }
        let is_known = identity.is_some();
        if let Some(identity) = identity {
            let runtime = tokio::runtime::Handle::current();
            self.state.caller = Some(Caller { discover: Arc::clone(discover), runtime, identity });
        }
        if self.state.gate.is_some() {
            self.request(shard);
        }
        if is_known {
            self.discover_if_old();
        } else if self.state.gate.is_none() {
            self.begin_alone();
        }
        Some(number)
    }

    /// The gates are there now.
    pub(super) fn ask_for_all(&mut self) {
        let shards: Vec<Shard> = self.state.outside.waiting.keys().copied().collect();
        for shard in shards {
            self.request(shard);
        }
    }

    fn request(&mut self, shard: Shard) {
        self.tell(bot::Input::IdentifyQueue(Input::Request { shard, http: true }));
    }

    fn leaves(&mut self, shard: Shard, number: u64) {
        if self.state.outside.waiting.get(&shard).is_some_and(|waiter| waiter.number == number) {
            self.state.outside.waiting.remove(&shard);
            self.tell(bot::Input::IdentifyQueue(Input::Release { shard, grant: None, unused: true }));
        }
    }

    /// What the identify queue says to those outside.
    pub(super) fn outside(&mut self, output: Output) {
        match output {
            Output::Grant { shard, grant } => {
                if !self.answer(shard, Given::Granted(grant)) {
                    let release = Input::Release { shard, grant: Some(grant), unused: true };
                    self.tell(bot::Input::IdentifyQueue(release));
                }
            }
            Output::Deny { shard, refresh_at } => {
                self.answer(shard, Given::Denied(refresh_at.since(self.now)));
            }
            Output::Note(_) | Output::Wake { .. } => {}
        }
    }

    /// Discord does not take the token.
    pub(super) fn turn_outside_away(&mut self) {
        for (_, waiter) in std::mem::take(&mut self.state.outside.waiting) {
            let _ = waiter.answer.send(Given::Unauthorized);
        }
    }

    /// Whether somebody was there to take it.
    fn answer(&mut self, shard: Shard, given: Given) -> bool {
        let waiter = self.state.outside.waiting.remove(&shard);
        waiter.is_some_and(|waiter| waiter.answer.send(given).is_ok())
    }
}
