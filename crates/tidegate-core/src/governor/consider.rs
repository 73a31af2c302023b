//! Whether one write that nothing stands before can go now, and if not, why and until when.

use super::io::{Class, DropReason};
use super::plan::{Bucket, Home, Kind, Rules};
use super::state::State;
use super::write::{NONE, Paced, WriteState};
use crate::cooldown::Cooling;
use crate::policy::{Cell, Dry, InCooldown, PastHold};
use crate::time::{Span, Time};
use crate::window::{Limit, UNANSWERED};

/// What is to become of a write now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Go(Go),
    Drop(DropReason),
    /// What cools ends later than the write may wait.
    TooCold(Time),
    Wait(Wait),
}

/// How it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Go {
    pub(super) how: How,
    /// It is a settled edit that the spread alone would have kept back.
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Token,
    Passed,
    FailedOpen,
}

/// Why it does not go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) why: DropReason,
    /// Look again then.
    pub(super) wake: Time,
    /// Those behind it in line wait too.
    pub(super) holds_back: bool,
    /// It waits for this bucket of the bot alone, which has enough then.
    pub(super) bot: Option<(usize, Time)>,
}

impl Wait {
    fn behind(why: DropReason, wake: Time) -> Verdict {
        Verdict::Wait(Self { why, wake, holds_back: true, bot: None })
    }
}

/// What the spread says to an edit.
pub(super) enum Spread {
    /// Nothing.
    Free,
    /// It is settled and goes though a preview might not.
    Quiet,
    /// Not before this.
    Kept(Time),
}

