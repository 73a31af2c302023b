//! What happened: figures in all, by method and by chat, and a log of every call.

use serde::Serialize;

use crate::journal::Entry;

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
    pub(crate) fn add(&mut self, entry: &LogEntry) {
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

pub(crate) type Journal = crate::journal::Journal<LogEntry>;

impl Entry for LogEntry {
    type Tally = Tally;

    fn status(&self) -> u16 {
        self.status
    }

    fn name(&self) -> &str {
        &self.method
    }

    fn count(&self, tally: &mut Tally) {
        tally.add(self);
    }

    fn numbered(self, seq: u64) -> Self {
        Self { seq, ..self }
    }
}
