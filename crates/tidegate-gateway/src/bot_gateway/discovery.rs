//! Where the Gateway is and what a bot may start there: `GET /gateway/bot`, asked before the first IDENTIFY and again
//! before it matters.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::StatusCode;
use serde::Deserialize;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::discord::Fatal;
use tidegate_core::identify_queue::{self, SessionStartLimit, StartStore as _};
use tidegate_core::shard::{Status, StopReason, Why};
use tidegate_core::{Span, Time, send_queue};

use super::{Caller, Fleet, Gate, Turn};
use crate::session::Input;
use tidegate_trace::Recorder;

/// A session start is not asked for on an older answer.
const OLD_AFTER: Span = Span::from_secs(60);
/// Between two tries while Discord cannot be reached.
const RETRY_MIN: Span = Span::from_secs(5);
const RETRY_MAX: Span = Span::from_secs(60);

/// Added to the send queue's period: what went late and what goes at once must not come closer together on Discord's side
/// than they were decided here. More than a quarter of a second would cost a frame in five minutes of scrolling.
const PERIOD_MARGIN: Span = Span::from_millis(250);

/// How far the asking is.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    asking: bool,
    /// When a good answer came last.
    known: Option<Time>,
    failures: u32,
    again: Option<Time>,
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tidings {
    Good(Answer),
    /// The token is not taken.
    Unauthorized,
    /// No answer, or none that can be read.
    Nothing,
}

/// `GET /gateway/bot`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Answer {
    url: Box<str>,
    #[serde(default)]
    shards: u64,
    session_start_limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Limit {
    total: u64,
    remaining: i64,
    /// Milliseconds.
    reset_after: u64,
    #[serde(default)]
    max_concurrency: i64,
}

impl Limit {
    fn at(self, now: Time) -> SessionStartLimit {
        let Self { remaining, reset_after, max_concurrency, .. } = self;
        SessionStartLimit { max_concurrency, remaining, reset_at: now + Span::from_millis(reset_after) }
    }
}

impl Discovery {
    pub(super) fn due(&self) -> Option<Time> {
        self.again.filter(|_| !self.asking)
    }
}

impl Tidings {
    fn of(status: StatusCode, body: &[u8]) -> Self {
        match status {
            StatusCode::OK => serde_json::from_slice(body).map_or(Self::Nothing, Self::Good),
            StatusCode::UNAUTHORIZED => Self::Unauthorized,
            _ => Self::Nothing,
        }
    }
}

