//! Waits that double, and the seeded jitter that spreads them.

use crate::time::Span;

/// A million equal shares of a span.
const PPM: u64 = 1_000_000;

/// Deterministic spread: the same seed draws the same waits. Not for secrets.
///
/// `SplitMix64`: <https://prng.di.unimi.it/splitmix64.c>.
#[derive(Clone, Debug)]
pub(crate) struct Jitter(u64);

impl Jitter {
    /// Two seeds in one, so that shards of one bot do not move in step.
    pub(crate) fn new(seed: u64, apart: u64) -> Self {
        let mut mixed = Self(apart);
        Self(mixed.draw() ^ seed)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included; `low` where they are the wrong way round.
    fn number(&mut self, low: u64, high: u64) -> u64 {
        let width = u128::from(high.saturating_sub(low)) + 1;
        let offset = (u128::from(self.draw()) * width) >> 64;
        low.saturating_add(u64::try_from(offset).unwrap_or(u64::MAX))
    }

    /// A span from `low` to `high`, in whole milliseconds where these are.
    pub(crate) fn between(&mut self, low: Span, high: Span) -> Span {
        let drawn = Span::from_micros(self.number(low.as_micros(), high.as_micros()));
        Span::from_millis(drawn.as_millis_ceil()).min(high.max(low))
    }

    /// A share of a whole, in millionths, from `low` to `high`.
    pub(crate) fn share(&mut self, low_ppm: u32, high_ppm: u32) -> Share {
        Share { ppm: self.number(low_ppm.into(), high_ppm.into()), most_ppm: high_ppm.max(low_ppm).into() }
    }
}

/// A drawn share. The same draw may be taken of several spans.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    ppm: u64,
    most_ppm: u64,
}

impl Share {
    /// The share of `span`, in whole milliseconds where that keeps it within what might be drawn.
    pub(crate) fn of(self, span: Span) -> Span {
        let part = |ppm: u64| {
            let micros = u128::from(span.as_micros()) * u128::from(ppm) / u128::from(PPM);
            Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
        };
        Span::from_millis(part(self.ppm).as_millis_ceil()).min(part(self.most_ppm))
    }
}

/// Steps that double from a least to a most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    min: Span,
    max: Span,
    step: u32,
}

impl Backoff {
    /// Never less than 1 ms, and never a most below the least.
    pub(crate) fn new(min: Span, max: Span, step: u32) -> Self {
        let min = min.max(Span::from_millis(1));
        let mut backoff = Self { min, max: max.max(min), step: 0 };
        backoff.step = step.min(backoff.last());
        backoff
    }

    /// How many steps were taken since it started over.
    pub(crate) fn step(&self) -> u32 {
        self.step
    }

    /// The wait of the step with this number, 0 the first.
    pub(crate) fn wait(&self, step: u32) -> Span {
        self.min.times(1_u64.checked_shl(step).unwrap_or(u64::MAX)).min(self.max)
    }

    /// The first step that is as long as any.
    fn last(&self) -> u32 {
        (0..64).find(|step| self.wait(*step) >= self.max).unwrap_or(64)
    }

    /// Takes a step: how long it is.
    pub(crate) fn take(&mut self) -> Span {
        let wait = self.wait(self.step);
        self.step = (self.step + 1).min(self.last());
        wait
    }

    /// Goes on from this step at least.
    pub(crate) fn raise(&mut self, step: u32) {
        self.step = self.step.max(step).min(self.last());
    }

    /// To the longest wait.
    pub(crate) fn pin(&mut self) {
        self.step = self.last();
    }

    /// Starts over.
    pub(crate) fn reset(&mut self) {
        self.step = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_secs(1);

    #[test]
    fn steps_double_and_stop_at_the_most() {
        let mut backoff = Backoff::new(SECOND.times(5), SECOND.times(900), 0);
        let taken: [u64; 10] = core::array::from_fn(|_| backoff.take().as_secs_ceil());
        assert_eq!(taken, [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
        assert_eq!(backoff.step(), 8);
        backoff.reset();
        assert_eq!(backoff.take(), SECOND.times(5));
        backoff.pin();
        assert_eq!(backoff.take(), SECOND.times(900));
    }

    #[test]
    fn no_settings_and_no_stored_step_make_it_spin_or_overflow() {
        let mut backoff = Backoff::new(Span::ZERO, Span::ZERO, u32::MAX);
        assert_eq!((backoff.take(), backoff.step()), (Span::from_millis(1), 0));
        let mut backoff = Backoff::new(Span::MAX, SECOND, u32::MAX);
        assert_eq!(backoff.take(), Span::MAX);
        let mut backoff = Backoff::new(SECOND, Span::MAX, u32::MAX);
        assert_eq!(backoff.take(), Span::MAX);
        assert!(backoff.step() <= 64);
    }

    #[test]
    fn a_share_stays_within_its_bounds_for_every_span() {
        let mut jitter = Jitter::new(1, 2);
        for micros in [0, 1, 999, 5_000_000, 900_000_000, u64::MAX] {
            let span = Span::from_micros(micros);
            for _ in 0..1_000 {
                let part = jitter.share(500_000, 1_000_000).of(span);
                assert!(part <= span && part >= span.split(2), "{part:?} of {span:?}");
            }
        }
    }

    #[test]
    fn draws_reach_both_ends_and_nothing_beyond() {
        let mut jitter = Jitter::new(7, 0);
        let drawn: alloc::vec::Vec<u64> =
            (0..200).map(|_| jitter.between(Span::from_millis(3), Span::from_millis(5)).as_micros()).collect();
        assert!([3_000, 4_000, 5_000].iter().all(|ms| drawn.contains(ms)));
        assert!(drawn.iter().all(|us| [3_000, 4_000, 5_000].contains(us)));
        assert_eq!(jitter.between(SECOND, Span::ZERO), SECOND);
        assert_eq!(jitter.between(Span::MAX, Span::MAX), Span::MAX);
    }
}
