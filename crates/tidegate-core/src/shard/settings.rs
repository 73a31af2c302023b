//! The numbers of a shard, and what it starts from.

use alloc::boxed::Box;

use crate::time::{Span, Time};

/// What to do where no session start is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBudgetGone {
    /// Wait until the budget allows.
    Park,
    /// Stop until re-armed.
    Stop,
}

/// How a shard behaves. Every number is a key under `discord.gateway.reconnect` of the program's config.
///
/// Discord's own are HELLO's interval, op 9 and the close codes
/// (<https://discord.com/developers/docs/events/gateway#connection-lifecycle>,
/// <https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes>); the waits are
/// chosen so that a day of nothing but failures stays far under the 1,000 session starts that reset a token. Of a pair of
/// spans the first is the least, the second the most.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The shard's id, and of how many.
    pub shard: (u32, u32),
    /// The main Gateway address, with the query that a resume address is given too.
    pub url: Box<str>,
    /// Where its jitter starts.
    pub seed: u64,
    /// Whether it asks for a grant by itself. Otherwise a bot's IDENTIFY does.
    pub autonomous: bool,
    /// The first wait.
    pub backoff_min: Span,
    /// The longest wait. A day of nothing but failures spends about 130 IDENTIFYs at 15 min.
    pub backoff_max: Span,
    /// The longest wait for a RESUME. Discord keeps a session for minutes.
    pub resume_backoff_max: Span,
    /// A session that was up waits for its RESUME no longer than is left of this since its READY or RESUMED, or the first
    /// step where that is longer: RESUMEs cost no session start, and one in a minute is few enough.
    pub resume_cycle: Span,
    /// The least and the most of a step that is waited, in millionths.
    pub jitter_ppm: (u32, u32),
    /// So long must a connection have been READY or RESUMED, with an ACK in it, before the backoff starts over.
    pub stable_after: Span,
    /// From dial to HELLO, and from the last sign of life after IDENTIFY or RESUME.
    pub connect_watchdog: Span,
    /// From IDENTIFY or RESUME to READY or RESUMED, whatever signs of life there are.
    pub ready_watchdog: Span,
    /// The wait after close 4008.
    pub rate_limited_cooldown: Span,
    /// So many 4008 within an hour wait only for [`Settings::grace_wait`]. At most [`GRACE_MAX`].
    pub rate_limited_grace: u32,
    /// The shortest and the longest wait after a 4008 with grace: a new connection has a fresh minute.
    pub grace_wait: (Span, Span),
    /// The hour in which 4008 are counted.
    pub grace_window: Span,
    /// The shortest and the longest wait after op 9. Discord's documentation asked for 1 to 5 s for years.
    pub invalid_session_wait: (Span, Span),
    /// So many failed RESUMEs in a row drop the session.
    pub resume_attempts: u32,
    /// So long before its place in the line is due a shard dials.
    pub early_dial: Span,
    /// A grant that is older is asked for anew. The identify queue's `hold`.
    pub hold: Span,
    /// Over so long the requests of shards that waited for the budget are spread. The identify queue's `spacing`.
    pub spacing: Span,
    /// What to do where no session start is left.
    pub on_budget_gone: OnBudgetGone,
    /// So many beats may be missing their ACK when the next is due: one more is a zombie.
    pub ack_tolerance: u32,
    /// Whether a dispatch counts as an ACK: a busy shard's ACKs may be late, a dead one sends nothing.
    pub dispatch_is_ack: bool,
    /// HELLO's heartbeat interval is held to these.
    pub heartbeat_interval: (Span, Span),
    /// Replacing a session so soon after the last replacement waits the backoff.
    pub replace_window: Span,
}

/// The most that [`Settings::rate_limited_grace`] may be.
pub const GRACE_MAX: u32 = 16;

impl Default for Settings {
    fn default() -> Self {
        Self {
            shard: (0, 1),
            url: "wss://gateway.discord.gg".into(),
            seed: 0,
            autonomous: true,
            backoff_min: Span::from_secs(5),
            backoff_max: Span::from_secs(900),
            resume_backoff_max: Span::from_secs(60),
            resume_cycle: Span::from_secs(60),
            jitter_ppm: (500_000, 1_000_000),
            stable_after: Span::from_secs(60),
            connect_watchdog: Span::from_secs(60),
            ready_watchdog: Span::from_secs(600),
            rate_limited_cooldown: Span::from_secs(1_800),
            rate_limited_grace: 1,
            grace_wait: (Span::from_secs(60), Span::from_secs(120)),
            grace_window: Span::from_secs(3_600),
            invalid_session_wait: (Span::from_secs(1), Span::from_secs(5)),
            resume_attempts: 3,
            early_dial: Span::from_secs(3),
            hold: Span::from_secs(30),
            spacing: Span::from_secs(5),
            on_budget_gone: OnBudgetGone::Park,
            ack_tolerance: 1,
            dispatch_is_ack: false,
            heartbeat_interval: (Span::from_secs(1), Span::from_secs(600)),
            replace_window: Span::from_secs(900),
        }
    }
}

/// A session as it is written down, so that another process can RESUME it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSession {
    /// Discord's name for it.
    pub id: Box<str>,
    /// The last dispatch's number.
    pub seq: u64,
    /// Where to RESUME it.
    pub resume_url: Box<str>,
    /// Backoff steps taken when it was written down.
    pub backoff_step: u32,
    /// When it was written down.
    pub at: Time,
}
