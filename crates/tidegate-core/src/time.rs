//! Moments and spans: whole microseconds, so that they can be stored and replayed.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};
use core::time::Duration;

/// A moment on the caller's clock, in microseconds since a start of the caller's choosing.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in microseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the caller's clock.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(u64::MAX);

    /// The moment `micros` µs after the start.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The moment `millis` ms after the start.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the start.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Milliseconds since the start, a fraction counted as a whole one.
    pub const fn as_millis_ceil(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// How long after `earlier` this is; nothing where it is not after it.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This moment less `span`, the start at the earliest.
    #[must_use]
    pub const fn before(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than anything lasts.
    pub const MAX: Self = Self(u64::MAX);

    /// `micros` µs.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// `millis` ms.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// `secs` s.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// In microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// In milliseconds, a fraction counted as a whole one.
    pub const fn as_millis_ceil(self) -> u64 {
        self.0.div_ceil(1_000)
    }

    /// In seconds, a fraction counted as a whole one.
    pub const fn as_secs_ceil(self) -> u64 {
        self.0.div_ceil(1_000_000)
    }

    /// This span `times` over, held at [`Span::MAX`].
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// An equal part of this span; the whole of it for zero parts.
    #[must_use]
    pub const fn split(self, parts: u64) -> Self {
        Self(match self.0.checked_div(parts) {
            Some(part) => part,
            None => self.0,
        })
    }

    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_micros(span.0)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}.{:03}ms", self.0 / 1_000, self.0 % 1_000)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}ms", self.0 / 1_000, self.0 % 1_000)
    }
}
