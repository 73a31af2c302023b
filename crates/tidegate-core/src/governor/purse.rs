//! The budgets of one write, found once: looking into its buckets, taking from them, and giving back.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use alloc::collections::VecDeque;

use super::consider::How;
use super::counters::Counted;
use super::io::{Outcome, Output, Ticket};
use super::peer::PeerState;
use super::plan::{Plan, Rules};
use super::rings::Bot;
use super::store::{Bucket, By, Store};
use super::tally::Tally;
use super::write::{NONE, Paced, Stage, WriteState};
use crate::bucket::{Rate, Token};
use crate::cooldown::Cooldown;
use crate::governor::Class;
use crate::key::MethodKey;
use crate::policy::BucketId;
use crate::time::{Span, Time};
use crate::window::{Limit, Now, Window};

/// Topics, messages and methods of one peer that have a bucket of their own at once.
const KEYED: usize = 256;

/// A window's limit for a class: the reserve is for those who wait with a finger on a button.
#[inline]
pub(super) fn limit_for(limit: Limit, reserve: u32, class: Class) -> Limit {
    let more = if class == Class::Interactive { reserve } else { 0 };
    limit.with(limit.units + more)
}

/// The budgets of one write: it, its peer and the bot, found once.
pub(super) struct Purse<'a> {
    pub(super) now: Time,
    pub(super) tick: Now,
    /// Until when refills stand still, `now` at the earliest.
    pub(super) base: Time,
    /// There is a cooldown that might concern the write.
    pub(super) cools: bool,
    pub(super) write: &'a mut WriteState,
    pub(super) peer: Option<&'a mut PeerState>,
    pub(super) bots: &'a mut [Bot],
    pub(super) deferrals: &'a [(BucketId, u32, Time)],
    pub(super) outputs: &'a mut VecDeque<Output>,
    pub(super) tally: &'a mut Tally,
}

/// The state of one of its buckets, with the bucket's shape.
enum Kept<'a> {
    Token(&'a mut Token, &'a Rate),
    Window(&'a mut Window, &'a Limit, u32),
    Keyed(&'a mut PeerState, u64, &'a Rate),
    Route(&'a mut PeerState, MethodKey),
    Nothing,
}

/// What may follow from a write's going.
#[derive(Clone, Copy)]
pub(super) struct Gone {
    /// Which of its peer's flies next to it.
    pub(super) next: u32,
    /// Its row remembers its releases.
    pub(super) remembers: bool,
    /// Other edits of its message are under way.
    pub(super) siblings: bool,
    pub(super) cools: bool,
}

/// What may follow from a write's landing.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each asks for one thing to be looked at")]
pub(super) struct Landed {
    pub(super) ticket: Ticket,
    pub(super) method: MethodKey,
    pub(super) since: Time,
    pub(super) peer: u32,
    /// It flew beside others.
    pub(super) linked: bool,
    /// Others of its peer wait.
    pub(super) waited_for: bool,
    /// What it did to its message may matter.
    pub(super) of_message: bool,
    pub(super) cools: bool,
}

