//! Counts one limit, from scratch and by the book: a list of what came, recounted.

use std::collections::VecDeque;

use super::limits::Rate;
use crate::time::micros;

/// What a call weighs in a window at most; Telegram takes 100 ids in one call.
pub(crate) const WEIGHT_MAX: u32 = 100;

pub(crate) struct Meter {
    rate: Rate,
    /// Arrival and weight. A stamp in the future is what is left of a call heavier than the window.
    stamps: VecDeque<(u64, u32)>,
    debt_us: u64,
    debt_at_us: u64,
}

impl Meter {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, stamps: VecDeque::new(), debt_us: 0, debt_at_us: 0 }
    }

    pub(crate) fn all(rates: &[Rate]) -> Vec<Self> {
        rates.iter().copied().map(Self::new).collect()
    }

    /// How long until a call of this weight would be within the limit; 0 is now.
    pub(crate) fn wait_us(&mut self, now_us: u64, weight: u32) -> u64 {
        self.settle(now_us);
        match self.rate {
            Rate::Window { count, period } => {
                let count = count.max(1);
                let mut standing: u32 = self.stamps.iter().map(|stamp| stamp.1).sum();
                // A heavier call fits only into an empty window.
                let room = count - weight.min(count);
                let mut wait_us = 0;
                for (at_us, units) in &self.stamps {
                    if standing <= room {
                        break;
                    }
                    standing -= units;
                    wait_us = at_us.saturating_add(micros(period)).saturating_sub(now_us);
                }
                wait_us
            }
            Rate::Pace { burst, period, slack } => {
                let allowed = u64::from(burst.max(1) - 1).saturating_mul(micros(period)).saturating_add(micros(slack));
                self.debt_us.saturating_sub(allowed)
            }
        }
    }

    /// Units that still fit now; a pace tells none or no bound, for it counts calls.
    pub(crate) fn room(&mut self, now_us: u64) -> u32 {
        if let Rate::Window { count, .. } = self.rate {
            self.settle(now_us);
            return count.max(1).saturating_sub(self.stamps.iter().map(|stamp| stamp.1).sum());
        }
        if self.wait_us(now_us, 1) == 0 { u32::MAX } else { 0 }
    }

    pub(crate) fn take(&mut self, now_us: u64, weight: u32) {
        self.settle(now_us);
        match self.rate {
            Rate::Window { count, period } => {
                let mut left = weight.clamp(1, WEIGHT_MAX);
                let mut at_us = now_us;
                while left > 0 {
                    let units = left.min(count.max(1));
                    self.stamps.push_back((at_us, units));
                    left -= units;
                    at_us = at_us.saturating_add(micros(period));
                }
            }
            Rate::Pace { period, .. } => self.debt_us = self.debt_us.saturating_add(micros(period)),
        }
    }

    fn settle(&mut self, now_us: u64) {
        match self.rate {
            Rate::Window { period, .. } => {
                while let Some((at_us, _)) = self.stamps.front() {
                    if at_us.saturating_add(micros(period)) > now_us {
                        break;
                    }
                    self.stamps.pop_front();
                }
            }
            Rate::Pace { .. } => {
                self.debt_us = self.debt_us.saturating_sub(now_us.saturating_sub(self.debt_at_us));
                self.debt_at_us = self.debt_at_us.max(now_us);
            }
        }
    }
}

/// The longest wait of several limits: a call must keep all of them.
pub(crate) fn longest_wait_us(meters: &mut [Meter], now_us: u64, weight: u32) -> u64 {
    meters.iter_mut().map(|meter| meter.wait_us(now_us, weight)).max().unwrap_or(0)
}

pub(crate) fn least_room(meters: &mut [Meter], now_us: u64) -> u32 {
    meters.iter_mut().map(|meter| meter.room(now_us)).min().unwrap_or(u32::MAX)
}

pub(crate) fn take_all(meters: &mut [Meter], now_us: u64, weight: u32) {
    for meter in meters {
        meter.take(now_us, weight);
    }
}

#[cfg(test)]
#[path = "meter_tests.rs"]
mod tests;
