//! A shard's first line.

use serde::Deserialize;
use tidegate_core::shard::{OnBudgetGone, Settings, StoredSession};
use tidegate_core::{Span, Time};

use crate::line::{Millis, OneOf};

/// Every number has the name of its key in the configuration, times with `_ms`. What is left out is as by default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    shard: Option<OneOf>,
    url: Option<String>,
    seed: Option<u64>,
    session: Option<Session>,
    autonomous: Option<bool>,
    backoff_min_ms: Option<Millis>,
    backoff_max_ms: Option<Millis>,
    resume_backoff_max_ms: Option<Millis>,
    resume_cycle_ms: Option<Millis>,
    jitter: Option<Jitter>,
    stable_after_ms: Option<Millis>,
    connect_watchdog_ms: Option<Millis>,
    ready_watchdog_ms: Option<Millis>,
    rate_limited_cooldown_ms: Option<Millis>,
    rate_limited_grace: Option<u32>,
    rate_limited_grace_wait_ms: Option<(Millis, Millis)>,
    rate_limited_grace_window_ms: Option<Millis>,
    invalid_session_wait_ms: Option<(Millis, Millis)>,
    resume_attempts: Option<u32>,
    early_dial_ms: Option<Millis>,
    hold_ms: Option<Millis>,
    spacing_ms: Option<Millis>,
    on_budget_gone: Option<BudgetGone>,
    ack_tolerance: Option<u32>,
    dispatch_is_ack: Option<bool>,
    heartbeat_interval_ms: Option<(Millis, Millis)>,
    replace_window_ms: Option<Millis>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Session {
    id: String,
    #[serde(default)]
    seq: u64,
    #[serde(default)]
    resume_url: String,
    #[serde(default)]
    backoff_step: u32,
    #[serde(default = "start")]
    at: Millis,
}

fn start() -> Millis {
    Millis(0)
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum BudgetGone {
    Park,
    Stop,
}

/// The least and the most of a step that is waited, or how much of it at most is not.
#[derive(Deserialize)]
#[serde(untagged)]
enum Jitter {
    Between(f64, f64),
    Off(f64),
}

impl Jitter {
    fn ppm(self) -> Result<(u32, u32), String> {
        let (low, high) = match self {
            Self::Between(low, high) => (low, high),
            Self::Off(off) => (1.0 - off, 1.0),
        };
        if !(0.0..=1.0).contains(&low) || !(0.0..=1.0).contains(&high) || low > high {
            return Err("jitter: expected [LEAST,MOST] or the part of a step that may be left out, each 0 to 1".into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
        let ppm = |share: f64| (share * 1_000_000.0).round() as u32;
        Ok((ppm(low), ppm(high)))
    }
}

fn span(ms: Option<Millis>, default: Span) -> Span {
    ms.map_or(default, |ms| Span::from_millis(ms.0))
}

fn range(key: &str, ms: Option<(Millis, Millis)>, default: (Span, Span)) -> Result<(Span, Span), String> {
    match ms {
        None => Ok(default),
        Some((Millis(low), Millis(high))) if low <= high => Ok((Span::from_millis(low), Span::from_millis(high))),
        Some(_) => Err(format!("{key}: expected [LEAST,MOST]")),
    }
}

impl Line {
    /// What it leaves out is as `base` has it.
    pub(crate) fn read(self, base: Settings) -> Result<(Settings, Option<StoredSession>), String> {
        let settings = Settings {
            shard: self.shard.map_or(base.shard, |shard| (shard.id, shard.count)),
            url: self.url.map_or(base.url, Into::into),
            seed: self.seed.unwrap_or(base.seed),
            autonomous: self.autonomous.unwrap_or(base.autonomous),
            backoff_min: span(self.backoff_min_ms, base.backoff_min),
            backoff_max: span(self.backoff_max_ms, base.backoff_max),
            resume_backoff_max: span(self.resume_backoff_max_ms, base.resume_backoff_max),
            resume_cycle: span(self.resume_cycle_ms, base.resume_cycle),
            jitter_ppm: self.jitter.map_or(Ok(base.jitter_ppm), Jitter::ppm)?,
            stable_after: span(self.stable_after_ms, base.stable_after),
            connect_watchdog: span(self.connect_watchdog_ms, base.connect_watchdog),
            ready_watchdog: span(self.ready_watchdog_ms, base.ready_watchdog),
            rate_limited_cooldown: span(self.rate_limited_cooldown_ms, base.rate_limited_cooldown),
            rate_limited_grace: self.rate_limited_grace.unwrap_or(base.rate_limited_grace),
            grace_wait: range("rate_limited_grace_wait_ms", self.rate_limited_grace_wait_ms, base.grace_wait)?,
            grace_window: span(self.rate_limited_grace_window_ms, base.grace_window),
            invalid_session_wait: range(
                "invalid_session_wait_ms",
                self.invalid_session_wait_ms,
                base.invalid_session_wait,
            )?,
            resume_attempts: self.resume_attempts.unwrap_or(base.resume_attempts),
            early_dial: span(self.early_dial_ms, base.early_dial),
            hold: span(self.hold_ms, base.hold),
            spacing: span(self.spacing_ms, base.spacing),
            on_budget_gone: self.on_budget_gone.map_or(base.on_budget_gone, |gone| match gone {
                BudgetGone::Park => OnBudgetGone::Park,
                BudgetGone::Stop => OnBudgetGone::Stop,
            }),
            ack_tolerance: self.ack_tolerance.unwrap_or(base.ack_tolerance),
            dispatch_is_ack: self.dispatch_is_ack.unwrap_or(base.dispatch_is_ack),
            heartbeat_interval: range("heartbeat_interval_ms", self.heartbeat_interval_ms, base.heartbeat_interval)?,
            replace_window: span(self.replace_window_ms, base.replace_window),
        };
        Ok((settings, self.session.map(Into::into)))
    }
}

impl From<Session> for StoredSession {
    fn from(session: Session) -> Self {
        let Session { id, seq, resume_url, backoff_step, at } = session;
        Self { id: id.into(), seq, resume_url: resume_url.into(), backoff_step, at: Time::from_millis(at.0) }
    }
}
