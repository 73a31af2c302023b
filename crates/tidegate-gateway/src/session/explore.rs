//! Sessions under any order of what may happen to them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::discord::Fatal;
use tidegate_core::shard::{self, StopReason, Why};
use tidegate_core::{Span, Time};

use super::tests::{TIMES, identify};
use super::{Input, Order, Session, Word};
use crate::ring::{Bounds, Ring, Total};

/// What a bot knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bot {
    /// It asked.
    Asked,
    /// It was told where it is in the ring.
    Follows,
    /// It was told op 9.
    Invalid,
}

struct World {
    session: Session,
    ring: Arc<Ring>,
    now: Time,
    bots: BTreeMap<u64, Bot>,
    last_bot: u64,
    seq: u64,
    random: u64,
    /// IDENTIFYs that bots sent, and those that the shard was told of.
    asked: u64,
    fresh: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let ring = Ring::new(Bounds { events: 8, bytes: 1000 }, &Total::new(10_000));
        let session = Session::new(TIMES);
        let (now, bots) = (Time::ZERO, BTreeMap::new());
        Self { session, ring, now, bots, last_bot: 0, seq: 0, random: seed | 1, asked: 0, fresh: 0 }
    }

    fn below(&mut self, limit: u64) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }

    /// One of the bots that are connected.
    fn some_bot(&mut self) -> Option<u64> {
        let at = self.below(self.bots.len().max(1) as u64);
        self.bots.keys().nth(usize::try_from(at).unwrap()).copied()
    }

    fn step(&mut self) {
        let millis = [0, 1, 700, 5_000, 61_000][usize::try_from(self.below(5)).unwrap()];
        self.now += Span::from_millis(millis);
        let why = [Why::Backoff, Why::Cooldown, Why::Budget][usize::try_from(self.below(3)).unwrap()];
        match self.below(14) {
            0..=2 => {
                self.last_bot += 1;
                self.asks(self.last_bot);
            }
            3 | 4 => {
                if let Some((bot, Bot::Invalid)) = self.some_bot().map(|bot| (bot, self.bots[&bot])) {
                    self.asks(bot);
                }
            }
            5 | 6 => {
                if let Some(bot) = self.some_bot() {
                    self.bots.remove(&bot);
                    let code = [None, Some(1000), Some(4000)][usize::try_from(self.below(3)).unwrap()];
                    self.tell(Input::Left { bot, code });
                }
            }
            7 => self.tell(Input::Going),
            8 => {
                let until = self.now + Span::from_millis(self.below(2) * 200_000 + 1000);
                self.tell(Input::Waiting { until, why });
            }
            9 => self.tell(Input::Stopped(StopReason::Fatal(Fatal::DisallowedIntents))),
            10 if self.session.identify().is_some() => {
                self.seq = 1;
                self.ring.begin(1, "READY".into());
                self.tell(Input::Ready { session: "s".into() });
            }
            11 => self.tell(Input::Resumed),
            12 if self.session.id().is_some() => self.tell(Input::Lost),
            _ => {
                self.seq += 1;
                self.ring.append([(self.seq, "event".into())]);
                self.tell(Input::Tick);
            }
        }
    }

    fn asks(&mut self, bot: u64) {
        self.bots.insert(bot, Bot::Asked);
        let seq = self.below(self.seq + 2);
        if self.below(2) == 0 {
            self.asked += 1;
            self.tell(Input::Identify { bot, identify: identify(self.random % 2) });
        } else {
            self.tell(Input::Resume { bot, seq });
        }
    }

    fn tell(&mut self, input: Input) {
        self.session.handle(self.now, input, &*self.ring);
        while let Some(order) = self.session.order() {
            match order {
                Order::Tell { bot, word } => self.told(bot, &word),
                Order::Shard(shard::Input::Fresh { .. }) => self.fresh += 1,
                Order::Shard(_) => {}
                Order::Reopen { seq } => self.ring.reset(seq),
                Order::Clear => self.ring.reset(0),
                Order::Forget => assert_eq!(self.session.bots().count(), 0, "nobody is forgotten"),
            }
        }
        self.check();
    }

    fn told(&mut self, bot: u64, word: &Word) {
        // One that has left is told nothing of use, but does no harm.
        let Some(state) = self.bots.get_mut(&bot) else { return };
        match word {
            Word::Begin | Word::Replay(_) | Word::Follow => {
                assert_eq!(*state, Bot::Asked, "one READY or RESUMED for one that asked");
                *state = Bot::Follows;
            }
            Word::Resumed => assert_eq!(*state, Bot::Follows),
            Word::Invalid => {
                assert_ne!(*state, Bot::Invalid, "never two op 9 in a row");
                *state = Bot::Invalid;
            }
            Word::Close(_) => {
                self.bots.remove(&bot);
            }
        }
    }

    fn check(&self) {
        assert!(self.session.due().is_none_or(|due| due > self.now), "what is due is done");
        assert!(self.fresh <= self.asked, "a session start for each IDENTIFY at most");
        for bot in self.session.bots() {
            assert!(self.bots.contains_key(&bot), "who is told goodbye has no part in it");
        }
        for (bot, state) in &self.bots {
            let has_part = self.session.bots().any(|other| other == *bot);
            assert!(has_part || *state == Bot::Invalid, "who asked is answered, attached, or waits");
        }
    }
}

#[test]
fn whatever_happens_bots_are_told_what_they_can_understand() {
    for seed in 0..400_u64 {
        let mut world = World::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..300 {
            world.step();
        }
    }
}
