//! Looking at a peer's line, and letting go what can go.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::consider::{Go, How, Verdict};
use super::counters::Counted;
use super::io::{Answer, DropReason};
use super::plan::Rules;
use super::purse::Gone;
use super::state::State;
use super::write::{NONE, Stage, WriteState};
use crate::arena::Arena;
use crate::governor::Class;
use crate::key::MethodKey;
use crate::policy::{PastHold, RowId};
use crate::time::Time;
use alloc::vec::Vec;

/// What became of a peer's turn at the bot's bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing of it waited for that bucket alone.
    Unneeded,
    /// One write went.
    Used,
    /// There is not enough before this.
    Short(Time),
}

/// Those of a line that wait, as far as others wait behind them.
#[derive(Default)]
pub(super) struct Waiting {
    /// Rows that wait, as bits.
    blocked: u32,
    /// Routes that wait, of rows that wait by route.
    routes: Vec<MethodKey>,
    /// Those that stand before their class because a more urgent edit of their message waits for them. They keep nobody
    /// back who is more urgent than they are themselves.
    raised: Vec<u32>,
}

/// What a look at a line found.
struct Look {
    waiting: Waiting,
    wake: Time,
    turn: Turn,
    /// The first that waits for each of the bot's buckets alone.
    bots: [Option<Class>; 8],
}

impl Look {
    fn closed(&self) -> u32 {
        self.bots.iter().zip(0_u32..).fold(0, |bits, (first, at)| bits | (u32::from(first.is_some()) << at))
    }
}

impl Waiting {
    pub(super) fn block(&mut self, rules: &Rules, write: &WriteState) {
        self.blocked |= rules.plan(write.row).conflicts;
        if rules.plan(write.row).by_route && !self.routes.contains(&write.method) {
            self.routes.push(write.method);
        }
    }

    /// The line has come to writes of this rank.
    fn come_to(&mut self, rules: &Rules, writes: &Arena<WriteState>, rank: u8) {
        let (now, later) = self.raised.iter().partition(|id| writes[**id].class.rank() <= rank);
        self.raised = later;
        let now: Vec<u32> = now;
        for id in now {
            self.block(rules, &writes[id]);
        }
    }

    /// Whether a write further back waits behind one of them.
    pub(super) fn keeps_back(&self, write: &WriteState) -> bool {
        self.blocked & bit(write.row) != 0 || self.routes.contains(&write.method)
    }
}

impl State {
    /// Lets go all of the peer's line that can go now.
    pub(super) fn pump(&mut self, rules: &Rules, peer: u32, turn: Option<usize>) -> Turn {
        let mut look = Look { waiting: Waiting::default(), wake: Time::NEVER, turn: Turn::Unneeded, bots: [None; 8] };
        let (mut at, mut overdue) = (0, false);
        if rules.spreads {
            self.stagger(rules, peer);
        }
        while let Some(&id) = self.peers.get(peer).and_then(|state| state.line.get(at)) {
            if self.writes[id].shadowed {
                at += 1;
                continue;
            }
            if self.look_at(rules, id, turn, &mut look) {
                at += 1;
                if self.writes[id].is_held() && self.writes[id].past != PastHold::Admit {
                    let deadline = self.writes[id].deadline();
                    if deadline <= self.now {
                        overdue = true;
                    } else {
                        look.wake = look.wake.min(deadline);
                    }
                }
            }
        }
        if self.peers.get(peer).is_none() {
            return look.turn;
        }
        for slot in 0..self.bots.len() {
            if turn.is_none() && self.bots[slot].waits(peer) {
                // What had the turn may be gone, and what comes after it need less.
                self.bots[slot].wake = Time::ZERO;
            }
            match look.bots.get(slot).copied().flatten() {
                Some(_) if matches!(look.turn, Turn::Short(_)) && turn == Some(slot) => {}
                Some(class) => self.bots[slot].join(peer, class),
                None if self.bots[slot].waits(peer) => self.bots[slot].leave(peer),
                None => {}
            }
        }
        if overdue || self.peers[peer].grown {
            self.enlist_late(peer);
        }
        self.wake_at(peer, look.wake);
        look.turn
    }

