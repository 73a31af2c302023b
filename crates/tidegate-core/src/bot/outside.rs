//! What the driver tells the identify queue by itself: answers of `GET /gateway/bot`, and those who ask over HTTP.

use super::Gateway;
use super::turns::Claimant;
use super::wire::Mail;
use crate::identify_queue::{GrantId, Input, Shard};
use crate::shard;

impl<S: Clone> Gateway<S> {
    pub(super) fn outside(&mut self, input: Input) {
        match input {
            Input::Request { shard, .. } => {
                if self.turns.claim(shard, Claimant::Outside) {
                    self.tell_identify_queue(Input::Request { shard, http: true });
                }
            }
            Input::Release { shard, grant, unused } => self.outside_releases(shard, grant, unused),
            Input::Identified { shard, grant } => {
                if self.is_outsiders(shard, grant) {
                    self.tell_identify_queue(Input::Identified { shard, grant });
                }
            }
            Input::Refresh { .. } => {
                self.tell_identify_queue(input);
                if self.identify_queue.has_budget() {
                    let budget = self.members.keys().map(|key| Mail::Shard(key, shard::Input::Budget));
                    self.mail.extend(budget);
                }
            }
            Input::Deferred { shard, grant, .. } => self.outside_defers(shard, grant, input),
            Input::Tick => self.tell_identify_queue(Input::Tick),
        }
    }

    fn outside_releases(&mut self, shard: Shard, grant: Option<GrantId>, unused: bool) {
        if !self.is_outsiders(shard, grant) {
            if grant.is_none() {
                self.turns.leave(shard, Claimant::Outside);
            }
            return;
        }
        self.tell_identify_queue(Input::Release { shard, grant, unused });
        let current = self.turns.loan(shard).map(|loan| loan.id);
        let ends = self.turns.holder(shard) == Some(Claimant::Outside) && (grant.is_none() || grant == current);
        if ends {
            self.end_turn(shard);
        }
    }

    fn outside_defers(&mut self, shard: Shard, grant: GrantId, deferred: Input) {
        if !self.is_outsiders(shard, Some(grant)) {
            return;
        }
        self.tell_identify_queue(deferred);
        if !self.identify_queue.waits(shard) {
            // Granted again at once, or known to be used.
            return;
        }
        if self.turns.holder(shard).is_none() {
            // It had lapsed, and its turn had ended.
            self.turns.claim(shard, Claimant::Outside);
        } else if self.turns.loan(shard).is_some_and(|loan| loan.id == grant) {
            self.turns.deferred(shard);
        }
    }

    /// Whether it is the outsider's turn, or the grant at least not that of a shard of ours.
    fn is_outsiders(&self, shard: Shard, grant: Option<GrantId>) -> bool {
        match self.turns.holder(shard) {
            None | Some(Claimant::Outside) => true,
            Some(Claimant::Ours(_)) => grant.is_some() && self.turns.loan(shard).map(|loan| loan.id) != grant,
        }
    }
}
