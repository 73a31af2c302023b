//! The platform in virtual time.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::address::Address;
use super::auth::{self, Caller, Owner};
use super::call::{Answer, Call, Content, Verdict};
use super::gate::{Bucket, BucketKey, Hidden, HiddenWindow, Overall};
use super::gateway;
use super::hooks::{Interaction, Webhook};
use super::journal::{Journal, LogEntry, Misuse, Tally};
use super::limits::{Bounds, Limits};
use super::refusal::{self, Scope};
use super::route::{Kind, Major, Route};
use super::script::{Forced, Script};
use crate::lru::Lru;
use crate::marks::{Flow, beginning, marker};
use crate::scripts::Scripts;
use crate::store::Store;
use crate::time::micros;
use crate::tokens::Tokens;

/// What `GET /gateway` and `GET /gateway/bot` tell.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Where the Gateway is; behind a port its own address takes the place of the default.
    pub url: String,
    /// Shards recommended.
    pub shards: u32,
    /// IDENTIFYs of a day.
    pub total: u32,
    /// Those left.
    pub remaining: u32,
    /// Until they are whole again.
    pub reset_after_ms: u64,
    /// IDENTIFYs of 5 s.
    pub max_concurrency: u32,
}

impl Default for Gateway {
    fn default() -> Self {
        Self {
            url: "wss://gateway.discord.gg".into(),
            shards: 1,
            total: 1000,
            remaining: 1000,
            reset_after_ms: 14_400_000,
            max_concurrency: 1,
        }
    }
}

/// What a [`Model`] is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limits it keeps.
    pub limits: Limits,
    /// How much it remembers.
    pub bounds: Bounds,
    /// Which tokens of bots and users it takes.
    pub tokens: Tokens,
    /// What it tells of the Gateway.
    pub gateway: Gateway,
    /// The Gateway's limits and bounds. Its tokens, start and epoch are those beside it here.
    pub gateway_judge: gateway::Settings,
    /// The answer of routes without a meaning here.
    pub default_answer: Value,
    /// Unix time, in milliseconds, of the model's moment zero: what ids and `X-RateLimit-Reset` count from.
    pub epoch_unix_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            bounds: Bounds::default(),
            tokens: Tokens::default(),
            gateway: Gateway::default(),
            gateway_judge: gateway::Settings::default(),
            default_answer: json!({}),
            epoch_unix_ms: 0,
        }
    }
}

/// What is kept of one channel.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    pub(crate) tally: Tally,
    pub(crate) flow: Flow,
    pub(crate) name: Option<String>,
    pub(crate) topic: Option<String>,
}

/// A Discord REST API that keeps its limits.
///
/// Times are platform time since the model's moment zero; a smaller one than the last is held to the last.
///
/// - [`call`](Self::call): a call came; says the answer and when to send it.
/// - [`script`](Self::script), [`kill_webhook`](Self::kill_webhook), [`link_webhook`](Self::link_webhook): what tests
///   force.
/// - [`stats`](Self::stats), [`log`](Self::log), [`messages`](Self::messages): what tests read.
pub struct Model {
    pub(crate) settings: Settings,
    pub(crate) gateway: gateway::Model,
    pub(crate) callers: Lru<Owner, Overall>,
    pub(crate) addresses: Lru<IpAddr, Address>,
    pub(crate) buckets: Lru<BucketKey, Bucket>,
    pub(crate) hidden: Lru<Hidden, HiddenWindow>,
    pub(crate) channels: Lru<u64, Channel>,
    pub(crate) webhooks: Lru<u64, Webhook>,
    /// By the hash of the token.
    pub(crate) interactions: Lru<u64, Interaction>,
    pub(crate) store: Store<u64>,
    pub(crate) journal: Journal,
    pub(crate) misuse: Misuse,
    pub(crate) scripts: Scripts<Script>,
    pub(crate) now_us: u64,
    /// Moment of the last reset: what the log counts from.
    pub(crate) zero_us: u64,
    pub(crate) ids: u64,
}

