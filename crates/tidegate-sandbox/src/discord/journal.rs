//! What happened: figures in all, by route and by channel, and a log of every call.

use serde::Serialize;

use super::refusal::Scope;
use crate::journal::Entry;

/// Figures of a route, a channel, or all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Calls that came.
    pub calls: u64,
    /// Calls answered 2xx.
    pub accepted: u64,
    /// 429s of every kind.
    pub refused_429: u64,
    /// Those of them that the headers already given, or the published rules, let one know.
    pub foreseeable_429: u64,
    /// The others: nobody could know.
    pub hidden_429: u64,
    /// 429s of scope `user`.
    pub user_429: u64,
    /// 429s of scope `shared`.
    pub shared_429: u64,
    /// 429s of scope `global`.
    pub global_429: u64,
    /// 429s without headers.
    pub bare_429: u64,
    /// Calls blocked by a ban.
    pub ban_429: u64,
    /// Answers that count toward the 10,000.
    pub invalid: u64,
    /// Answers of 4xx and 5xx but for 429, and cut connections.
    pub errors: u64,
    /// Answers forced by a script.
    pub forced: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, entry: &LogEntry) {
        self.calls += 1;
        self.forced += u64::from(entry.forced);
        self.invalid += u64::from(entry.invalid);
        let Some(scope) = entry.scope else {
            let slot = if (200..300).contains(&entry.status) { &mut self.accepted } else { &mut self.errors };
            *slot += 1;
            return;
        };
        self.refused_429 += 1;
        if entry.foreseeable == Some(true) {
            self.foreseeable_429 += 1;
        } else {
            self.hidden_429 += 1;
        }
        *match scope {
            Scope::User => &mut self.user_429,
            Scope::Shared => &mut self.shared_429,
            Scope::Global => &mut self.global_429,
            Scope::Bare => &mut self.bare_429,
            Scope::Ban => &mut self.ban_429,
        } += 1;
    }
}

/// One call of the log. Times are platform time since the start or the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogEntry {
    /// Counts up from 1 and never again, so that a reader can ask for what is new.
    pub seq: u64,
    /// When the call was taken: all of its body had been read.
    pub at_ms: u64,
    /// The bot's id; 0 if there is none.
    pub bot: u64,
    /// The address it came from.
    pub from: String,
    /// Method and template.
    pub route: String,
    /// The top-level resource, `channel:1`; a token in it is a hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub major: Option<String>,
    /// The channel whose messages it is about; for a webhook the one it writes to.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub channel: Option<u64>,
    /// The message sent, edited or deleted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub message_id: Option<u64>,
    /// The number of the first `#123` in the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<u64>,
    /// The beginning of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Uploads.
    pub files: usize,
    /// It carried `Authorization`.
    pub authorized: bool,
    /// HTTP status; 0 for a connection cut instead of an answer.
    pub status: u16,
    /// The hash told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// What was left in the bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u32>,
    /// Of a 429: who refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Of a 429: the true wait, whether it was told or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// Of a 429: the caller could have known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreseeable: Option<bool>,
    /// It counts toward the 10,000.
    pub invalid: bool,
    /// A script decided the answer.
    pub forced: bool,
}

/// Ids as Discord writes them: no number of JavaScript holds them.
#[expect(clippy::ref_option, reason = "serde passes the field")]
fn as_text<S: serde::Serializer>(id: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match id {
        Some(id) => serializer.collect_str(id),
        None => serializer.serialize_none(),
    }
}

impl LogEntry {
    pub(crate) fn refused(&mut self, scope: Scope, wait_us: u64, foreseeable: bool) {
        self.scope = Some(scope);
        self.wait_ms = Some(wait_us.div_ceil(1000));
        self.foreseeable = Some(foreseeable);
    }
}

pub(crate) type Journal = crate::journal::Journal<LogEntry>;

impl Entry for LogEntry {
    type Tally = Tally;

    fn status(&self) -> u16 {
        self.status
    }

    fn name(&self) -> &str {
        &self.route
    }

    fn count(&self, tally: &mut Tally) {
        tally.add(self);
    }

    fn numbered(self, seq: u64) -> Self {
        Self { seq, ..self }
    }
}

/// What an entry does not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Misuse {
    /// Calls into a cooldown over all routes that was known.
    pub into_global: u64,
    /// Calls to webhooks that are gone.
    pub into_dead_webhook: u64,
    /// Calls to interactions and token webhooks that carried `Authorization`, and so counted over all routes.
    pub needless_authorization: u64,
}
