//! A viewport at rest may leave before its turn, as long as this bucket has a unit.

use super::minute::{Minute, Stage};
use super::settings::Settings;
use crate::time::{Span, Time};

/// 3 of 5 subscriptions that a period has room for may be such ones: the rest stays for those that are spaced.
const SHARE: (u64, u64) = (3, 5);

/// The bucket's level. One unit is `5 × period` parts, and `3 × (limit − commands)` parts come back in a microsecond:
/// whole numbers, however often the rate changes.
#[derive(Debug)]
pub(super) struct Settle {
    parts: u64,
    /// The moment at which that was the level.
    at: Time,
}

impl Settle {
    pub(super) fn full(settings: &Settings) -> Self {
        Self { parts: most(settings), at: Time::ZERO }
    }

    /// What comes back until `now`, at the rate of each moment.
    pub(super) fn pass(&mut self, now: Time, minute: &Minute, settings: &Settings) {
        for stage in minute.stages(self.at, settings.period) {
            if stage.from >= now || self.parts >= most(settings) {
                break;
            }
            self.parts = refilled(self.parts, stage.until.min(now).since(stage.from), stage, settings);
        }
        self.at = now;
    }

    pub(super) fn take(&mut self, settings: &Settings) {
        self.parts = self.parts.saturating_sub(unit(settings));
    }

    /// A level to look ahead with.
    pub(super) fn ahead(&self) -> Ahead {
        Ahead { parts: self.parts, reached: None }
    }

    pub(super) fn check(&self, settings: &Settings) {
        assert!(self.parts <= most(settings), "never more than full");
    }
}

/// When the bucket has a unit, found stage by stage.
pub(super) struct Ahead {
    parts: u64,
    reached: Option<Time>,
}

impl Ahead {
    /// The moment, if it lies in this stage or an earlier one.
    pub(super) fn through(&mut self, stage: Stage, settings: &Settings) -> Option<Time> {
        if self.reached.is_none() {
            let missing = unit(settings).saturating_sub(self.parts);
            let gain = gain(stage, settings);
            let wait = if missing == 0 { Some(0) } else { (gain > 0).then(|| missing.div_ceil(gain)) };
            let reached = wait.map(|micros| stage.from + Span::from_micros(micros));
            self.reached = reached.filter(|at| *at < stage.until);
            self.parts = refilled(self.parts, stage.until.since(stage.from), stage, settings);
        }
        self.reached
    }
}

fn unit(settings: &Settings) -> u64 {
    settings.period.as_micros().saturating_mul(SHARE.1)
}

fn most(settings: &Settings) -> u64 {
    unit(settings).saturating_mul(settings.settle_burst.into())
}

fn gain(stage: Stage, settings: &Settings) -> u64 {
    u64::from(settings.subscription_limit.saturating_sub(stage.counts.commands)) * SHARE.0
}

fn refilled(parts: u64, during: Span, stage: Stage, settings: &Settings) -> u64 {
    parts.saturating_add(gain(stage, settings).saturating_mul(during.as_micros())).min(most(settings))
}