/// A call while it is judged, and what the log will say of it.
pub(crate) struct Case<'a> {
    pub(crate) now_us: u64,
    /// When the answer is there.
    pub(crate) told_us: u64,
    pub(crate) call: &'a Call,
    pub(crate) route: Route,
    pub(crate) caller: Caller,
    /// `Authorization` is wrong, or missing where it is needed.
    unauthorized: bool,
    pub(crate) entry: LogEntry,
}

/// Zero of a model that was told none: an id made before any clock would have no moment.
const EPOCH_UNIX_MS: u64 = 1_700_000_000_000;

impl Model {
    /// A platform on which nothing has happened yet.
    pub fn new(mut settings: Settings) -> Self {
        let bounds = settings.bounds;
        if settings.epoch_unix_ms == 0 {
            settings.epoch_unix_ms = EPOCH_UNIX_MS;
        }
        let judge = gateway::Settings {
            tokens: settings.tokens.clone(),
            start: settings.gateway.clone(),
            epoch_unix_ms: settings.epoch_unix_ms,
            ..settings.gateway_judge.clone()
        };
        Self {
            gateway: gateway::Model::new(judge),
            callers: Lru::new(bounds.callers),
            addresses: Lru::new(bounds.addresses),
            buckets: Lru::new(bounds.buckets),
            hidden: Lru::new(bounds.hidden),
            channels: Lru::new(bounds.channels),
            webhooks: Lru::new(bounds.webhooks),
            interactions: Lru::new(bounds.interactions),
            store: Store::new(bounds.store(), 0),
            journal: Journal::new(bounds.log),
            misuse: Misuse::default(),
            scripts: Scripts::new(bounds.scripts),
            now_us: 0,
            zero_us: 0,
            ids: 0,
            settings,
        }
    }

    /// Takes a call that arrives at `now`.
    pub fn call(&mut self, now: Duration, call: &Call) -> Verdict {
        let now_us = self.advance(now);
        let route = Route::of(&call.method, &call.path);
        // The Gateway takes tokens away.
        let caller = Caller::of(call, &self.gateway.settings.tokens);
        let unauthorized = caller.is_none_or(|caller| caller == Caller::Nobody && !auth::is_open(&route));
        let caller = caller.unwrap_or(Caller::Nobody);
        let content = call.text("content").or_else(|| call.body.get("data")?.get("content")?.as_str());
        let entry = LogEntry {
            at_ms: (now_us - self.zero_us) / 1000,
            bot: caller.bot().unwrap_or(0),
            from: call.from.to_string(),
            route: route.name.clone(),
            major: (route.major != Major::None).then(|| route.major.to_string()),
            channel: self.channel_of(&route),
            message_id: route.message,
            marker: content.and_then(marker),
            text: content.map(beginning),
            files: call.files.len(),
            authorized: call.authorization.is_some(),
            ..LogEntry::default()
        };
        if route.has_own_token() && call.authorization.is_some() {
            self.misuse.needless_authorization += 1;
        }
        let told_us = now_us.saturating_add(micros(call.answer_after));
        let mut case = Case { now_us, told_us, call, route, caller, unauthorized, entry };
        let verdict = self.judge(&mut case);
        self.recorded(case, verdict)
    }

    fn judge(&mut self, case: &mut Case<'_>) -> Verdict {
        let address = self.addresses.entry(&case.call.from, Address::default);
        if let Some(blocked) = address.blocked(case.now_us, case.told_us) {
            let limits = &self.settings.limits;
            case.entry.refused(Scope::Ban, blocked.wait_us, blocked.known_us <= case.now_us);
            let told = limits.ban_retry_after.then_some(blocked.wait_us);
            return refusal::blocked(limits.ban_shape, told).into();
        }
        let (bot, route) = (case.entry.bot, &case.route);
        let Some(forced) = self.scripts.take(|script| script.matches(bot, route)) else {
            return self.answer(case).into();
        };
        case.entry.forced = true;
        match forced {
            Forced::TooMany { scope, retry_after } => self.force_limit(case, scope, micros(retry_after).max(1)).into(),
            Forced::Bare { retry_after } => {
                case.entry.refused(Scope::Bare, micros(retry_after), false);
                refusal::bare(micros(retry_after)).into()
            }
            Forced::Blocked { shape, retry_after } => {
                let wait_us = retry_after.map(micros);
                self.force_block(case, wait_us);
                refusal::blocked(shape, wait_us).into()
            }
            Forced::UnknownWebhook => {
                if let Major::Webhook(id) | Major::Token(id, _) = case.route.major {
                    self.kill_webhook(id);
                }
                self.judged(case, |_, _| Answer::error(404, 10015, "Unknown Webhook")).into()
            }
            Forced::Status { status: status @ (502 | 504), .. } => refusal::page(status).into(),
            Forced::Status { status: 401, .. } => unauthorized().into(),
            Forced::Status { status, code, message } => {
                let answer = Answer::error(status, code, &message);
                if status >= 500 { answer.with([refusal::via()]) } else { self.judged(case, |_, _| answer) }.into()
            }
            Forced::DropBeforeAnswer => Verdict { cut: true, ..Answer::page(500, Content::Text, String::new()).into() },
            Forced::LoseAnswer => Verdict { cut: true, ..self.answer(case).into() },
            Forced::Hang(delay) => {
                case.told_us = case.told_us.saturating_add(micros(delay));
                Verdict { delay, ..self.answer(case).into() }
            }
        }
    }

