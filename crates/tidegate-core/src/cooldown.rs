//! One concept for every pause that a platform (or an operator) asks for.

use crate::time::{Span, Time};

/// A probe that has no answer for so long passes its turn on.
pub(crate) const PROBE_PATIENCE: Span = Span::from_secs(5);

/// The pause of one scope. Only ever extended, never shortened, never clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cooldown {
    /// Nothing goes before this.
    Until(Time),
    /// It ended while something waited: the next write is a probe.
    Due,
    /// A probe is on its way.
    Probing { write: u32, since: Time },
}

/// What a cooldown says at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cooling {
    /// Go; as a probe where `probe` says so.
    Open { probe: bool },
    /// Not before this.
    Until(Time),
    /// A probe is out; look again then at the latest.
    Probing(Time),
}

impl Cooldown {
    /// What it says to a write. `waited`: the write was there when the cooldown ended.
    pub(crate) fn ask(self, now: Time, waited: bool) -> Cooling {
        match self {
            Self::Until(until) if until > now => Cooling::Until(until),
            Self::Until(_) => Cooling::Open { probe: waited },
            Self::Probing { since, .. } if since + PROBE_PATIENCE > now => Cooling::Probing(since + PROBE_PATIENCE),
            Self::Due | Self::Probing { .. } => Cooling::Open { probe: true },
        }
    }

    /// The moment until which refills of its scope stand still, where it runs.
    #[inline]
    pub(crate) fn until(self) -> Option<Time> {
        match self {
            Self::Until(until) => Some(until),
            Self::Due | Self::Probing { .. } => None,
        }
    }

    /// Whether it stopped meaning anything: it ended and nothing waited.
    pub(crate) fn over(self, now: Time) -> bool {
        matches!(self, Self::Until(until) if until <= now)
    }

    /// The later end of two.
    pub(crate) fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::Until(a), Self::Until(b)) => Self::Until(a.max(b)),
            (Self::Until(_), _) => self,
            (_, _) => other,
        }
    }
}
