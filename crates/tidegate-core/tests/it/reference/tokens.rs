//! No token bucket gives more than its burst and refill.

use tidegate_core::governor::Outcome;
use tidegate_core::{Peer, Time};

use super::Judge;
use super::limits::{TokenScope, Tokens, is_group, tokens};
use super::write::Write;

/// What changes a bucket's level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    GivenBack,
    Taken,
}

impl Judge {
    pub(super) fn tokens_hold(&self, write: &Write) {
        let outcome = write.releases[write.releases.len() - 1].outcome;
        if matches!(outcome, Outcome::Passed | Outcome::FailedOpen) {
            return;
        }
        for bucket in tokens(self.table, write) {
            let paced = write.releases.last().is_some_and(|last| last.paced);
            if bucket.scope == TokenScope::Bot && !is_group(write.peer.as_ref())
                || bucket.scope != TokenScope::Bot && !paced
            {
                continue;
            }
            let level = self.level(&bucket, write, self.now);
            let slack = i128::from(bucket.units) * 2;
            assert!(level >= -slack, "{} is at {level} µ-units at {:?} after {write:?}", bucket.name, self.now);
        }
    }

    /// The bucket's level in units × its period in µs, after all that was taken by `now`: from the very start, step by
    /// step.
    pub(super) fn level(&self, bucket: &Tokens, like: &Write, now: Time) -> i128 {
        let mut changes: Vec<(Time, u64, Change)> = Vec::new();
        for other in self.writes.values().filter(|other| self.shares(bucket, like, other)) {
            for release in &other.releases {
                let charged = match release.outcome {
                    Outcome::Admitted | Outcome::Held => release.paced || bucket.scope == TokenScope::Bot,
                    Outcome::Bypass => bucket.scope == TokenScope::Bot,
                    Outcome::Passed | Outcome::FailedOpen => false,
                };
                changes.extend((charged && release.at <= now).then_some((release.at, release.step, Change::Taken)));
            }
        }
        for (name, peer, at, step) in &self.given_back {
            let same = bucket.scope == TokenScope::Bot || Some(peer) == like.peer.as_ref();
            changes.extend((*name == bucket.name && same && *at <= now).then_some((*at, *step, Change::GivenBack)));
        }
        changes.sort_unstable();
        let unit = i128::from(bucket.period.as_micros());
        let full = i128::from(bucket.burst) * unit;
        let (mut level, mut at) = (full, Time::ZERO);
        let peer = if bucket.scope == TokenScope::Bot { None } else { like.peer.as_ref() };
        for (when, _, change) in changes {
            level = (level + self.refill(bucket, peer, at, when)).min(full);
            at = when;
            level = match change {
                Change::Taken => level - unit,
                Change::GivenBack => (level + unit).min(full),
            };
        }
        (level + self.refill(bucket, peer, at, now)).min(full)
    }

    fn shares(&self, bucket: &Tokens, like: &Write, other: &Write) -> bool {
        let takes = tokens(self.table, other).iter().any(|of| of.name == bucket.name);
        let meant = match bucket.scope {
            TokenScope::Bot => is_group(other.peer.as_ref()),
            TokenScope::Peer => other.peer == like.peer,
            TokenScope::Thread => other.peer == like.peer && other.thread == like.thread,
        };
        takes && meant
    }

    /// A cooldown freezes the refill of its scope's buckets; the bot's freezes its peers' too.
    fn refill(&self, bucket: &Tokens, peer: Option<&Peer>, from: Time, to: Time) -> i128 {
        let mut frozen: Vec<(Time, Time)> = self
            .cooldowns
            .iter()
            .filter(|(scope, ..)| scope.is_none() || scope.as_ref() == peer)
            .map(|(_, start, end)| ((*start).clamp(from, to), (*end).clamp(from, to)))
            .collect();
        frozen.sort_unstable();
        let (mut running, mut at) = (0, from);
        for (start, end) in frozen {
            running += start.since(at).as_micros();
            at = at.max(end);
        }
        running += to.since(at).as_micros();
        i128::from(running) * i128::from(bucket.units)
    }
}