impl Purse<'_> {
    /// Takes from all buckets of the write, or only stands in its windows where `charge` is not set.
    #[inline(always)]
    pub(super) fn charge(&mut self, mine: &[Bucket], charge: bool) {
        for bucket in mine {
            self.take(bucket, charge);
        }
    }

    /// One more of each for the write.
    #[inline(always)]
    pub(super) fn count<const N: usize>(&mut self, rules: &Rules, whats: [Counted; N]) {
        self.tally.count(rules, self.now, self.write, self.peer.as_deref(), whats);
    }

    /// Nothing of its peer waits.
    #[inline]
    pub(super) fn is_alone(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.line.is_empty())
    }

    /// Nothing but its budgets may keep the write back: nothing cools, nothing of its peer flies, no older edit of its
    /// message is under way.
    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        !self.cools
            && self.write.retry_at <= self.now
            && self.write.older == NONE
            && self.peer.as_ref().is_none_or(|peer| peer.flying == NONE)
    }

    /// The write, which has just come by this plan and of whose peer nothing flies, goes at once by its tokens.
    #[inline(always)]
    pub(super) fn go_at_once(&mut self, rules: &Rules, plan: &Plan, id: u32) -> Gone {
        self.charge(plan.buckets_of(self.write), true);
        self.write.stage = Stage::Flying { since: self.now };
        if let Some(peer) = &mut self.peer {
            peer.flying = id;
        }
        let ticket = self.write.ticket;
        self.outputs.push_back(Output::Send { ticket, outcome: Outcome::Admitted, held: Span::ZERO });
        self.count(rules, [Counted::Accepted, Counted::Admitted, Counted::InFlight]);
        Gone { next: NONE, remembers: plan.remembers, siblings: false, cools: false }
    }

    /// The write goes: it takes what it must and flies, the first of its peer's.
    #[inline(always)]
    pub(super) fn go(&mut self, rules: &Rules, id: u32, how: How) -> Gone {
        self.charge(rules.buckets_of(self.write), how == How::Token);
        let now = self.now;
        let write = &mut *self.write;
        write.stage = Stage::Flying { since: now };
        write.bot_since = None;
        write.retry_at = Time::ZERO;
        if let Some(peer) = &mut self.peer {
            write.next = core::mem::replace(&mut peer.flying, id);
        }
        let (outcome, what) = match how {
            How::Passed => (Outcome::Passed, Counted::Passed),
            How::FailedOpen => (Outcome::FailedOpen, Counted::FailedOpen),
            How::Token if write.paced == Paced::Bypass => (Outcome::Bypass, Counted::Admitted),
            How::Token if write.waited => (Outcome::Held, Counted::Admitted),
            How::Token => (Outcome::Admitted, Counted::Admitted),
        };
        self.outputs.push_back(Output::Send { ticket: write.ticket, outcome, held: now.since(write.arrived) });
        let (next, plan) = (write.next, rules.plan(write.row));
        let again = write.failures + write.refusals > 0 || write.gave_back;
        let siblings = write.older != NONE || write.newer != NONE;
        if again {
            // It has been counted as released.
            self.count(rules, [Counted::InFlight]);
        } else {
            self.count(rules, [what, Counted::InFlight]);
        }
        Gone { next, remembers: plan.remembers, siblings, cools: self.cools }
    }

    /// The write was answered, for good where it counts as something: from now on its units lapse. Nothing where it was
    /// not in flight.
    #[inline(always)]
    pub(super) fn land(&mut self, rules: &Rules, ended: Option<Counted>) -> Option<Landed> {
        let since = self.write.flying_since()?;
        let charged = if rules.learns { self.write.charged } else { 0 };
        for bucket in rules.buckets_in(self.write.stamped | charged) {
            self.lapse(bucket, since);
        }
        self.write.stamped = 0;
        self.write.charged = 0;
        self.tally.uncount(self.write, Counted::InFlight);
        if let Some(what) = ended {
            self.count(rules, [what]);
        }
        let linked = self.write.next != NONE || self.write.previous != NONE;
        let mut waited_for = false;
        if let Some(peer) = &mut self.peer {
            if !linked {
                peer.flying = NONE;
            }
            waited_for = !peer.line.is_empty();
        }
        let (ticket, method, peer) = (self.write.ticket, self.write.method, self.write.peer);
        let of_message = self.write.message.is_some();
        Some(Landed { ticket, method, since, peer, linked, waited_for, of_message, cools: self.cools })
    }

    /// The write's route has been answered once.
    #[inline]
    pub(super) fn route_ended(&mut self, rules: &Rules) {
        if let Some(peer) = self.peer.as_deref_mut().filter(|_| rules.plan(self.write.row).of_route) {
            peer.learned_mut(self.write.method).ended();
        }
    }

    /// The state of a bucket.
    #[inline(always)]
    fn kept<'a>(&'a mut self, store: &'a Store) -> Kept<'a> {
        match (store, self.peer.as_deref_mut()) {
            (Store::BotToken(slot, rate), _) => Kept::Token(&mut self.bots[*slot].token, rate),
            (Store::BotWindow(slot, limit, reserve), _) => Kept::Window(&mut self.bots[*slot].window, limit, *reserve),
            (Store::PeerToken(slot, rate), Some(peer)) => Kept::Token(peer.token_mut(*slot), rate),
            (Store::PeerWindow(slot, limit, reserve), Some(peer)) => {
                Kept::Window(peer.window_mut(*slot), limit, *reserve)
            }
            (Store::Keyed(by, rate), Some(peer)) => Kept::Keyed(peer, key_of(*by, self.write), rate),
            (Store::Route, Some(peer)) => Kept::Route(peer, self.write.method),
            (Store::PeerToken(..) | Store::PeerWindow(..) | Store::Keyed(..) | Store::Route, None)
            | (Store::Nothing(_), _) => Kept::Nothing,
        }
    }

    /// The earliest moment at which the bucket has enough.
    #[inline(always)]
    pub(super) fn earliest(&mut self, bucket: &Bucket) -> Time {
        let (now, base, tick) = (self.now, self.base, self.tick);
        let (class, weight) = (self.write.class, bucket.weight(self.write.weight));
        let at = match self.kept(&bucket.store) {
            Kept::Token(token, rate) => token.earliest(*rate, base, weight),
            Kept::Window(window, limit, reserve) => window.earliest(tick, limit_for(*limit, reserve, class), weight),
            Kept::Keyed(peer, key, rate) => keyed(peer, bucket.id, key, *rate, base, weight),
            Kept::Route(peer, method) => peer.learned(method).earliest(now),
            Kept::Nothing => now,
        };
        if self.deferrals.is_empty() {
            return at;
        }
        deferred_until(self.deferrals, bucket, self.write.peer).map_or(at, |until| at.max(until))
    }

    /// Takes from the bucket, or only stands in it where it is a window and `charge` is not set.
    #[inline(always)]
    fn take(&mut self, bucket: &Bucket, charge: bool) {
        let (now, base, tick, weight) = (self.now, self.base, self.tick, bucket.weight(self.write.weight));
        let peer = self.peer.as_deref_mut();
        match (&bucket.store, peer) {
            (Store::BotWindow(slot, limit, _), _) => self.bots[*slot].window.release(tick, *limit, weight),
            (Store::PeerWindow(slot, limit, _), Some(peer)) => peer.window_mut(*slot).release(tick, *limit, weight),
            (Store::BotToken(slot, rate), _) if charge => self.bots[*slot].token.take(*rate, base, weight),
            (Store::PeerToken(slot, rate), Some(peer)) if charge => peer.token_mut(*slot).take(*rate, base, weight),
            (Store::Keyed(by, rate), Some(peer)) if charge => {
                take_keyed(peer, bucket.id, key_of(*by, self.write), *rate, base, weight);
            }
            (Store::Route, Some(peer)) if charge => peer.learned_mut(self.write.method).depart(now),
            (
                Store::PeerWindow(..)
                | Store::BotToken(..)
                | Store::PeerToken(..)
                | Store::Keyed(..)
                | Store::Route
                | Store::Nothing(_),
                _,
            ) => return,
        }
        match bucket.store {
            Store::BotWindow(..) | Store::PeerWindow(..) => self.write.stamped |= bucket.bit(),
            _ => self.write.charged |= bucket.bit(),
        }
    }

    /// From now on its units in the window lapse. Asked of what it stands in or took from.
    #[inline(always)]
    fn lapse(&mut self, bucket: &Bucket, since: Time) {
        let (tick, weight) = (self.tick, bucket.weight(self.write.weight));
        match self.kept(&bucket.store) {
            Kept::Window(window, limit, _) => window.answered(since, tick, *limit, weight),
            Kept::Route(peer, method) => peer.learned_mut(method).landed(),
            Kept::Token(..) | Kept::Keyed(..) | Kept::Nothing => {}
        }
        self.wake(bucket);
    }

    pub(super) fn give_back(&mut self, bucket: &Bucket, since: Time) {
        let (base, weight) = (self.base, bucket.weight(self.write.weight));
        let (stamped, charged) = (self.write.stamped & bucket.bit() != 0, self.write.charged & bucket.bit() != 0);
        match self.kept(&bucket.store) {
            Kept::Window(window, limit, _) if stamped => {
                window.take_back(since, *limit, weight);
                self.wake(bucket);
            }
            Kept::Token(token, rate) if charged => token.give_back(*rate, base, weight),
            Kept::Keyed(peer, key, rate) if charged => {
                let keyed = peer.extra.iter_mut().flat_map(|extra| extra.keyed.iter_mut());
                for (_, _, token) in keyed.filter(|(other, k, _)| *other == bucket.id && *k == key) {
                    token.give_back(*rate, base, weight);
                }
            }
            Kept::Route(peer, method) if charged => {
                let learned = peer.learned_mut(method);
                learned.give_back();
                learned.landed();
            }
            Kept::Window(..) | Kept::Token(..) | Kept::Keyed(..) | Kept::Route(..) | Kept::Nothing => {}
        }
    }

    /// A window of the bot may have room again sooner.
    fn wake(&mut self, bucket: &Bucket) {
        if let Store::BotWindow(slot, ..) = bucket.store {
            self.bots[slot].wake = Time::ZERO;
        }
    }
}

