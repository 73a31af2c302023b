//! Counting what happens to writes, of the whole governor and of each peer for the next summary.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::counters::{Counted, Counters};
use super::io::Summary;
use super::peer::PeerState;
use super::plan::Rules;
use super::write::WriteState;
use crate::key::Peer;
use crate::time::Time;

/// Peers whose counters are kept apart for the next summary.
const SUMMARIES: usize = 10_000;

#[derive(Debug)]
pub(super) struct Tally {
    pub(super) counters: Counters,
    summaries: BTreeMap<Peer, Counters>,
    /// When the next summary is due.
    pub(super) due_at: Time,
}

impl Tally {
    pub(super) fn new(rules: &Rules) -> Self {
        Self { counters: Counters::of(&rules.policy), summaries: BTreeMap::new(), due_at: Time::NEVER }
    }

    /// One more of each for a write.
    #[inline(always)]
    pub(super) fn count<const N: usize>(
        &mut self,
        rules: &Rules,
        now: Time,
        write: &WriteState,
        peer: Option<&PeerState>,
        whats: [Counted; N],
    ) {
        if !write.counted() {
            return;
        }
        if let Some(cell) = self.counters.cell(write.origin, write.class) {
            for what in whats {
                cell[what as usize] += 1;
            }
        }
        if let (Some(_), Some(peer)) = (rules.policy.summary, peer) {
            self.count_for_summary(rules, now, write, &peer.key, &whats);
        }
    }

    #[inline(never)]
    fn count_for_summary(&mut self, rules: &Rules, now: Time, write: &WriteState, peer: &Peer, whats: &[Counted]) {
        for what in whats.iter().copied().filter(|what| !matches!(what, Counted::Held | Counted::InFlight)) {
            if let Some(counters) = self.summaries.get_mut(peer) {
                counters.add(write.origin, write.class, what);
            } else if self.summaries.len() < SUMMARIES {
                let mut counters = Counters::of(&rules.policy);
                counters.add(write.origin, write.class, what);
                self.summaries.insert(peer.clone(), counters);
            }
            if self.due_at == Time::NEVER {
                self.due_at = now + rules.policy.summary.unwrap_or_default();
            }
        }
    }

    /// One less at a level of a write.
    #[inline]
    pub(super) fn uncount(&mut self, write: &WriteState, level: Counted) {
        if write.counted() {
            self.counters.sub(write.origin, write.class, level);
        }
    }

    /// The summaries, which begin anew.
    pub(super) fn sum_up(&mut self, rules: &Rules) -> Vec<Summary> {
        self.due_at = Time::NEVER;
        let summaries = core::mem::take(&mut self.summaries);
        summaries.into_iter().map(|(peer, counters)| Summary { peer, counts: counters.list(&rules.policy) }).collect()
    }
}
