//! What was sent in the last period.

use alloc::collections::VecDeque;

use crate::time::{Span, Time};

/// How a frame is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Direct,
    Command,
    Subscription,
}

/// Frames that stand in the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    direct: u32,
    pub(super) commands: u32,
    pub(super) subscriptions: u32,
}

impl Counts {
    /// Commands and subscriptions.
    pub(super) fn queued(self) -> u32 {
        self.commands + self.subscriptions
    }

    pub(super) fn all(self) -> u32 {
        self.direct + self.queued()
    }

    fn of(&mut self, kind: Counted) -> &mut u32 {
        match kind {
            Counted::Direct => &mut self.direct,
            Counted::Command => &mut self.commands,
            Counted::Subscription => &mut self.subscriptions,
        }
    }
}

/// A stretch of time in which nothing ages out, if nothing more is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub(super) from: Time,
    /// Its first moment no more.
    pub(super) until: Time,
    pub(super) counts: Counts,
}

/// The frames of one connection's last period, at most `platform_limit` of them.
#[derive(Debug, Default)]
pub(super) struct Minute {
    frames: VecDeque<(Time, Counted)>,
    counts: Counts,
    last_subscription: Option<Time>,
}

impl Minute {
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) fn last_subscription(&self) -> Option<Time> {
        self.last_subscription
    }

    pub(super) fn count(&mut self, now: Time, kind: Counted) {
        self.frames.push_back((now, kind));
        *self.counts.of(kind) += 1;
        match kind {
            Counted::Subscription => self.last_subscription = Some(now),
            Counted::Direct | Counted::Command => {}
        }
    }

    /// Frames a period old stand no more.
    pub(super) fn pass(&mut self, now: Time, period: Span) {
        while let Some((at, kind)) = self.frames.front().copied().filter(|(at, _)| *at + period <= now) {
            self.frames.pop_front();
            *self.counts.of(kind) -= 1;
            if self.last_subscription == Some(at) && self.counts.subscriptions == 0 {
                self.last_subscription = None;
            }
        }
    }

    /// A new connection starts with none.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What will stand when, the first stage from `from` on, the last without end.
    pub(super) fn stages(&self, from: Time, period: Span) -> impl Iterator<Item = Stage> + '_ {
        let mut left = self.frames.iter();
        let mut counts = self.counts;
        let mut start = Some(from);
        core::iter::from_fn(move || {
            let stage = Stage { from: start?, until: Time::NEVER, counts };
            let until = left.next().map(|(at, kind)| {
                *counts.of(*kind) -= 1;
                (*at + period).max(stage.from)
            });
            start = until;
            Some(Stage { until: until.unwrap_or(stage.until), ..stage })
        })
        .filter(|stage| stage.from < stage.until)
    }

    pub(super) fn check(&self, now: Time, period: Span) {
        let mut counts = Counts::default();
        self.frames.iter().for_each(|(_, kind)| *counts.of(*kind) += 1);
        assert_eq!(counts, self.counts, "frames are counted as they stand");
        assert!(self.frames.iter().all(|(at, _)| *at <= now && *at + period > now), "none stands past its period");
        assert!(self.frames.iter().zip(self.frames.iter().skip(1)).all(|(a, b)| a.0 <= b.0), "in order");
    }
}