    /// Of edits that only our pacing keeps back, each goes while there is time for those behind it: at the end of a hold
    /// that several share, the peer's bucket would not have enough for all. One that an edit waits for which is not paced
    /// is not paced either.
    fn stagger(&mut self, rules: &Rules, peer: u32) {
        let line = self.peers.get(peer).map_or(&[][..], |peer| &peer.line);
        let (mut next, mut urgent) = (Time::NEVER, Vec::new());
        for id in line.iter().rev() {
            let write = &mut self.writes[*id];
            let plan = rules.plan(write.row);
            if !write.is_held() || write.shadowed || plan.spread(write.reach).is_none() {
                continue;
            }
            if write.named_final() || plan.spread_of(write).is_none() {
                urgent.extend(write.message);
            } else if write.paced_until < Time::NEVER {
                let waited_for = write.message.is_some_and(|message| urgent.contains(&message));
                write.paced_until = if waited_for { self.now } else { write.deadline().min(next) };
                next = write.paced_until.before(plan.refill);
            }
        }
    }

    /// Looks at one place in a line; whether it stays there.
    fn look_at(&mut self, rules: &Rules, id: u32, turn: Option<usize>, look: &mut Look) -> bool {
        if let Stage::Booked { lapses, .. } = self.writes[id].stage {
            if lapses <= self.now {
                self.forget_booking(id);
                return false;
            }
            look.wake = look.wake.min(lapses);
            if !self.unsettled(rules, &self.writes[id]) {
                look.waiting.block(rules, &self.writes[id]);
            }
            return true;
        }
        if !look.waiting.raised.is_empty() {
            look.waiting.come_to(rules, &self.writes, self.writes[id].rank);
        }
        let behind = look.waiting.keeps_back(&self.writes[id]);
        let turn = turn.filter(|_| look.turn == Turn::Unneeded);
        let verdict = if behind {
            self.cold(rules, id).unwrap_or_else(|| {
                let holds_back = !self.unsettled(rules, &self.writes[id]) && self.writes[id].retry_at <= self.now;
                Verdict::Wait(super::consider::Wait {
                    why: DropReason::Order,
                    wake: Time::NEVER,
                    holds_back,
                    bot: None,
                })
            })
        } else {
            self.consider(rules, id, turn, look.closed())
        };
        match verdict {
            Verdict::Go(go) => {
                if self.next_stage(rules, id, go) {
                    return false;
                }
                let for_turn = turn.is_some_and(|slot| self.takes_from(rules, id, slot));
                self.unline(id);
                self.release(rules, id, go);
                if for_turn {
                    look.turn = Turn::Used;
                }
                false
            }
            Verdict::Drop(reason) => {
                self.unline(id);
                self.drop_write(rules, id, reason);
                false
            }
            Verdict::TooCold(until) => {
                self.refuse_cold(rules, id, until);
                false
            }
            Verdict::Wait(wait) => {
                self.last_wait = Some((id, wait.why));
                look.wake = look.wake.min(wait.wake.max(self.now));
                let write = &self.writes[id];
                if wait.holds_back && write.rank < write.class.rank() {
                    look.waiting.raised.push(id);
                } else if wait.holds_back {
                    look.waiting.block(rules, write);
                }
                if let Some((slot, need)) = wait.bot {
                    if turn == Some(slot) && look.turn == Turn::Unneeded {
                        look.turn = Turn::Short(need);
                    }
                    if let Some(first) = look.bots.get_mut(slot) {
                        first.get_or_insert(self.writes[id].class);
                    }
                }
                true
            }
        }
    }

    /// A write that has taken its own row's buckets goes on to wait in the next row's line; whether it did.
    #[inline]
    pub(super) fn next_stage(&mut self, rules: &Rules, id: u32, go: Go) -> bool {
        let write = &self.writes[id];
        let Some(then) = rules.plan(write.row).next_of(write) else { return false };
        if go.how == How::Token {
            self.charge(rules, id, true);
        }
        self.moves += 1;
        let write = &mut self.writes[id];
        write.row = then;
        write.staged = true;
        true
    }

    fn takes_from(&self, rules: &Rules, id: u32, slot: usize) -> bool {
        rules.buckets_of(&self.writes[id]).iter().any(|bucket| bucket.bot() == Some(slot))
    }

    /// Lets a write go. It stands in no line any more.
    pub(super) fn release(&mut self, rules: &Rules, id: u32, go: Go) {
        let gone = self.purse(id).go(rules, id, go.how);
        self.follow(rules, id, go, gone);
    }

    /// All that follows from its going.
    #[inline(always)]
    pub(super) fn follow(&mut self, rules: &Rules, id: u32, go: Go, gone: Gone) {
        self.moves += 1;
        if gone.next != NONE {
            self.writes[gone.next].previous = id;
        }
        if gone.remembers {
            self.remember_release(rules, id, go);
        }
        if gone.siblings {
            self.went_of_chain(rules, id);
        }
        if gone.cools {
            self.take_probe(id);
        }
        if self.instant {
            self.answered(rules, id, Answer::Ok);
        }
    }