    fn answer(&mut self, case: &mut Case<'_>) -> Answer {
        if case.unauthorized {
            return unauthorized();
        }
        self.judged(case, Self::act)
    }

    /// Asks the limits, then `act`; every governed answer tells its bucket.
    fn judged(&mut self, case: &mut Case<'_>, act: impl FnOnce(&mut Self, &mut Case<'_>) -> Answer) -> Answer {
        match self.admit(case) {
            Ok(passed) => act(self, case).with([refusal::via()]).with(passed.headers),
            Err(refused) => refused,
        }
    }

    fn recorded(&mut self, case: Case<'_>, verdict: Verdict) -> Verdict {
        let mut entry = case.entry;
        entry.status = if verdict.cut { 0 } else { verdict.answer.status };
        if !verdict.cut {
            let counted = [Scope::User, Scope::Global, Scope::Bare];
            let refused = entry.scope.is_some_and(|scope| counted.contains(&scope));
            entry.invalid = matches!(entry.status, 401 | 403) || refused;
        }
        if entry.invalid {
            let address = self.addresses.entry(&case.call.from, Address::default);
            address.count_invalid(case.now_us, &self.settings.limits);
        }
        if let Some(channel) = entry.channel {
            self.channels.entry(&channel, Channel::default).tally.add(&entry);
        }
        self.journal.record(entry);
        verdict
    }

    /// The channel whose messages a call is about.
    fn channel_of(&self, route: &Route) -> Option<u64> {
        match route.major {
            Major::Channel(id) | Major::Interaction(id, _) => Some(id),
            Major::Token(id, token) if route.kind != Kind::DeleteWebhook && route.kind != Kind::ReadWebhook => {
                Some(self.hook_channel(id, token))
            }
            _ => None,
        }
    }

    fn advance(&mut self, now: Duration) -> u64 {
        self.now_us = self.now_us.max(micros(now));
        self.gateway.tick(now);
        self.now_us
    }

    /// Lets time pass without a call.
    pub fn tick(&mut self, now: Duration) {
        self.advance(now);
    }

    pub(crate) fn unix_us(&self, now_us: u64) -> u64 {
        self.settings.epoch_unix_ms.saturating_mul(1000).saturating_add(now_us)
    }

    pub(crate) fn unix_ms(&self, now_us: u64) -> u64 {
        self.unix_us(now_us) / 1000
    }

    /// Forces answers; false if too many scripts wait already.
    pub fn script(&mut self, script: Script) -> bool {
        self.scripts.push(script)
    }

    /// Answers 401 to this token from now on; the bot's connections to the Gateway are closed with 4004.
    pub fn revoke(&mut self, token: &str) {
        self.settings.tokens.revoke(token);
        self.gateway.revoke(token);
    }

    /// The Gateway's half.
    pub fn gateway(&mut self) -> &mut gateway::Model {
        &mut self.gateway
    }
}

fn unauthorized() -> Answer {
    Answer::error(401, 0, "401: Unauthorized").with([refusal::via()])
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "state_tests.rs"]
mod state_tests;
