//! What happened, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Connections to Discord that were begun.
    Dials,
    /// IDENTIFYs written to Discord.
    Identifies,
    /// RESUMEs written to Discord.
    Resumes,
    /// RESUMEs of bots that were answered without a word to Discord.
    Local,
    /// Dispatches that came.
    Dispatches,
    /// Commands that went.
    Sent,
    /// Commands that were refused: too large, or too many wait.
    Refused,
    /// Commands that waited and never went.
    Dropped,
    /// Sessions that were lost.
    Lost,
}

/// All counts, and their names.
const ALL: [(Count, &str); 9] = [
    (Count::Dials, "dials"),
    (Count::Identifies, "identifies"),
    (Count::Resumes, "resumes"),
    (Count::Local, "local"),
    (Count::Dispatches, "dispatches"),
    (Count::Sent, "sent"),
    (Count::Refused, "refused"),
    (Count::Dropped, "dropped"),
    (Count::Lost, "lost"),
];

/// One bot's, since the process began.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; ALL.len()]);

impl Counts {
    pub(super) fn add(&self, what: Count, count: u64) {
        self.0[what as usize].fetch_add(count, Ordering::Relaxed);
    }

    /// All of them, by their names.
    pub(crate) fn list(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        ALL.iter().map(|(what, name)| (*name, self.0[*what as usize].load(Ordering::Relaxed)))
    }
}
