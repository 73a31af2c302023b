//! Moments before which something does not happen, with their reason.

use super::io::Why;
use crate::time::Time;

/// Not before `until`. One that lies in the past holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) until: Time,
    pub(super) why: Why,
}

impl Hold {
    pub(super) const NONE: Self = Self { until: Time::ZERO, why: Why::Backoff };

    pub(super) const fn new(until: Time, why: Why) -> Self {
        Self { until, why }
    }

    pub(super) fn holds(self, now: Time) -> bool {
        self.until > now
    }

    /// The later of two; `self` where they are equal.
    pub(super) fn later(self, other: Self) -> Self {
        if other.until > self.until { other } else { self }
    }

    /// Whether it holds and only time ends it: a person does not.
    pub(super) fn cools(self, now: Time) -> bool {
        self.holds(now) && self.why == Why::Cooldown
    }
}
