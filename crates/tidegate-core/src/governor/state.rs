//! All that a governor remembers, and the order in which it looks at what is due.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::chain::Messages;
use super::counters::Counted;
use super::io::{DropReason, Output, Reason, Ticket};
use super::memory::{Recent, Wheel};
use super::peers::Peers;
use super::plan::Rules;
use super::rings::Bot;
use super::tally::Tally;
use super::tickets::Tickets;
use super::write::{NONE, Stage, WriteState};
use crate::arena::Arena;
use crate::cooldown::Cooldown;
use crate::key::{MethodKey, Peer};
use crate::policy::BucketId;
use crate::time::{Span, Time};
use crate::window::Window;

/// How often what grew in a rush is looked through.
const TIDY: Span = Span::from_secs(60);
/// Whatever stood in a window of the bot so long ago has lapsed: the heaviest write stands less than a day.
const STALE: Span = Span::from_secs(2 * 86_400);
/// Room that outputs and timers keep.
const KEPT: usize = 1_024;

#[derive(Debug)]
pub(super) struct State {
    pub(super) now: Time,
    /// Every released write is answered at once.
    pub(super) instant: bool,
    pub(super) peers: Peers,
    pub(super) writes: Arena<WriteState>,
    pub(super) tickets: Tickets,
    pub(super) messages: Messages,
    pub(super) held: usize,
    pub(super) bots: Vec<Bot>,
    pub(super) bot_cooldown: Option<Cooldown>,
    pub(super) method_cooldowns: HashMap<MethodKey, Cooldown, FixedState>,
    /// Buckets that a shared store called dry until a moment, of one peer or (with [`NONE`]) of the bot.
    pub(super) deferrals: Vec<(BucketId, u32, Time)>,
    /// The latest refusal of each peer: when, and when its cooldown ends.
    pub(super) refusals: Vec<(Peer, Time, Time)>,
    pub(super) forums: Recent<()>,
    pub(super) moved: Recent<Peer>,
    pub(super) timers: BinaryHeap<Reverse<(Time, u32)>>,
    pub(super) wheel: Wheel,
    /// Peers to look at before this input is done with.
    pub(super) work: VecDeque<u32>,
    /// Peers some of whose writes may have to be refused, once nothing more can go at this moment.
    late: VecDeque<u32>,
    pub(super) outputs: VecDeque<Output>,
    pub(super) tally: Tally,
    /// When the bot's windows and the larger stores are next looked through.
    tidy_at: Time,
    pub(super) seq: u64,
    /// When all peers were last looked at because there were too many.
    pub(super) swept: Time,
    /// The last writes that ended, with their peer, route and release.
    pub(super) ended: VecDeque<(Ticket, (u32, MethodKey, Time))>,
    /// Why the write that is being decided does not go now.
    pub(super) last_wait: Option<(u32, DropReason)>,
}

impl State {
    pub(super) fn new(rules: &Rules, instant: bool) -> Self {
        Self {
            now: Time::ZERO,
            instant,
            peers: Peers::new(),
            writes: Arena::default(),
            tickets: Tickets::new(),
            messages: Messages::new(rules.policy.platform),
            held: 0,
            bots: (0..rules.bots).map(|_| Bot::new()).collect(),
            bot_cooldown: None,
            method_cooldowns: HashMap::with_hasher(FixedState::with_seed(4)),
            deferrals: Vec::new(),
            refusals: Vec::new(),
            forums: Recent::new(),
            moved: Recent::new(),
            timers: BinaryHeap::new(),
            wheel: Wheel::new(),
            work: VecDeque::new(),
            late: VecDeque::new(),
            outputs: VecDeque::new(),
            tally: Tally::new(rules),
            tidy_at: Time::ZERO + TIDY,
            seq: 0,
            swept: Time::ZERO,
            ended: VecDeque::new(),
            last_wait: None,
        }
    }

    /// Does all that is due now, and all that follows from it.
    #[inline]
    pub(super) fn run_due(&mut self, rules: &Rules) {
        if self.anything_due() {
            self.run_all_due(rules);
        }
    }