/// Until when refills of the peer's buckets stand still, now at the earliest.
#[inline]
pub(super) fn thaw(now: Time, bot: Option<Cooldown>, peer: Option<&PeerState>) -> Time {
    let until = |cooldown: Option<Cooldown>| cooldown.and_then(Cooldown::until).unwrap_or(now);
    now.max(until(bot)).max(until(peer.and_then(PeerState::cooldown)))
}

fn key_of(by: By, write: &WriteState) -> u64 {
    match by {
        By::Thread => write.thread.map_or(0, i64::cast_unsigned),
        By::Message => write.message.map_or(0, |message| message.0),
        By::Method => write.method.0,
    }
}

#[inline(never)]
fn keyed(peer: &PeerState, bucket: BucketId, key: u64, rate: Rate, base: Time, weight: u32) -> Time {
    let Some(extra) = &peer.extra else { return base };
    match extra.keyed.iter().find(|(id, other, _)| *id == bucket && *other == key) {
        Some((_, _, token)) => token.earliest(rate, base, weight),
        None if extra.keyed.iter().filter(|(_, _, token)| token.full_at() > base).count() >= KEYED => {
            base + Span::from_secs(1)
        }
        None => base,
    }
}

#[inline(never)]
fn take_keyed(peer: &mut PeerState, bucket: BucketId, key: u64, rate: Rate, base: Time, weight: u32) {
    let keyed = &mut peer.extra().keyed;
    keyed.retain(|(_, _, token)| token.full_at() > base);
    if let Some((_, _, token)) = keyed.iter_mut().find(|(other, k, _)| *other == bucket && *k == key) {
        token.take(rate, base, weight);
    } else {
        let mut token = Token::default();
        token.take(rate, base, weight);
        keyed.push((bucket, key, token));
    }
}

#[inline(never)]
pub(super) fn deferred_until(deferrals: &[(BucketId, u32, Time)], bucket: &Bucket, peer: u32) -> Option<Time> {
    let whose = if bucket.bot().is_some() { NONE } else { peer };
    let found = deferrals.iter().filter(|(id, other, _)| *id == bucket.id && *other == whose);
    found.map(|(_, _, until)| *until).max()
}