impl State {
    pub(super) fn cell<'a>(&self, rules: &'a Rules, id: u32) -> &'a Cell {
        let write = &self.writes[id];
        rules.row(write.row).cell(write.class)
    }

    /// Decides about a write at the head of its line. `turn`: the bot's bucket that its peer has the turn of; `closed`:
    /// those of the bot's buckets, as bits, that an earlier write of the line waits for.
    pub(super) fn consider(&mut self, rules: &Rules, id: u32, turn: Option<usize>, closed: u32) -> Verdict {
        let cell = self.cell(rules, id);
        if let Some(verdict) = self.cold(rules, id, cell) {
            return verdict;
        }
        if let Some(wait) = self.in_flight(rules, id) {
            return wait;
        }
        let quiet = match self.spread(rules, id) {
            Spread::Free => false,
            Spread::Quiet => true,
            Spread::Kept(wake) => {
                return Verdict::Wait(Wait { why: DropReason::Spread, wake, holds_back: false, bot: None });
            }
        };
        match self.buckets(rules, id, cell, turn, closed) {
            Verdict::Go(go) => Verdict::Go(Go { quiet, ..go }),
            other => other,
        }
    }

    /// What cools says; `None` where nothing does.
    pub(super) fn cold(&mut self, rules: &Rules, id: u32, cell: &Cell) -> Option<Verdict> {
        let write = &self.writes[id];
        let until = match self.cooling(write) {
            Cooling::Open { .. } => {
                if self.anything_cools(self.writes[id].peer) {
                    self.note_ends(id);
                }
                return None;
            }
            Cooling::Until(until) | Cooling::Probing(until) => until,
        };
        if cell.cooldown == InCooldown::Pass {
            return None;
        }
        if cell.cooldown == InCooldown::Drop {
            return Some(Verdict::Drop(DropReason::Cooldown));
        }
        if let Cooling::Until(until) = self.cooling(write) {
            let inline = rules.policy.inline_wait.unwrap_or(Span::MAX);
            if until.since(write.arrived) > write.limit || until.since(self.now) > inline {
                return Some(Verdict::TooCold(until));
            }
        }
        Some(Wait::behind(DropReason::Cooldown, until))
    }

    /// An ordered row has one write of a peer in flight, a message one edit.
    fn in_flight(&self, rules: &Rules, id: u32) -> Option<Verdict> {
        let write = &self.writes[id];
        if write.retry_at > self.now {
            let wait = Wait { why: DropReason::Order, wake: write.retry_at, holds_back: false, bot: None };
            return Some(Verdict::Wait(wait));
        }
        let (ordered, merges) = (rules.row(write.row).ordered, rules.row(write.origin).merges());
        if !ordered && !merges {
            return None;
        }
        let mut at = self.peers.get(write.peer).map_or(NONE, |peer| peer.flying);
        while at != NONE {
            let other = &self.writes[at];
            let lost = other.flying_since().unwrap_or(self.now) + UNANSWERED;
            let same_order = ordered && rules.row(other.row).ordered;
            let same_message = merges && other.same_target(write.message, write.method);
            if (same_order || same_message) && lost > self.now {
                let holds_back = same_order || !self.unsettled(rules, write);
                return Some(Verdict::Wait(Wait { why: DropReason::Order, wake: lost, holds_back, bot: None }));
            }
            at = other.next;
        }
        None
    }

    /// The window that this edit's previews are spread over, where they are.
    fn spread_window(&self, rules: &Rules, write: &WriteState) -> Option<(usize, Limit)> {
        let id = rules.row(write.row).spread?;
        if write.class == Class::Interactive || write.paced != Paced::Fully {
            return None;
        }
        let bucket = rules.bucket(id);
        match (bucket.home, bucket.kind) {
            (Home::PeerWindow(slot), Kind::Window { limit, .. }) if rules.applies(bucket, write) => Some((slot, limit)),
            _ => None,
        }
    }

    /// A preview that may yet be restated: it holds nobody back.
    pub(super) fn unsettled(&self, rules: &Rules, write: &WriteState) -> bool {
        let settled = write.named_final() || write.settles_at.is_some_and(|at| at <= self.now);
        !settled && self.spread_window(rules, write).is_some()
    }

    pub(super) fn spread(&mut self, rules: &Rules, id: u32) -> Spread {
        let write = &self.writes[id];
        let Some((slot, limit)) = self.spread_window(rules, write) else { return Spread::Free };
        let policy = &rules.policy;
        let (peer, now) = (write.peer, self.now);
        let previews = limit.units.saturating_sub(policy.settle_reserve).max(1);
        let thinned = Limit { units: previews, period: limit.period };
        let mut at = self.peers[peer].window_mut(slot).earliest(now, thinned, 1);
        let gap = limit.period.split(u64::from(previews.saturating_sub(policy.spread_burst).max(1)));
        let write = &self.writes[id];
        let mut quiets = Time::ZERO;
        if let Some(extra) = &self.peers[peer].extra {
            let burst = policy.spread_burst as usize;
            if let Some(last) = extra.edits.last() {
                let first_of_burst = extra.edits.len().checked_sub(burst.max(1)).map(|at| extra.edits[at]);
                let frees = if burst == 0 { Time::NEVER } else { first_of_burst.map_or(now, |at| at + limit.period) };
                at = at.max(frees.min(*last + gap));
            }
            let most = policy.settle_reserve as usize;
            let standing = extra.quiet.iter().filter(|at| **at + limit.period > now).count();
            if standing >= most {
                quiets = extra.quiet.get(extra.quiet.len() - most.max(1)).map_or(Time::NEVER, |at| *at + limit.period);
            }
        }
        if at <= now {
            return Spread::Free;
        }
        if write.named_final() {
            // Not by quiet, so it uses up none of the quiet ones' turns.
            return Spread::Free;
        }
        match write.settles_at.map(|settles| settles.max(quiets)) {
            Some(settled) if settled <= now => Spread::Quiet,
            Some(settled) => Spread::Kept(at.min(settled)),
            None => Spread::Kept(at),
        }
    }

    /// Whether all buckets have enough, and what the cell does when not.
    fn buckets(&mut self, rules: &Rules, id: u32, cell: &Cell, turn: Option<usize>, closed: u32) -> Verdict {
        let (now, all) = (self.now, rules.buckets_of(&self.writes[id]));
        let (mut peers_at, mut bots_at, mut bot) = (now, now, None);
        for bucket in all {
            let at = self.earliest(id, bucket);
            match bucket.bot() {
                None => peers_at = peers_at.max(at),
                Some(slot) => {
                    let open = closed & (1 << slot) == 0;
                    let my_turn = open && (turn == Some(slot) || self.bots[slot].nobody_waits());
                    if (at > now || !my_turn) && bot.is_none() {
                        bot = Some((slot, at, *bucket));
                    }
                    bots_at = bots_at.max(at);
                }
            }
        }
        if peers_at <= now && bot.is_none() {
            return Verdict::Go(Go { how: How::Token, quiet: false });
        }
        if cell.dry == Dry::Pass && self.may_pass(id, cell) {
            return Verdict::Go(Go { how: How::Passed, quiet: false });
        }
        let write = &self.writes[id];
        if write.past != PastHold::Refuse && peers_at.max(bots_at).since(write.arrived) > write.limit {
            return match write.past {
                PastHold::Drop => Verdict::Drop(DropReason::MaxHold),
                PastHold::Admit | PastHold::Refuse => Verdict::Go(Go { how: How::FailedOpen, quiet: false }),
            };
        }
        match bot {
            Some((slot, at, bucket)) if peers_at <= now => self.for_the_bot(id, slot, at, &bucket, turn),
            _ => Wait::behind(DropReason::Dry, peers_at.max(now)),
        }
    }

    /// All but the bot's bucket is there.
    fn for_the_bot(&mut self, id: u32, slot: usize, at: Time, bucket: &Bucket, turn: Option<usize>) -> Verdict {
        let now = self.now;
        let since = *self.writes[id].bot_since.get_or_insert(now);
        let mut need = at;
        if bucket.pass_after.is_some_and(|after| at.since(since) > after) && turn == Some(slot) {
            let spaced = self.bots[slot].last_pass.map_or(now, |last| last + bucket.pass_spacing);
            if spaced <= now {
                self.bots[slot].last_pass = Some(now);
                return Verdict::Go(Go { how: How::Passed, quiet: false });
            }
            need = need.min(spaced);
        }
        let wait = Wait { why: DropReason::Dry, wake: Time::NEVER, holds_back: true, bot: Some((slot, need)) };
        Verdict::Wait(wait)
    }

    fn may_pass(&self, id: u32, cell: &Cell) -> bool {
        let Some((limit, period)) = cell.pass_limit else { return true };
        let extra = self.peers.get(self.writes[id].peer).and_then(|peer| peer.extra.as_ref());
        let passes = extra.map_or(0, |extra| extra.passes.iter().filter(|at| **at + period > self.now).count());
        passes < limit as usize
    }
}
