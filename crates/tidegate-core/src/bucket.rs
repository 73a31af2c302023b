//! Burst and refill (GCRA), exact to the fraction of a microsecond.

use crate::time::{Span, Time};

/// A bucket's shape: `units` per `period_micros` in lowest terms, at most `burst` at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    units: u64,
    period_micros: u64,
    burst: u32,
}

/// A bucket's level, kept as the moment at which it will be full: `full_at` and `part / units` µs.
///
/// The refill stands still while a cooldown of its scope runs: callers look at it from the cooldown's end ("base"), and
/// move a level that is not full out by as much ([`Token::freeze`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Token {
    full_at: Time,
    part: u32,
}

impl Rate {
    pub(crate) fn new(units: u32, period: Span, burst: u32) -> Self {
        let (units, period) = (u64::from(units.max(1)), period.as_micros().max(1));
        let common = gcd(units, period);
        Self { units: units / common, period_micros: period / common, burst: burst.max(1) }
    }

    /// How long one more takes.
    pub(crate) fn interval(self) -> Span {
        Span::from_micros(self.period_micros.div_ceil(self.units))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Token {
    /// What is missing to be full, in units of which one token is `period_micros`. A table's largest bucket (10,000
    /// tokens, one a day) in deepest debt is 2^51 of them.
    #[inline]
    fn missing(self, rate: Rate, base: Time) -> u64 {
        if self.full_at < base {
            return 0;
        }
        self.full_at.since(base).as_micros().saturating_mul(rate.units).saturating_add(u64::from(self.part))
    }

    #[inline]
    fn set_missing(&mut self, rate: Rate, base: Time, missing: u64) {
        if rate.units == 1 {
            self.full_at = base + Span::from_micros(missing);
            return;
        }
        self.full_at = base + Span::from_micros(missing / rate.units);
        self.part = u32::try_from(missing % rate.units).unwrap_or(0);
    }

    /// The earliest moment, `base` or later, at which `weight` tokens are there. More than the burst go when it is full.
    #[inline]
    pub(crate) fn earliest(self, rate: Rate, base: Time, weight: u32) -> Time {
        if self.full_at < base {
            return base;
        }
        let may_miss = u64::from(rate.burst.saturating_sub(weight)).saturating_mul(rate.period_micros);
        let missing = self.missing(rate, base);
        if missing <= may_miss {
            return base;
        }
        base + Span::from_micros((missing - may_miss).div_ceil(rate.units))
    }

    /// Whether `weight` tokens are there at `base`.
    #[inline]
    pub(crate) fn has(self, rate: Rate, base: Time, weight: u32) -> bool {
        if self.full_at < base {
            return true;
        }
        let may_miss = u64::from(rate.burst.saturating_sub(weight)).saturating_mul(rate.period_micros);
        self.missing(rate, base) <= may_miss
    }

    /// Takes `weight` tokens, into debt where there are not so many.
    #[inline]
    pub(crate) fn take(&mut self, rate: Rate, base: Time, weight: u32) {
        let taken = u64::from(weight).saturating_mul(rate.period_micros);
        let missing = self.missing(rate, base).saturating_add(taken);
        self.set_missing(rate, base, missing);
    }

    /// Gives `weight` tokens back, never beyond the burst.
    pub(crate) fn give_back(&mut self, rate: Rate, base: Time, weight: u32) {
        let given = u64::from(weight).saturating_mul(rate.period_micros);
        let missing = self.missing(rate, base).saturating_sub(given);
        self.set_missing(rate, base, missing);
    }

    /// Nothing refills between `base` and `until`.
    pub(crate) fn freeze(&mut self, rate: Rate, base: Time, until: Time) {
        if self.missing(rate, base) > 0 {
            self.full_at += until.since(base);
        }
    }

    /// When it is full.
    pub(crate) fn full_at(self) -> Time {
        if self.part > 0 { self.full_at + Span::from_micros(1) } else { self.full_at }
    }

    /// The emptier of two.
    pub(crate) fn emptier(self, other: Self) -> Self {
        if (self.full_at, self.part) >= (other.full_at, other.part) { self } else { other }
    }
}
