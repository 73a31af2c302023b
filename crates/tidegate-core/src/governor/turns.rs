//! The turns at a bucket of the bot that are to come: for telling when a write would have its own.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::plan::Rules;
use super::rings::Bot;
use super::state::State;
use super::store::{Bucket, Store};
use super::write::{NONE, WriteState};
use crate::bucket::{Rate, Token};
use crate::time::Time;
use crate::window::Run;

/// Rounds after which the bucket's level is kept, for peers that stand in no ring yet.
const ROUNDS: usize = 64;

/// A bucket of the bot as it will be used, write after write.
#[derive(Clone, Debug)]
pub(super) enum Level {
    Window(Run),
    Token { token: Token, rate: Rate, at: Time },
}

impl Level {
    /// Nothing goes before this.
    pub(super) fn not_before(&mut self, moment: Time) {
        match self {
            Self::Window(run) => run.not_before(moment),
            Self::Token { at, .. } => *at = moment.max(*at),
        }
    }

    /// When one of this weight would go next.
    pub(super) fn earliest(&self, weight: u32) -> Time {
        match self {
            Self::Window(run) => run.earliest(weight),
            Self::Token { token, rate, at } => token.earliest(*rate, *at, weight),
        }
    }

    /// One of this weight goes next; when.
    pub(super) fn place(&mut self, weight: u32) -> Time {
        match self {
            Self::Window(run) => run.place(weight),
            Self::Token { token, rate, at } => {
                *at = token.earliest(*rate, *at, weight);
                token.take(*rate, *at, weight);
                *at
            }
        }
    }
}

/// The turns at one bucket of the bot, as its rings stand at a moment: made once for all who ask then.
#[derive(Debug)]
pub(super) struct Turns {
    made: (Time, u64),
    /// Where each waiting peer's writes stand in `times`.
    places: HashMap<u32, (u32, u32), FixedState>,
    times: Vec<Time>,
    /// The level when every peer has had so many turns and one, where it has so many writes.
    rounds: Vec<Level>,
}

impl Turns {
    /// When each of the peer's writes has its turn, in the order of its line; nothing where it stands in no ring.
    pub(super) fn of(&self, peer: u32) -> &[Time] {
        let place = self.places.get(&peer);
        place.and_then(|(first, end)| self.times.get(*first as usize..*end as usize)).unwrap_or_default()
    }

    /// The level when the others have had so many turns and one.
    pub(super) fn round(&self, turns: usize) -> Option<&Level> {
        self.rounds.get(turns).or(self.rounds.last())
    }
}

/// A write that waits: its weight, and the ring that it belongs to.
#[derive(Clone, Copy)]
struct Waiter {
    weight: u32,
    ring: usize,
}

/// A peer of a ring: its writes, and how many of them have had their turn.
struct Member {
    peer: u32,
    first: usize,
    end: usize,
    next: usize,
}

impl State {
    /// The turns at that bucket of the bot, as they stand now. A write that is refused leaves them as they are, for its
    /// place is kept: so they are made anew only when a write came or went.
    pub(super) fn turns(&mut self, rules: &Rules, slot: usize) -> Turns {
        let made = (self.now, self.moves);
        match self.turns.get_mut(slot).and_then(Option::take).filter(|turns| turns.made == made) {
            Some(turns) => turns,
            None => self.foresee_turns(rules, slot, made),
        }
    }

