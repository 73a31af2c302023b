//! What is always true of the composite.

use alloc::collections::BTreeSet;

use super::Gateway;
use super::turns::Claimant;
use crate::gate::Gate;
use crate::identify_queue::GrantId;

impl<S: Clone> Gateway<S> {
    /// Panics where the gates contradict each other.
    pub(super) fn check(&self) {
        assert!(self.mail.is_empty() && !self.lines_moved, "what the gates say is delivered");
        assert!(self.members.len() <= self.shards_max, "no more shards than there may be");
        self.members.check();
        self.turns.check(self.now, |id| self.identify_queue.waits(id));
        let mut grants = BTreeSet::new();
        for member in self.members.iter() {
            let key = member.key;
            let waits = self.turns.waits(key.queued(), Claimant::Ours(key));
            assert_eq!(member.shard.in_line(), waits, "every shard in line has a request, and nobody else");
            if let Some(grant) = member.shard.grant() {
                assert!(grants.insert(grant.0), "a grant is one shard's");
            }
            let holds = self.turns.holder(key.queued()) == Some(Claimant::Ours(key));
            if let Some(loan) = self.turns.loan(key.queued()).filter(|_| holds) {
                assert_eq!(member.shard.grant().map(|grant| GrantId(grant.0)), Some(loan.id), "its turn is its grant");
            }
        }
        assert!(self.poll_timeout().is_none_or(|(at, _)| at > self.now), "what is due is done");
    }
}