impl Turn<'_> {
    /// A session start is about to be asked for.
    pub(super) fn discover_if_old(&mut self) {
        if self.state.discovery.known.is_none_or(|known| known + OLD_AFTER <= self.now)
            && self.state.discovery.again.is_none_or(|again| again <= self.now)
        {
            self.discover();
        }
    }

    /// Somebody waits for the budget, which may come back sooner than was told.
    pub(super) fn discover_later(&mut self) {
        let again = self.now + OLD_AFTER;
        self.state.discovery.again.get_or_insert(again);
    }

    pub(super) fn discover_if_due(&mut self) {
        if self.state.discovery_due().is_some_and(|due| due <= self.now) {
            self.discover();
        }
    }

    fn discover(&mut self) {
        let Some(Caller { discover, runtime, identity }) = self.state.caller.clone() else { return };
        if std::mem::replace(&mut self.state.discovery.asking, true) {
            return;
        }
        self.state.discovery.again = None;
        let fleet = Arc::clone(self.fleet);
        runtime.spawn(async move {
            let (status, body) = discover.gateway_bot(fleet.token.clone(), identity.authorization).await;
            fleet.learn(Tidings::of(status, &body));
        });
    }

    pub(super) fn learn(&mut self, tidings: Tidings) {
        self.state.discovery.asking = false;
        match tidings {
            Tidings::Good(answer) => {
                self.state.discovery.known = Some(self.now);
                self.state.discovery.failures = 0;
                self.begin(answer);
                self.run();
                if self.anybody_waits_for_the_budget() {
                    self.discover_later();
                }
            }
            Tidings::Unauthorized if self.state.gate.is_some() => {
                self.tell(bot::Input::Unauthorized);
                self.turn_outside_away();
            }
            Tidings::Unauthorized => {
                self.turn_outside_away();
                for key in self.keys() {
                    self.session(key, Input::Stopped(StopReason::Fatal(Fatal::AuthenticationFailed)));
                    // A token that never worked leaves nothing behind.
                    self.forget(key);
                }
            }
            Tidings::Nothing => {
                let failures = self.state.discovery.failures;
                let wait = RETRY_MAX.min(RETRY_MIN.times(1 << failures.min(10)));
                self.state.discovery.failures = failures.saturating_add(1);
                self.state.discovery.again = Some(self.now + wait);
                let seconds = wait.as_secs_ceil();
                tracing::warn!(bot = %self.fleet.token, seconds, "Discord does not say where its Gateway is");
            }
        }
    }

    fn begin(&mut self, answer: Answer) {
        let limit = answer.session_start_limit;
        let (total, shards) = (limit.total, answer.shards);
        if self.state.gate.is_some() {
            let refresh =
                identify_queue::Input::Refresh { limit: limit.at(self.now), total: Some(total), shards: Some(shards) };
            return self.tell(bot::Input::IdentifyQueue(refresh));
        }
        let settings = &self.fleet.depot.settings;
        let identify_queue = identify_queue::Settings { total, shards, ..settings.identify_queue.clone() };
        let settings = bot::Settings {
            shard: settings.shard.clone(),
            send_queue: send_queue::Settings {
                period: settings.send_queue.period + PERIOD_MARGIN,
                ..settings.send_queue.clone()
            },
            identify_queue,
            shards_max: settings.shards_max,
        };
        self.state.recorder = self.record(&settings, limit.at(self.now));
        let kept = self.state.starts.kept(self.now);
        self.state.main = answer.url;
        self.state.gate = Some(Gate::new(settings, limit.at(self.now), kept));
        for key in self.keys() {
            self.open_gate(key);
        }
        self.ask_for_all();
    }

    /// Nobody can ask Discord: what it usually allows.
    pub(super) fn begin_alone(&mut self) {
        let session_start_limit = Limit { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 };
        self.begin(Answer { url: Box::default(), shards: 1, session_start_limit });
    }

    /// A trace of this bot's gates, where the configuration asks for one.
    fn record(&self, settings: &bot::Settings, limit: SessionStartLimit) -> Option<Recorder> {
        let folder = self.fleet.depot.settings.record.as_deref()?;
        let token = &self.fleet.token;
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let name = format!("discord-{}-{:08x}-{since_1970}", token.id(), token.hash() >> 32);
        match Recorder::begin(folder, &name, settings, limit) {
            Ok(recorder) => Some(recorder),
            Err(error) => {
                tracing::error!(%error, folder = %folder.display(), "nothing is recorded (record.dir)");
                None
            }
        }
    }

    fn anybody_waits_for_the_budget(&self) -> bool {
        let Some(gate) = &self.state.gate else { return false };
        let waits = |key| gate.shard(key).map(tidegate_core::shard::Shard::status);
        self.state.seats.keys().any(|key| matches!(waits(*key), Some(Status::Waiting { why: Why::Budget, .. })))
    }

    fn keys(&self) -> Vec<ShardKey> {
        self.state.seats.keys().copied().collect()
    }
}

impl Fleet {
    fn learn(self: &Arc<Self>, tidings: Tidings) {
        self.turn(|turn| turn.learn(tidings));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &'static str) -> Tidings {
        let status = StatusCode::from_u16(status).unwrap();
        Tidings::of(status, body.as_bytes())
    }

    #[test]
    fn answers_are_told_apart() {
        let good = r#"{"url":"wss://g","shards":2,
            "session_start_limit":{"total":1000,"remaining":5,"reset_after":1000,"max_concurrency":16}}"#;
        let Tidings::Good(answer) = of(200, good) else { panic!() };
        assert_eq!((&*answer.url, answer.shards), ("wss://g", 2));
        let limit = answer.session_start_limit.at(Time::from_millis(500));
        assert_eq!((limit.max_concurrency, limit.remaining, limit.reset_at), (16, 5, Time::from_millis(1500)));
        assert_eq!(of(200, "{}"), Tidings::Nothing);
        assert_eq!(of(401, ""), Tidings::Unauthorized);
        assert_eq!(of(503, good), Tidings::Nothing);
    }
}