    #[inline]
    fn anything_due(&self) -> bool {
        let now = self.now;
        !self.work.is_empty()
            || !self.late.is_empty()
            || self.timers.peek().is_some_and(|Reverse((at, peer))| *at <= now || !self.wakes(*peer, *at))
            || self.bots.iter().any(|bot| bot.is_due(now))
            || self.tally.due_at <= now
            || self.wheel.is_due(now)
            || self.tidy_at <= now
    }

    /// Whether a timer still means something.
    fn wakes(&self, peer: u32, at: Time) -> bool {
        self.peers.get(peer).is_some_and(|state| state.wake == at)
    }

    #[inline(never)]
    fn run_all_due(&mut self, rules: &Rules) {
        if self.tidy_at <= self.now {
            self.tidy();
        }
        while let Some(&Reverse((at, peer))) = self.timers.peek() {
            let valid = self.wakes(peer, at);
            if valid && at > self.now {
                break;
            }
            self.timers.pop();
            if valid {
                self.peers[peer].wake = Time::NEVER;
                self.enqueue(peer);
            }
        }
        loop {
            while let Some(peer) = self.work.pop_front() {
                if let Some(state) = self.peers.get_mut(peer) {
                    state.queued = false;
                    self.pump(rules, peer, None);
                }
            }
            // What can go at this moment goes, by its turn too: only then is it said who has waited for too long.
            let more = self.serve_any(rules) || !self.work.is_empty() || self.review_next(rules);
            if !more {
                break;
            }
        }
        if self.tally.due_at <= self.now {
            self.sum_up(rules);
        }
        self.forget_some();
    }

    /// Measures the waits of one of the peers that want it; whether there was one. First comes whoever has the turn at a
    /// bucket of the bot: if what waits there is refused, the next may go yet.
    fn review_next(&mut self, rules: &Rules) -> bool {
        let is_late = |peers: &Peers, peer: u32| peers.get(peer).is_some_and(|peer| peer.late);
        let turns = self.bots.iter_mut().filter_map(Bot::turn).map(|(peer, _)| peer);
        let mut next = turns.into_iter().find(|peer| is_late(&self.peers, *peer));
        while next.is_none() {
            let Some(first) = self.late.pop_front() else { return false };
            next = Some(first).filter(|peer| is_late(&self.peers, *peer));
        }
        if let Some(peer) = next {
            let state = &mut self.peers[peer];
            (state.late, state.grown) = (false, false);
            if self.review(rules, peer) {
                // Places were given up or turned into bookings: look again.
                self.enqueue(peer);
            }
        }
        true
    }

    /// Now and then: no stamp of a window grows old, and memory that a rush took is given back.
    fn tidy(&mut self) {
        if self.now.since(self.tidy_at) > STALE {
            for bot in &mut self.bots {
                bot.window = Window::default();
            }
            let all: Vec<u32> = self.peers.keys().collect();
            for peer in all {
                self.peers[peer].clear_windows();
            }
        }
        for bot in &mut self.bots {
            bot.window.count(self.now.into());
        }
        self.tidy_at = self.now + TIDY;
        self.tickets.shrink();
        self.messages.shrink(&self.writes);
        self.outputs.shrink_to(KEPT);
        self.timers.shrink_to(KEPT);
    }

    #[inline]
    pub(super) fn enqueue(&mut self, peer: u32) {
        if let Some(state) = self.peers.get_mut(peer)
            && !state.queued
            && !state.line.is_empty()
        {
            state.queued = true;
            self.work.push_back(peer);
        }
    }

    /// The peer's waits are to be measured before this input is done with.
    pub(super) fn enlist_late(&mut self, peer: u32) {
        if let Some(state) = self.peers.get_mut(peer)
            && !state.late
        {
            state.late = true;
            self.late.push_back(peer);
        }
    }

    /// Something made the peer's waits longer.
    pub(super) fn enqueue_grown(&mut self, peer: u32) {
        if let Some(state) = self.peers.get_mut(peer) {
            state.grown = true;
        }
        self.enqueue(peer);
    }

    /// Every peer that has something waiting. Only for what concerns the whole bot and is rare.
    pub(super) fn enqueue_all(&mut self, grown: bool) {
        let waiting: Vec<u32> =
            self.peers.iter().filter(|(_, state)| !state.line.is_empty()).map(|(peer, _)| peer).collect();
        for peer in waiting {
            self.peers[peer].grown |= grown;
            self.enqueue(peer);
        }
    }