    fn foresee_turns(&mut self, rules: &Rules, slot: usize, made: (Time, u64)) -> Turns {
        let mut level = self.level(rules, slot);
        let (mut members, mut waiters): (Vec<Member>, Vec<Waiter>) = (Vec::new(), Vec::new());
        let mut rings = [VecDeque::new(), VecDeque::new()];
        let mut places = HashMap::with_hasher(FixedState::with_seed(5));
        for (ring, peers) in self.bots[slot].waiting().into_iter().enumerate() {
            for peer in peers {
                let first = waiters.len();
                let line = self.peers.get(peer).map_or(&[][..], |peer| &peer.line);
                let mine = line.iter().map(|id| &self.writes[*id]);
                waiters.extend(mine.filter_map(|write| self.waiter(rules, write, slot)));
                if waiters.len() > first {
                    rings[ring].push_back(members.len());
                    members.push(Member { peer, first, end: waiters.len(), next: first });
                }
            }
        }
        for member in &members {
            places.insert(member.peer, (narrow(member.first), narrow(member.end)));
        }
        self.looked += waiters.len() as u64;
        let mut times = alloc::vec![self.now; waiters.len()];
        let mut rounds = Rounds::new(&members);
        let mut turns = self.bots[slot].turns();
        while let Some(ring) = Bot::next_ring(turns, [!rings[0].is_empty(), !rings[1].is_empty()]) {
            let Some(at) = rings[ring].pop_front() else { break };
            turns = Bot::turns_after(turns, ring, !rings[1].is_empty());
            let member = &mut members[at];
            times[member.next] = level.place(waiters[member.next].weight);
            rounds.had_a_turn(member.next - member.first, &level);
            member.next += 1;
            if member.next < member.end {
                rings[waiters[member.next].ring].push_back(at);
            }
        }
        let mut rounds = rounds.levels;
        if rounds.is_empty() {
            rounds.push(level);
        }
        Turns { made, places, times, rounds }
    }

    /// What of a line waits for a turn at that bucket; `None` where the write does not.
    fn waiter(&self, rules: &Rules, write: &WriteState, slot: usize) -> Option<Waiter> {
        if write.shadowed || self.is_soft(rules, write) {
            return None;
        }
        let bucket = rules.buckets_of(write).iter().find(|bucket| bucket.bot() == Some(slot))?;
        Some(Waiter { weight: bucket.weight(write.weight), ring: usize::from(write.class.is_chrome()) })
    }

    /// It waits for something else than its turn, and keeps nobody back.
    pub(super) fn is_soft(&self, rules: &Rules, write: &WriteState) -> bool {
        write.retry_at > self.now || self.unsettled(rules, write)
    }

    /// The bucket as if all its writes were answered now.
    fn level(&mut self, rules: &Rules, slot: usize) -> Level {
        let now = self.now;
        let Some(bucket) = rules.buckets.iter().find(|bucket| bucket.bot() == Some(slot)) else {
            return Level::Token { token: Token::default(), rate: Rate::new(1, crate::time::Span::ZERO, 1), at: now };
        };
        let mut level = match bucket.store {
            Store::BotToken(_, rate) => {
                let at = self.thaw(NONE);
                Level::Token { token: self.bots[slot].token, rate, at }
            }
            Store::BotWindow(_, limit, _) => {
                let flying = self.writes.iter().filter_map(|(_, write)| unanswered(write, bucket));
                Level::Window(self.bots[slot].window.settled(now, limit, flying).run(now, limit))
            }
            _ => Level::Token { token: Token::default(), rate: Rate::new(1, crate::time::Span::ZERO, 1), at: now },
        };
        level.not_before(self.deferred_until(bucket, NONE).unwrap_or(now));
        level
    }
}

/// The moment and the weight of a write in flight that stands in the window.
pub(super) fn unanswered(write: &WriteState, bucket: &Bucket) -> Option<(Time, u32)> {
    let since = write.flying_since().filter(|_| write.stamped & bucket.bit() != 0)?;
    Some((since, bucket.weight(write.weight)))
}

/// Keeps the level at the end of each round.
struct Rounds {
    /// How many have yet to have their turn of each round.
    left: Vec<u32>,
    levels: Vec<Level>,
}

impl Rounds {
    fn new(members: &[Member]) -> Self {
        let mut left = Vec::new();
        for member in members {
            for round in 0..(member.end - member.first).min(ROUNDS) {
                match left.get_mut(round) {
                    Some(count) => *count += 1,
                    None => left.push(1),
                }
            }
        }
        Self { left, levels: Vec::new() }
    }

    fn had_a_turn(&mut self, round: usize, level: &Level) {
        let Some(left) = self.left.get_mut(round) else { return };
        *left -= 1;
        if *left == 0 {
            self.levels.push(level.clone());
        }
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
