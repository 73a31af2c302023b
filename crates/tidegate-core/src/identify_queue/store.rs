//! Where a bot's session starts outlive the process.

use alloc::vec::Vec;

use super::io::Shard;
use crate::time::{Span, Time};

/// Starts count for so long.
pub(super) const DAY: Span = Span::from_secs(24 * 3_600);

/// One session start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// When it stops to count: 24 h after it was granted. On the caller's clock, which may have begun after the grant.
    pub lapses_at: Time,
    /// Whose it was, where that is known.
    pub shard: Option<Shard>,
}

/// A change of what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A start was counted. It must be kept before its grant leaves: killed in between, one too many is counted, never
    /// one too few.
    Counted(Start),
    /// A start that was counted was not used after all.
    Undone(Start),
}

/// Keeps a bot's session starts of the last 24 h. An identify queue is made with what is kept; each of its changes goes in
/// before its outputs are carried out.
pub trait StartStore {
    /// All starts that still count at `now`.
    fn kept(&self, now: Time) -> Vec<Start>;
    /// Keeps a change.
    fn apply(&mut self, now: Time, change: Change);
}

/// Keeps them for as long as the value lives.
#[derive(Clone, Debug, Default)]
pub struct InMemoryStarts(Vec<Start>);

impl InMemoryStarts {
    /// With these starts in it.
    pub fn with(starts: Vec<Start>) -> Self {
        Self(starts)
    }
}

impl StartStore for InMemoryStarts {
    fn kept(&self, now: Time) -> Vec<Start> {
        self.0.iter().copied().filter(|start| start.lapses_at > now).collect()
    }

    fn apply(&mut self, now: Time, change: Change) {
        self.0.retain(|start| start.lapses_at > now);
        match change {
            Change::Counted(start) => self.0.push(start),
            Change::Undone(start) => {
                if let Some(at) = self.0.iter().position(|kept| *kept == start) {
                    self.0.swap_remove(at);
                }
            }
        }
    }
}
