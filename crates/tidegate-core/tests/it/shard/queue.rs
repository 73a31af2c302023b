//! A plain identify queue: one place a bucket, spacing from the write, grants that lapse.

use std::collections::{BTreeMap, VecDeque};

pub(super) const SPACING_MS: u64 = 5_000;
pub(super) const HOLD_MS: u64 = 30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Granted { grant: u64 },
    NextInLine { due_ms: u64 },
    Denied { refresh_at_ms: u64 },
}

#[derive(Clone, Copy, Debug)]
struct Loan {
    shard: usize,
    grant: u64,
    since_ms: u64,
    written: bool,
}

#[derive(Debug, Default)]
struct Bucket {
    line: VecDeque<usize>,
    loan: Option<Loan>,
    /// Before this nobody may IDENTIFY; what it was before the loan, to undo it.
    free_ms: u64,
    before_loan_ms: u64,
    told: Option<(usize, u64)>,
}

#[derive(Debug)]
pub(super) struct Queue {
    buckets: BTreeMap<usize, Bucket>,
    concurrency: usize,
    grants: u64,
    pub(super) remaining: u64,
    pub(super) refresh_at_ms: u64,
    /// Nobody is answered: the store is away.
    pub(super) away: bool,
}

impl Queue {
    pub(super) fn new(concurrency: usize) -> Self {
        let (remaining, refresh_at_ms) = (u64::MAX, 0);
        Self { buckets: BTreeMap::new(), concurrency, grants: 0, remaining, refresh_at_ms, away: false }
    }

    fn bucket(&mut self, shard: usize) -> &mut Bucket {
        self.buckets.entry(shard % self.concurrency).or_default()
    }

    pub(super) fn request(&mut self, shard: usize) {
        let bucket = self.bucket(shard);
        bucket.loan = bucket.loan.filter(|loan| loan.shard != shard);
        if !bucket.line.contains(&shard) {
            bucket.line.push_back(shard);
        }
    }

    pub(super) fn release(&mut self, shard: usize, grant: u64, unused: bool) {
        let bucket = self.bucket(shard);
        if let Some(loan) = bucket.loan.filter(|loan| loan.grant == grant) {
            if unused {
                bucket.free_ms = bucket.before_loan_ms;
            }
            assert_eq!(loan.written, !unused, "a grant is unused where no IDENTIFY was written");
            bucket.loan = None;
        }
        if unused {
            self.remaining = self.remaining.saturating_add(1);
        }
    }

    pub(super) fn identified(&mut self, now_ms: u64, shard: usize) {
        let bucket = self.bucket(shard);
        bucket.free_ms = now_ms + SPACING_MS;
        if let Some(loan) = bucket.loan.as_mut().filter(|loan| loan.shard == shard) {
            loan.written = true;
        }
    }

    /// What there is to tell now, by shard.
    pub(super) fn answers(&mut self, now_ms: u64) -> Vec<(usize, Answer)> {
        let mut answers = Vec::new();
        if self.away {
            return answers;
        }
        for bucket in self.buckets.values_mut() {
            bucket.loan = bucket.loan.filter(|loan| loan.since_ms + HOLD_MS > now_ms);
            if self.remaining == 0 {
                let refresh_at_ms = self.refresh_at_ms.max(now_ms + SPACING_MS);
                answers.extend(bucket.line.drain(..).map(|shard| (shard, Answer::Denied { refresh_at_ms })));
            }
            if bucket.loan.is_none()
                && bucket.free_ms <= now_ms
                && let Some(shard) = bucket.line.pop_front()
            {
                self.grants += 1;
                self.remaining -= 1;
                bucket.before_loan_ms = bucket.free_ms;
                bucket.free_ms = now_ms + SPACING_MS;
                bucket.loan = Some(Loan { shard, grant: self.grants, since_ms: now_ms, written: false });
                answers.push((shard, Answer::Granted { grant: self.grants }));
            }
            let next = bucket.line.front().map(|shard| (*shard, bucket.free_ms));
            if next != bucket.told {
                bucket.told = next;
                answers.extend(next.map(|(shard, due_ms)| (shard, Answer::NextInLine { due_ms })));
            }
        }
        answers
    }

    /// When to look again.
    pub(super) fn next_ms(&self) -> Option<u64> {
        let waiting = self.buckets.values().filter(|bucket| !self.away && !bucket.line.is_empty());
        waiting.map(|bucket| bucket.loan.map_or(bucket.free_ms, |loan| loan.since_ms + HOLD_MS)).min()
    }
}
