//! How long a call may be held: what its client library waits for an answer by default, less what the platform needs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use tidegate_core::policy::parse_span;
use tidegate_core::{Latency, Span, Time};

/// The longest that a client may ask for.
const LONGEST: Span = Span::from_secs(600);
/// Nobody knows when other libraries give up: they are taken to be as impatient as the most impatient one that is known.
pub(crate) const UNKNOWN: Span = Span::from_secs(5);

/// How long a call may be held of a library that gives up after `timeout`, before a platform whose slow answers take
/// `slow` lately. A fifth is left in any case, and never more than half.
pub(crate) fn within(timeout: Span, slow: Span) -> Span {
    timeout - timeout.split(5).max(slow.times(2).min(timeout.split(2)))
}

/// What `X-Tidegate-Max-Hold` says; `None` where it says nothing that makes sense.
pub(crate) fn named(written: &str) -> Option<Span> {
    parse_span(written).ok().filter(|span| *span <= LONGEST)
}

/// How long one platform's answers take, over all threads.
#[derive(Debug, Default)]
pub(crate) struct AnswerTimes {
    /// What every call reads.
    slow_us: AtomicU64,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    latency: Latency,
    /// What those who are held were last told of.
    told: Span,
}

impl AnswerTimes {
    /// What slow answers take lately.
    pub(crate) fn slow(&self) -> Span {
        Span::from_micros(self.slow_us.load(Ordering::Relaxed))
    }

    /// An answer came. Whether those who are held had better look how long they may wait: the figure has grown by a
    /// quarter since they last did.
    pub(crate) fn answered(&self, now: Time, took: Span) -> bool {
        let mut recent = match self.recent.try_lock() {
            Ok(recent) => recent,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread has one at this moment. A percentile can do without this one, and nobody waits.
            Err(TryLockError::WouldBlock) => return false,
        };
        recent.latency.answered(now, took);
        let slow = recent.latency.slow();
        self.slow_us.store(slow.as_micros(), Ordering::Relaxed);
        if slow < recent.told {
            recent.told = slow;
        }
        let grown = slow > recent.told + recent.told.split(4);
        if grown {
            recent.told = slow;
        }
        grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_leaves_room_for_the_platform() {
        let within =
            |timeout_ms, slow_ms| within(Span::from_millis(timeout_ms), Span::from_millis(slow_ms)).as_micros() / 1000;
        // A fifth, twice the slow answers, at most half.
        assert_eq!([within(5_000, 0), within(5_000, 500), within(5_000, 600)], [4_000, 4_000, 3_800]);
        assert_eq!([within(5_000, 1_250), within(5_000, 90_000)], [2_500, 2_500]);
        assert_eq!([within(500_000, 1_500), within(500_000, 90_000)], [400_000, 320_000]);
        assert_eq!(within(0, 1), 0);
    }

    #[test]
    fn those_who_are_held_look_again_when_answers_become_slower_by_a_quarter_and_not_with_each() {
        let times = AnswerTimes::default();
        let mut looks = 0;
        for second in 0..600 {
            // From 100 ms to 1.3 s.
            looks += u32::from(times.answered(Time::from_millis(second * 1000), Span::from_millis(100 + 2 * second)));
        }
        assert!((8..=13).contains(&looks), "{looks}");
        assert!(times.slow() > Span::from_millis(1_200), "{:?}", times.slow());
        for second in 600..2_000 {
            assert!(!times.answered(Time::from_millis(second * 1000), Span::from_millis(100)));
        }
        assert!(
            times.answered(Time::from_millis(2_000_000), Span::from_millis(100))
                || times.slow() < Span::from_millis(200)
        );
    }
}
