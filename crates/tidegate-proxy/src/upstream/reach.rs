//! Whether a platform's API answers at all, and when operators are told that it does not.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Failures are told of at most so often, however many calls meet them.
const PAUSE: Duration = Duration::from_secs(60);

/// Nothing was sent yet.
const UNTRIED: u8 = 0;
const ANSWERS: u8 = 1;
const SILENT: u8 = 2;

/// How the last calls to one platform fared. Nothing in it is a bot's: it is the way there that is looked at.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// Read by every call; written where it changes.
    last: AtomicU8,
    told: Mutex<Told>,
}

/// What operators know.
#[derive(Debug, Default)]
struct Told {
    /// When they were last told of a failure.
    at: Option<Instant>,
    /// Failures that they were not told of.
    since: u64,
    /// They were told that it fails and not yet that it answers.
    fails: bool,
}

impl Reach {
    /// A call was answered; whether to say that it answers again.
    pub(super) fn answered(&self) -> bool {
        if self.last.load(Ordering::Relaxed) == ANSWERS {
            return false;
        }
        let mut told = self.told();
        self.last.store(ANSWERS, Ordering::Relaxed);
        std::mem::take(&mut told.fails)
    }

    /// A call got no answer. Where operators are to be told: how many did since they last were.
    pub(super) fn failed(&self, now: Instant) -> Option<u64> {
        let mut told = self.told();
        self.last.store(SILENT, Ordering::Relaxed);
        told.since += 1;
        if told.at.is_some_and(|at| now < at + PAUSE) {
            return None;
        }
        told.at = Some(now);
        told.fails = true;
        Some(std::mem::take(&mut told.since))
    }

    /// Whether the last call was answered; `None` before the first.
    pub(crate) fn is_reachable(&self) -> Option<bool> {
        match self.last.load(Ordering::Relaxed) {
            UNTRIED => None,
            last => Some(last == ANSWERS),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_at_once_then_once_a_minute_and_their_end_once() {
        let (reach, start) = (Reach::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!((reach.answered(), reach.is_reachable()), (false, Some(true)));
        assert_eq!((reach.failed(at(0)), reach.is_reachable()), (Some(1), Some(false)));
        assert_eq!((reach.failed(at(1)), reach.failed(at(59)), reach.failed(at(60))), (None, None, Some(3)));
        assert_eq!((reach.answered(), reach.answered()), (true, false));
        // One that fails and answers by turns fills no log.
        assert_eq!((reach.failed(at(61)), reach.answered()), (None, false));
        assert_eq!((reach.failed(at(120)), reach.answered()), (Some(2), true));
        assert_eq!(Reach::default().is_reachable(), None);
    }
}
