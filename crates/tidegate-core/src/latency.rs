//! How long a platform's slow answers take lately: a percentile that forgets.
//!
//! A histogram whose weights halve every [`HALF_LIFE`]. Answers fall into classes of a geometric row, eight to a
//! doubling, so the figure is at most an eighth too high at any scale, and the memory is bounded. The percentile is moved
//! with each answer instead of being searched for.

use crate::time::{Span, Time};

/// After this time an answer weighs half.
const HALF_LIFE: Span = Span::from_secs(120);
/// Of the weight, so much may be slower than the figure: one in twenty, the 95th percentile.
const SLOWER: u64 = 20;
/// What one answer weighs. One alone is forgotten when this was halved to nothing, after about a quarter of an hour.
const WEIGHT: u32 = 256;
/// Classes to a doubling, as a power of two.
const FINE: u32 = 3;
/// The first class ends here (2^14 µs): quicker answers are all alike.
const QUICKEST: u32 = 14;
/// The last class begins at 2^28 µs, four and a half minutes.
const CLASSES: usize = ((28 - QUICKEST as usize) << FINE) + 2;

/// How long recent answers took. The caller says when they came, in order.
#[derive(Clone, Debug)]
pub struct Latency {
    weights: [u32; CLASSES],
    total: u64,
    /// What lies in classes above that of the figure.
    slower: u64,
    class: usize,
    /// When the weights were last halved.
    halved: Time,
}

impl Default for Latency {
    fn default() -> Self {
        Self { weights: [0; CLASSES], total: 0, slower: 0, class: 0, halved: Time::ZERO }
    }
}

impl Latency {
    /// An answer came at `now`, `took` after its call was sent.
    pub fn answered(&mut self, now: Time, took: Span) {
        self.fade(now);
        let class = class(took);
        let before = self.weights[class];
        self.weights[class] = before.saturating_add(WEIGHT);
        let added = u64::from(self.weights[class] - before);
        self.total += added;
        if class > self.class {
            self.slower += added;
        }
        self.settle();
    }

    /// The time within which 19 of 20 recent answers came; nothing before the first.
    pub fn slow(&self) -> Span {
        if self.total == 0 { Span::ZERO } else { end(self.class) }
    }

    /// Halves the weights as often as time says.
    fn fade(&mut self, now: Time) {
        let times = now.since(self.halved).as_micros() / HALF_LIFE.as_micros();
        if times == 0 {
            return;
        }
        self.halved += HALF_LIFE.times(times);
        let by = u32::try_from(times).unwrap_or(u32::MAX);
        for weight in &mut self.weights {
            *weight = weight.checked_shr(by).unwrap_or(0);
        }
        let sum = |weights: &[u32]| weights.iter().copied().map(u64::from).sum();
        self.total = sum(&self.weights);
        self.slower = sum(&self.weights[self.class + 1..]);
        self.settle();
    }

    /// Moves the figure to the lowest class above which at most one in [`SLOWER`] lies.
    fn settle(&mut self) {
        while self.slower * SLOWER > self.total {
            self.class += 1;
            self.slower -= u64::from(self.weights[self.class]);
        }
        while self.class > 0 && (self.slower + u64::from(self.weights[self.class])) * SLOWER <= self.total {
            self.slower += u64::from(self.weights[self.class]);
            self.class -= 1;
        }
    }
}

/// The class of an answer that took so long.
fn class(took: Span) -> usize {
    let micros = took.as_micros();
    let Some(doublings) = micros.checked_ilog2().and_then(|log| log.checked_sub(QUICKEST)) else { return 0 };
    // The bits behind the first say where between two doublings it lies.
    let fine = (micros >> (doublings + QUICKEST - FINE)) & ((1 << FINE) - 1);
    let class = 1 + ((u64::from(doublings) << FINE) | fine);
    usize::try_from(class).unwrap_or(CLASSES).min(CLASSES - 1)
}

/// Where a class ends.
fn end(class: usize) -> Span {
    let steps = 1 << FINE;
    let (doublings, fine) = (class / steps, class % steps);
    let quickest = 1_u64 << QUICKEST;
    Span::from_micros((quickest << doublings) + (quickest << doublings) / steps as u64 * fine as u64)
}

#[cfg(test)]
mod tests;