    /// The peer's line wants to be looked at then.
    pub(super) fn wake_at(&mut self, peer: u32, at: Time) {
        let Some(state) = self.peers.get_mut(peer) else { return };
        if state.wake == at {
            return;
        }
        state.wake = at;
        if at < Time::NEVER {
            self.timers.push(Reverse((at, peer)));
        }
        if self.timers.len() > 2 * self.held + 1024 {
            let peers = &self.peers;
            self.timers.retain(|Reverse((at, peer))| peers.get(*peer).is_some_and(|state| state.wake == *at));
        }
    }

    #[inline]
    pub(super) fn next_timeout(&self) -> Option<(Time, Reason)> {
        let mut at = self.timers.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        for bot in &self.bots {
            at = at.min(bot.wakes_at());
        }
        let forget = self.wheel.next().min(self.tally.due_at);
        let why = if forget < at { Reason::Forget } else { Reason::Held };
        let at = at.min(forget);
        (at < Time::NEVER).then(|| (at.max(self.now), why))
    }

    /// One more of `what` for this write.
    #[inline]
    pub(super) fn count(&mut self, rules: &Rules, write: u32, what: Counted) {
        let write = &self.writes[write];
        self.tally.count(rules, self.now, write, self.peers.get(write.peer), [what]);
    }

    #[inline]
    pub(super) fn uncount(&mut self, write: u32, level: Counted) {
        self.tally.uncount(&self.writes[write], level);
    }

    fn sum_up(&mut self, rules: &Rules) {
        let summaries = self.tally.sum_up(rules);
        self.outputs.extend(summaries.into_iter().map(Output::Note));
    }

    pub(super) fn at_rest(&self) -> bool {
        let cools = |cooldown: &Option<Cooldown>| cooldown.is_some_and(|cooldown| !cooldown.over(self.now));
        self.writes.len() == 0 && !cools(&self.bot_cooldown) && self.cooling_peers() == 0
    }

    pub(super) fn cooling_peers(&self) -> usize {
        let cools = |cooldown: Option<Cooldown>| cooldown.is_some_and(|cooldown| !cooldown.over(self.now));
        self.peers.iter().filter(|(_, peer)| peer.extra.is_some() && cools(peer.cooldown())).count()
    }

    /// Panics where the parts contradict each other.
    pub(super) fn check(&self, rules: &Rules) {
        assert!(self.tally.counters.balanced(), "accepted is not the sum of all ends and levels");
        assert!(self.work.is_empty() && self.late.is_empty(), "work is left over");
        assert!(self.held <= super::HELD_MAX + super::HELD_PER_PEER_MAX as usize, "too many held");
        if self.peers.len() > 64 {
            return;
        }
        let mut held = 0;
        for (at, peer) in self.peers.iter() {
            let lined =
                |stage: fn(&Stage) -> bool| peer.line.iter().filter(|write| stage(&self.writes[**write].stage)).count();
            assert_eq!(lined(|stage| *stage == Stage::Held), peer.held(), "held of {at}");
            assert_eq!(lined(|stage| matches!(stage, Stage::Booked { .. })), peer.booked as usize, "booked of {at}");
            assert!(peer.line.is_sorted_by_key(|write| self.writes[*write].place()), "line of {at} is out of order");
            assert!(peer.booked <= super::BOOKED_PER_PEER_MAX);
            let wakes = peer.wake < Time::NEVER || self.bots.iter().any(|bot| bot.waits(at));
            let flies = peer.flying != NONE || self.bot_cooldown.is_some() || !self.method_cooldowns.is_empty();
            let follows = peer.line.iter().any(|write| self.writes[*write].older != NONE);
            assert!(peer.line.is_empty() || wakes || flies || follows, "nothing will wake {at}");
            held += peer.held();
        }
        assert_eq!(held, self.held);
        self.check_order(rules);
    }
}

/// A little later than `now`: for things that are looked at again now and then.
pub(super) fn soon(now: Time) -> Time {
    now + Span::from_secs(8)
}
