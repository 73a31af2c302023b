//! What a shard did, as a trace has it.

use serde::{Serialize, Serializer};
use tidegate_core::shard::{End, Note, Output, StopReason, StoredSession, Why};

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Connect { r#gen: u64, url: String },
    Close { r#gen: u64, code: u16 },
    Beat { r#gen: u64, seq: Option<u64> },
    Identify { r#gen: u64 },
    Resume { r#gen: u64, session: String, seq: u64 },
    RequestGrant,
    ReleaseGrant { grant: u64, unused: bool },
    SaveSession(Option<Session>),
    Lost,
    Waiting { until_ms: u64, why: &'static str },
    Stopped { reason: &'static str },
    Note(NoteLine),
}

#[derive(Serialize)]
pub(crate) struct Session {
    id: String,
    seq: u64,
    resume_url: String,
    backoff_step: u32,
    at: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NoteLine {
    Stale { r#gen: u64 },
    Unstable { reasons: Reasons },
    NotYet { until_ms: u64, why: &'static str },
    Undecodable { last_op: Option<u8> },
}

/// How connections ended, and how often so.
pub(crate) struct Reasons(Vec<(End, u32)>);

impl Serialize for Reasons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(end, count)| (ended(*end), count)))
    }
}

impl From<Output> for Line {
    fn from(output: Output) -> Self {
        match output {
            Output::Connect { generation, url } => Self::Connect { r#gen: generation.0, url: url.into() },
            Output::Close { generation, code } => Self::Close { r#gen: generation.0, code },
            Output::Beat { generation, seq } => Self::Beat { r#gen: generation.0, seq },
            Output::Identify { generation } => Self::Identify { r#gen: generation.0 },
            Output::Resume { generation, session, seq } => {
                Self::Resume { r#gen: generation.0, session: session.into(), seq }
            }
            Output::RequestGrant => Self::RequestGrant,
            Output::ReleaseGrant { grant, unused } => Self::ReleaseGrant { grant: grant.0, unused },
            Output::SaveSession(stored) => Self::SaveSession(stored.map(Into::into)),
            Output::Lost => Self::Lost,
            Output::Waiting { until, why } => Self::Waiting { until_ms: until.as_millis_ceil(), why: waits(why) },
            Output::Stopped(reason) => Self::Stopped { reason: stopped(reason) },
            Output::Note(note) => Self::Note(note.into()),
        }
    }
}

impl From<StoredSession> for Session {
    fn from(stored: StoredSession) -> Self {
        let StoredSession { id, seq, resume_url, backoff_step, at } = stored;
        Self { id: id.into(), seq, resume_url: resume_url.into(), backoff_step, at: at.as_millis_ceil() }
    }
}

impl From<Note> for NoteLine {
    fn from(note: Note) -> Self {
        match note {
            Note::Stale { generation } => Self::Stale { r#gen: generation.0 },
            Note::Unstable { reasons } => Self::Unstable { reasons: Reasons(reasons) },
            Note::NotYet { until, why } => Self::NotYet { until_ms: until.as_millis_ceil(), why: waits(why) },
            Note::Undecodable { last_op } => Self::Undecodable { last_op },
        }
    }
}

/// Why a shard waits, in a word.
pub fn waits(why: Why) -> &'static str {
    match why {
        Why::Backoff => "backoff",
        Why::Cooldown => "cooldown",
        Why::InvalidSession => "invalid_session",
        Why::Budget => "budget",
    }
}

/// Why a shard stopped, in a word.
pub fn stopped(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Fatal(fatal) => fatal.name(),
        StopReason::Budget => "budget",
    }
}

/// How a connection ended, in a word.
pub fn ended(end: End) -> String {
    match end {
        End::Closed(Some(code)) => format!("closed_{code}"),
        End::Closed(None) => "closed".to_owned(),
        End::Error => "error".to_owned(),
        End::Watchdog => "watchdog".to_owned(),
        End::Zombie => "zombie".to_owned(),
        End::Reconnect => "op7".to_owned(),
        End::InvalidSession { resumable } => format!("op9_{resumable}"),
    }
}
