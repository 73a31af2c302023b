//! Counts in windows, from scratch and by the book.

use std::collections::VecDeque;

use super::limits::Rate;
use super::refusal::Scope;
use crate::time::micros;

/// A window that begins with its first call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    open: Option<(u64, u32)>,
}

/// How a window stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Until it ends.
    pub(crate) left_us: u64,
}

impl Window {
    /// How it stands; one that is over, or has not begun, is whole.
    pub(crate) fn look(&mut self, now_us: u64, rate: Rate) -> Standing {
        let (limit, period_us) = (rate.count.max(1), micros(rate.period));
        let over = |start_us: u64| now_us >= start_us.saturating_add(period_us);
        if self.open.is_some_and(|(start_us, _)| over(start_us)) {
            self.open = None;
        }
        let (start_us, used) = self.open.unwrap_or((now_us, 0));
        Standing {
            limit,
            remaining: limit.saturating_sub(used),
            left_us: start_us.saturating_add(period_us).saturating_sub(now_us),
        }
    }

    /// Takes one; how it stands then, or as an error if nothing was left.
    pub(crate) fn take(&mut self, now_us: u64, rate: Rate) -> Result<Standing, Standing> {
        let standing = self.look(now_us, rate);
        if standing.remaining == 0 {
            return Err(standing);
        }
        let (start_us, used) = self.open.unwrap_or((now_us, 0));
        self.open = Some((start_us, used + 1));
        Ok(Standing { remaining: standing.remaining - 1, ..standing })
    }
}

/// What came in the last period, however it is aligned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rolling {
    stamps: VecDeque<u64>,
}

impl Rolling {
    pub(crate) fn count(&mut self, now_us: u64, rate: Rate) -> u32 {
        let period_us = micros(rate.period);
        while self.stamps.front().is_some_and(|at_us| at_us.saturating_add(period_us) <= now_us) {
            self.stamps.pop_front();
        }
        u32::try_from(self.stamps.len()).unwrap_or(u32::MAX)
    }

    /// Adds one and tells how many there are; more than the rate has are not kept.
    pub(crate) fn add(&mut self, now_us: u64, rate: Rate) -> u32 {
        if self.count(now_us, rate) > rate.count {
            self.stamps.pop_front();
        }
        self.stamps.push_back(now_us);
        u32::try_from(self.stamps.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn clear(&mut self) {
        self.stamps.clear();
    }
}

/// A refusal that was told and still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cooldown {
    pub(crate) scope: Scope,
    pub(crate) until_us: u64,
    /// From when the caller knows of it.
    pub(crate) known_us: u64,
}

impl Cooldown {
    pub(crate) fn holds(self, now_us: u64) -> bool {
        now_us < self.until_us
    }

    /// What the bucket's headers show of it: the caller's own one is empty, of another's they tell nothing.
    pub(crate) fn shown(self, now_us: u64, standing: Standing) -> Standing {
        match self.scope {
            Scope::User => Standing { remaining: 0, left_us: self.until_us.saturating_sub(now_us), ..standing },
            _ => standing,
        }
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
