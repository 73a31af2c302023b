//! A new write: let past, dropped, or taken in under its budget.

use alloc::boxed::Box;

use super::counters::Counted;
use super::io::{DropReason, Outcome, Output, RefuseReason, Write};
use super::plan::{Reach, Rules};
use super::state::State;
use super::write::{NONE, Paced, Stage};
use crate::cooldown::{Cooldown, Cooling};
use crate::key::{MessageKey, Peer, PeerKind};
use crate::policy::{InCooldown, Marks, Row};
use crate::time::Span;

/// What is to be done with a new write.
enum Way {
    /// No budget is for it. Whether a cooldown of its own method may refuse it.
    Past {
        may_refuse: bool,
    },
    Dropped,
    Under(Paced),
}

impl State {
    /// Whether it went at once, and nothing else came of it.
    #[inline(never)]
    pub(super) fn arrive(&mut self, rules: &Rules, write: &mut Write) -> bool {
        if self.tickets.get(write.ticket).is_some() {
            // The caller's mistake; the first write of that number keeps it.
            debug_assert!(false, "a ticket was used twice");
            return false;
        }
        write.row = rules.known(write.row);
        let row = rules.row(write.row);
        if row.uncounted {
            self.outputs.push_back(bypass(write));
            return false;
        }
        if let Some(to) = write.peer.as_ref().and_then(|peer| self.moved.get(peer)) {
            write.peer = Some(to.clone());
        }
        if matches!(write.peer, Some(Peer::Inline(_))) {
            // An inline message is its own peer.
            write.message.get_or_insert(MessageKey(0));
        }
        let kind = write.peer.as_ref().map_or(PeerKind::Loose, Peer::kind);
        if row.marks_forum == Marks::Thread
            && write.thread.is_some()
            && kind == PeerKind::Group
            && let Some(peer) = &write.peer
        {
            self.forums.set(peer, ());
        }
        let forum = rules.forums && write.peer.as_ref().is_some_and(|peer| self.forums.get(peer).is_some());
        let reach = Reach::of(kind, forum);
        match self.way(rules, row, write, reach) {
            Way::Past { .. } if self.is_sibling(rules, write) => {
                return self.admit(rules, row, write, Paced::Free, reach);
            }
            Way::Past { may_refuse } => self.pass_by(rules, row, write, may_refuse),
            Way::Dropped => {
                self.outputs.push_back(Output::Drop { ticket: write.ticket, reason: DropReason::Cooldown });
            }
            Way::Under(paced) => return self.admit(rules, row, write, paced, reach),
        }
        false
    }

    /// Whether it edits a message of which other edits are under way: then it has its place among them, though no budget
    /// is for it.
    fn is_sibling(&self, rules: &Rules, write: &Write) -> bool {
        let (Some(message), Some(peer)) = (write.message, &write.peer) else { return false };
        rules.policy.edits_message(write.row, write.method)
            && self.newest_of(self.peers.find(peer).unwrap_or(NONE), message) != NONE
    }

    #[inline]
    fn way(&self, rules: &Rules, row: &Row, write: &Write, reach: Reach) -> Way {
        if row.cooldown_first
            && let Some(way) = self.way_in_cold(rules, row, write, reach)
        {
            return way;
        }
        if row.is_free() || !rules.policy.enabled {
            return Way::Past { may_refuse: row.is_free() };
        }
        match row.applies {
            Some(applies) if !reach.is_in(applies) => match row.unmarked {
                Some(_) if reach.is_group() => Way::Under(Paced::Unmarked),
                _ => Way::Past { may_refuse: false },
            },
            _ => Way::Under(Paced::Fully),
        }
    }

    /// The way by a row that looks at the bot's cooldown before all else, where that decides.
    #[inline(never)]
    fn way_in_cold(&self, rules: &Rules, row: &Row, write: &Write, reach: Reach) -> Option<Way> {
        let class = write.class.unwrap_or(row.default_class);
        let asked = self.bot_cooldown.map(|cooldown| cooldown.ask(self.now, false));
        if !matches!(asked, Some(Cooling::Until(_) | Cooling::Probing(_))) {
            return None;
        }
        match row.cell(class).cooldown {
            InCooldown::Pass => None,
            InCooldown::Drop => Some(Way::Dropped),
            InCooldown::Hold | InCooldown::Merge => {
                let paced = rules.policy.enabled && row.applies.is_none_or(|applies| reach.is_in(applies));
                Some(Way::Under(if paced { Paced::Fully } else { Paced::Free }))
            }
        }
    }

    /// Lets a write through that no budget is for, unless its own method cools.
    #[inline(never)]
    fn pass_by(&mut self, rules: &Rules, row: &Row, write: &mut Write, may_refuse: bool) {
        let now = self.now;
        if may_refuse {
            let at = write.peer.as_ref().and_then(|peer| self.peers.find(peer));
            let own = self.method_cooldowns.get(&write.method).copied();
            let peers = at.and_then(|at| self.peers[at].method_cooldown(write.method));
            let until = [own, peers].into_iter().flatten().filter_map(Cooldown::until).max();
            if let Some(until) = until.filter(|until| *until > now) {
                let id = self.store_apart(row, write, Paced::Free);
                let (ticket, reason) = (self.writes[id].ticket, RefuseReason::Cooldown);
                self.count(rules, id, Counted::Accepted);
                self.outputs.push_back(Output::Refuse { ticket, retry_after: until.since(now), reason });
                self.count(rules, id, Counted::Refused);
                self.end(id);
                return;
            }
        }
        self.outputs.push_back(bypass(write));
        if self.instant {
            return;
        }
        let id = self.store_apart(row, write, Paced::Bypass);
        self.writes[id].stage = Stage::Flying { since: now };
        self.writes[id].loose = write.peer.take().map(Box::new);
    }
}

fn bypass(write: &Write) -> Output {
    Output::Send { ticket: write.ticket, outcome: Outcome::Bypass, held: Span::ZERO }
}
