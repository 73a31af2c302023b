//! What happened: figures in all, by method and by chat, and a log of every call.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

/// Markers of one chat that are remembered to tell a message sent twice.
const MARKERS_MAX: usize = 256;
/// Characters of a text that the log keeps.
const TEXT_MAX: usize = 96;

/// Figures of a method, a chat, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Calls that came.
    pub calls: u64,
    /// Calls answered `ok`.
    pub accepted: u64,
    /// 429s, and albums cut off by one.
    pub refused_429: u64,
    /// Calls made into a ban after its grace, each of which made it grow.
    pub into_ban: u64,
    /// Other errors.
    pub errors: u64,
    /// Answers forced by a script.
    pub forced: u64,
}

impl Tally {
    fn add(&mut self, entry: &LogEntry) {
        self.calls += 1;
        self.into_ban += u64::from(entry.into_ban);
        self.forced += u64::from(entry.forced);
        match entry.status {
            200 => self.accepted += 1,
            _ if entry.limited => self.refused_429 += 1,
            _ => self.errors += 1,
        }
    }
}

/// What is kept of one chat besides its budgets.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChatTally {
    pub(crate) tally: Tally,
    pub(crate) units: u64,
    pub(crate) order: Order,
    pub(crate) edit_inversions: u64,
    pub(crate) gap: Gaps,
}

/// Whether the markers (`#12`) of what was sent to a chat come in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    highest: Option<u64>,
    seen: VecDeque<u64>,
    pub(crate) inversions: u64,
    pub(crate) duplicates: u64,
}

impl Order {
    pub(crate) fn see(&mut self, marker: u64) {
        if self.seen.contains(&marker) {
            self.duplicates += 1;
            return;
        }
        if self.highest.is_some_and(|highest| marker < highest) {
            self.inversions += 1;
        }
        self.highest = self.highest.max(Some(marker));
        if self.seen.len() >= MARKERS_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back(marker);
    }
}

/// Time between two accepted sends or edits of a chat.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    first_us: Option<u64>,
    last_us: u64,
    count: u64,
    min_us: u64,
    max_us: u64,
}

impl Gaps {
    pub(crate) fn see(&mut self, now_us: u64) {
        if self.first_us.is_some() {
            let gap_us = now_us.saturating_sub(self.last_us);
            self.min_us = if self.count == 0 { gap_us } else { self.min_us.min(gap_us) };
            self.max_us = self.max_us.max(gap_us);
            self.count += 1;
        } else {
            self.first_us = Some(now_us);
        }
        self.last_us = now_us;
    }

    pub(crate) fn summary(&self) -> GapStats {
        let whole_us = self.last_us.saturating_sub(self.first_us.unwrap_or(self.last_us));
        GapStats {
            count: self.count,
            min_ms: self.min_us / 1000,
            mean_ms: whole_us.checked_div(self.count).unwrap_or(0) / 1000,
            max_ms: self.max_us / 1000,
        }
    }
}

/// Delays from one accepted send or edit of a chat to the next, platform time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GapStats {
    /// Gaps seen: one less than the accepted calls.
    pub count: u64,
    /// Shortest.
    pub min_ms: u64,
    /// Mean.
    pub mean_ms: u64,
    /// Longest.
    pub max_ms: u64,
}

/// One call of the log. Times are platform time since the start or the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogEntry {
    /// Counts up from 1 and never again, so that a reader can ask for what is new.
    pub seq: u64,
    /// When the call was taken: all of its arguments had been read.
    pub at_ms: u64,
    /// The bot's id; 0 for a malformed token.
    pub bot: u64,
    /// The method as documented; as it came if unknown.
    pub method: String,
    /// The numeric chat id, or `inline:…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// The message sent, edited or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<i64>,
    /// The number of the first `#123` in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<u64>,
    /// The beginning of the text or caption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Units that the limits counted.
    pub units: u32,
    /// HTTP status; 499 for a poll whose client left, 0 for a connection cut instead of an answer.
    pub status: u16,
    /// What a 429 told, platform seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// A limit or a ban refused it, in whole or (album) in part.
    pub limited: bool,
    /// It came into a ban and made it grow.
    pub into_ban: bool,
    /// A script decided the answer.
    pub forced: bool,
}

/// The beginning of a text, cut at a character.
pub(crate) fn beginning(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// The number of the first `#123` in a text.
pub(crate) fn marker(text: &str) -> Option<u64> {
    text.split('#').skip(1).find_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..digits)?.parse().ok()
    })
}

#[derive(Default)]
pub(crate) struct Journal {
    log_max: usize,
    seq: u64,
    log: VecDeque<LogEntry>,
    pub(crate) total: Tally,
    pub(crate) by_method: BTreeMap<String, Tally>,
    pub(crate) by_status: BTreeMap<u16, u64>,
}

impl Journal {
    /// Names of unknown methods must not fill the table.
    const METHODS_MAX: usize = 512;

    pub(crate) fn new(log_max: usize) -> Self {
        Self { log_max: log_max.max(1), ..Self::default() }
    }

    /// An empty one whose numbers go on where another ended.
    pub(crate) fn after(old: &Self, log_max: usize) -> Self {
        Self { seq: old.seq, ..Self::new(log_max) }
    }

    pub(crate) fn record(&mut self, mut entry: LogEntry) {
        self.seq += 1;
        entry.seq = self.seq;
        self.total.add(&entry);
        *self.by_status.entry(entry.status).or_default() += 1;
        if self.by_method.len() < Self::METHODS_MAX || self.by_method.contains_key(&entry.method) {
            self.by_method.entry(entry.method.clone()).or_default().add(&entry);
        }
        if self.log.len() >= self.log_max {
            self.log.pop_front();
        }
        self.log.push_back(entry);
    }

    pub(crate) fn log(&self) -> &VecDeque<LogEntry> {
        &self.log
    }
}

impl ChatTally {
    pub(crate) fn add(&mut self, entry: &LogEntry) {
        self.tally.add(entry);
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
