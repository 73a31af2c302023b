//! Whether one write that nothing stands before can go now, and if not, why and until when.

use super::io::DropReason;
use super::plan::Rules;
use super::state::State;
use super::write::{NONE, WriteState};
use crate::cooldown::Cooling;
use crate::policy::{Cell, InCooldown};
use crate::time::{Span, Time};
use crate::window::UNANSWERED;

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
    pub(super) fn behind(why: DropReason, wake: Time) -> Verdict {
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
    #[inline]
    pub(super) fn cell<'a>(&self, rules: &'a Rules, id: u32) -> &'a Cell {
        let write = &self.writes[id];
        rules.row(write.row).cell(write.class)
    }

    /// Decides about a write at the head of its line. `turn`: the bot's bucket that its peer has the turn of; `closed`:
    /// those of the bot's buckets, as bits, that an earlier write of the line waits for.
    pub(super) fn consider(&mut self, rules: &Rules, id: u32, turn: Option<usize>, closed: u32) -> Verdict {
        if !self.purse(id).is_clear()
            && let Some(verdict) = self.kept_back(rules, id)
        {
            return verdict;
        }
        self.purse(id).weigh(rules, turn, closed)
    }

    fn kept_back(&mut self, rules: &Rules, id: u32) -> Option<Verdict> {
        self.cold(rules, id).or_else(|| self.in_flight(rules, id))
    }

    /// What cools says; `None` where nothing does.
    #[inline]
    pub(super) fn cold(&mut self, rules: &Rules, id: u32) -> Option<Verdict> {
        if self.anything_cools(self.writes[id].peer) { self.asked_to_wait(rules, id) } else { None }
    }

    #[inline(never)]
    fn asked_to_wait(&mut self, rules: &Rules, id: u32) -> Option<Verdict> {
        let cell = self.cell(rules, id);
        let write = &self.writes[id];
        let cooling = self.cooling(write);
        let until = match cooling {
            Cooling::Open { .. } => {
                self.note_ends(id);
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
        let inline = rules.policy.inline_wait.unwrap_or(Span::MAX);
        let too_long = until.since(write.arrived) > write.limit || until.since(self.now) > inline;
        if too_long && matches!(cooling, Cooling::Until(_)) {
            return Some(Verdict::TooCold(until));
        }
        Some(Wait::behind(DropReason::Cooldown, until))
    }

    /// An ordered row has one write of a peer in flight, and edits of a message go one after the other.
    fn in_flight(&self, rules: &Rules, id: u32) -> Option<Verdict> {
        let write = &self.writes[id];
        if write.retry_at > self.now {
            let wait = Wait { why: DropReason::Order, wake: write.retry_at, holds_back: false, bot: None };
            return Some(Verdict::Wait(wait));
        }
        let ordered = rules.plan(write.row).ordered;
        let mut at = self.peers.get(write.peer).filter(|_| ordered).map_or(NONE, |peer| peer.flying);
        while at != NONE {
            let other = &self.writes[at];
            let lost = other.flying_since().unwrap_or(self.now) + UNANSWERED;
            if rules.plan(other.row).ordered && lost > self.now {
                return Some(Wait::behind(DropReason::Order, lost));
            }
            at = other.next;
        }
        self.behind_older(rules, id)
    }

    /// A preview that may yet be restated: it holds nobody back.
    pub(super) fn unsettled(&self, rules: &Rules, write: &WriteState) -> bool {
        let settled = write.named_final() || write.settles_at.is_some_and(|at| at <= self.now);
        !settled && rules.plan(write.row).spread_of(write).is_some()
    }

    pub(super) fn spread(&mut self, rules: &Rules, id: u32) -> Spread {
        self.purse(id).spread(rules)
    }
}