    /// What later writes of the peer are measured by.
    #[inline(never)]
    fn remember_release(&mut self, rules: &Rules, id: u32, go: Go) {
        let (now, policy) = (self.now, &rules.policy);
        let write = &self.writes[id];
        let cell = rules.row(write.row).cell(write.class);
        let spread = rules.plan(write.row).spread(write.reach);
        let passed = cell.pass_limit.filter(|_| go.how == How::Passed);
        if spread.is_none() && passed.is_none() && cell.spacing.is_none() {
            return;
        }
        let Some(peer) = self.peers.get_mut(write.peer) else { return };
        let units = spread.map_or(0, |(slot, _)| peer.window_mut(slot).count(now.into()));
        let extra = peer.extra();
        let mut until = now;
        if let Some((_, limit)) = spread {
            extra.units = u32::try_from(units).unwrap_or(u32::MAX);
            push_last(&mut extra.edits, now, policy.spread_burst.max(1));
            if go.quiet {
                push_last(&mut extra.quiet, now, policy.settle_reserve.max(1));
            }
            until = until.max(now + limit.period);
        }
        if let Some((limit, period)) = passed {
            push_last(&mut extra.passes, now, limit);
            until = until.max(now + period);
        }
        if let Some(spacing) = cell.spacing {
            extra.spaced = Some(now);
            until = until.max(now + spacing);
        }
        extra.remembers_until = extra.remembers_until.max(until);
    }

    /// Serves one of the bot's buckets; whether anything came of it.
    pub(super) fn serve_any(&mut self, rules: &Rules) -> bool {
        (0..self.bots.len()).any(|slot| self.serve(rules, slot))
    }

    /// Gives the peer whose turn it is at a bucket of the bot what it waits for; whether anything came of it.
    fn serve(&mut self, rules: &Rules, slot: usize) -> bool {
        if !self.bots[slot].is_due(self.now) {
            return false;
        }
        let mut served = false;
        while let Some((peer, ring)) = self.bots[slot].take_turn() {
            match self.pump(rules, peer, Some(slot)) {
                Turn::Unneeded => served = true,
                Turn::Used => {
                    served = true;
                    self.bots[slot].used(ring);
                }
                Turn::Short(at) => {
                    self.bots[slot].keep_turn(peer, ring);
                    self.bots[slot].wake = at;
                    return served;
                }
            }
        }
        self.bots[slot].wake = Time::NEVER;
        served
    }

    /// Takes a write out of its peer's line.
    pub(super) fn unline(&mut self, id: u32) {
        let booked = !self.writes[id].is_held();
        let Some(peer) = self.peers.get_mut(self.writes[id].peer) else { return };
        let Some(at) = peer.line.iter().position(|other| *other == id) else { return };
        peer.line.remove(at);
        if peer.line.is_empty() {
            peer.line = alloc::vec::Vec::new();
        }
        if booked {
            peer.booked -= 1;
        } else {
            self.held -= 1;
            self.uncount(id, Counted::Held);
        }
    }

    /// Puts a held write into its peer's line, at its place.
    pub(super) fn enline(&mut self, rules: &Rules, id: u32) {
        let (place, at) = (self.writes[id].place(), self.writes[id].peer);
        let writes = &self.writes;
        let Some(peer) = self.peers.get_mut(at) else { return };
        let at = peer.line.partition_point(|other| writes[*other].place() <= place);
        peer.line.insert(at, id);
        self.held += 1;
        self.moves += 1;
        self.count(rules, id, Counted::Held);
    }

    #[inline]
    pub(super) fn unlink(&mut self, id: u32) {
        let write = &mut self.writes[id];
        let (peer, next, previous) = (write.peer, write.next, write.previous);
        (write.next, write.previous) = (NONE, NONE);
        if next != NONE {
            self.writes[next].previous = previous;
        }
        if previous != NONE {
            self.writes[previous].next = next;
        } else if let Some(state) = self.peers.get_mut(peer) {
            state.flying = next;
        }
    }
}

fn bit(row: RowId) -> u32 {
    1 << row.0
}

/// Keeps the last `most` moments.
fn push_last(list: &mut alloc::vec::Vec<Time>, at: Time, most: u32) {
    if list.len() >= most as usize && !list.is_empty() {
        list.remove(0);
    }
    list.push(at);
}
