//! All gates of one bot: its Gateway side and its governor.

use super::Gateway;
use super::io::{self, Input, Output};
use crate::gate::Gate;
use crate::governor::{self, Governor};
use crate::time::Time;

/// All gates of one bot as one. A program that serves keeps the two apart, each behind a lock of its own.
#[derive(Debug)]
pub struct Bot<S> {
    /// Its shards, send queues and identify queue.
    pub gateway: Gateway<S>,
    /// What it writes over HTTP.
    pub governor: Governor,
}

/// What the world tells.
#[derive(Clone, Debug)]
pub enum BotInput<S> {
    /// Of the Gateway.
    Gateway(Input<S>),
    /// Of HTTP.
    Governor(governor::Input),
    /// Time has passed.
    Tick,
}

/// What is asked of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BotOutput<S> {
    /// Of the Gateway.
    Gateway(Output<S>),
    /// Of HTTP.
    Governor(governor::Output),
}

/// Why it wants to be called again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotReason {
    /// The Gateway side does.
    Gateway(io::Reason),
    /// The governor does.
    Governor(governor::Reason),
}

impl<S: Clone> Gate for Bot<S> {
    type Input = BotInput<S>;
    type Output = BotOutput<S>;
    type Reason = BotReason;

    fn tick() -> BotInput<S> {
        BotInput::Tick
    }

    fn handle(&mut self, now: Time, input: BotInput<S>) {
        match input {
            BotInput::Gateway(input) => self.gateway.handle(now, input),
            BotInput::Governor(input) => self.governor.handle(now, input),
            BotInput::Tick => {}
        }
        // What is due is done, whichever of them was told something.
        let is_due = |due: Option<Time>| due.is_some_and(|at| at <= now);
        if is_due(self.gateway.poll_timeout().map(|(at, _)| at)) {
            self.gateway.handle(now, Input::Tick);
        }
        if is_due(self.governor.poll_timeout().map(|(at, _)| at)) {
            self.governor.handle(now, governor::Input::Tick);
        }
        // Each has checked itself.
    }

    fn poll_output(&mut self) -> Option<BotOutput<S>> {
        let gateway = self.gateway.poll_output().map(BotOutput::Gateway);
        gateway.or_else(|| self.governor.poll_output().map(BotOutput::Governor))
    }

    fn poll_timeout(&self) -> Option<(Time, BotReason)> {
        let gateway = self.gateway.poll_timeout().map(|(at, reason)| (at, BotReason::Gateway(reason)));
        let governor = self.governor.poll_timeout().map(|(at, reason)| (at, BotReason::Governor(reason)));
        gateway.into_iter().chain(governor).min_by_key(|(at, _)| *at)
    }

    fn check_invariants(&self) {
        self.gateway.check_invariants();
        self.governor.check_invariants();
    }
}
