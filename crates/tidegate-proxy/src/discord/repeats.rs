//! Callers that come back before the time they were told: each time their answer comes a little later.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tidegate_core::{Span, Time};

const STEP: Span = Span::from_millis(250);
const MOST: u64 = 20;
/// Callers remembered at once.
const CALLERS: usize = 10_000;

/// When each caller may come back, and how often it came before that.
#[derive(Debug, Default)]
pub(super) struct Repeats(Mutex<HashMap<u64, (Time, u64)>>);

impl Repeats {
    /// A caller is refused until then; how much later it is told so.
    pub(super) fn refused(&self, caller: u64, now: Time, until: Time) -> Span {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if callers.len() >= CALLERS && !callers.contains_key(&caller) {
            callers.retain(|_, (until, _)| *until > now);
            if callers.len() >= CALLERS {
                callers.clear();
            }
        }
        let (told, times) = callers.entry(caller).or_insert((Time::ZERO, 0));
        *times = if *told > now { (*times + 1).min(MOST) } else { 0 };
        *told = until;
        STEP.times(*times)
    }
}
