//! Forced answers: a test says which call is to fail, and how.

use std::time::Duration;

use serde_json::Value;

use super::limits::BanShape;
use super::refusal::Scope;
use super::route::Route;
use crate::scripts::{self, Reader, kind};

/// What happens to a call that a script matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forced {
    /// A 429 of scope user, shared or global that holds: coming back early is refused again.
    TooMany {
        /// Who refuses.
        scope: Scope,
        /// How long, platform time.
        retry_after: Duration,
    },
    /// A 429 in JSON, without `Retry-After` and `X-RateLimit-…`.
    Bare {
        /// What the body tells.
        retry_after: Duration,
    },
    /// What a banned address gets.
    Blocked {
        /// Page, text or JSON.
        shape: BanShape,
        /// With it `Retry-After` is told and the ban is real; without it is this one answer.
        retry_after: Option<Duration>,
    },
    /// The webhook is gone for good: 404 with code 10015.
    UnknownWebhook,
    /// This status; 502 and 504 are a gateway's page.
    Status {
        /// HTTP status.
        status: u16,
        /// Discord's code in the body.
        code: u64,
        /// The text in the body.
        message: String,
    },
    /// The connection is closed after the request was read; the call has no effect.
    DropBeforeAnswer,
    /// The call has its effect, then the connection is closed without an answer.
    LoseAnswer,
    /// The usual answer, this much later (platform time).
    Hang(Duration),
}

/// A rule that forces the answers of some calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// HTTP method, in any case; any if absent.
    pub method: Option<String>,
    /// Template (`/channels/{id}/messages`), with or without the method before it; any if absent.
    pub route: Option<String>,
    /// Id of the channel, guild, webhook or interaction at the top of the path; any if absent.
    pub major: Option<u64>,
    /// Bot id; any if absent.
    pub bot: Option<u64>,
    /// Calls to let through first.
    pub skip: u64,
    /// Calls to force after that.
    pub times: u64,
    /// What happens to them.
    pub forced: Forced,
}

impl Script {
    /// Forces the next answer of any call.
    pub fn next(forced: Forced) -> Self {
        Self { method: None, route: None, major: None, bot: None, skip: 0, times: 1, forced }
    }

    /// Reads one from JSON; the error says what was expected.
    ///
    /// `{"method":"POST","route":"/channels/{id}/messages","major":"5","bot":"7","skip":0,"times":1,"answer":…}` where
    /// `answer` is a kind (`"global"`, `"502"`, …), `{"kind":…}` or `{"status":…}`, with `retry_after` (seconds),
    /// `hang_ms`, `code` or `message` beside it.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let reader = Reader::new(value, &["method", "route", "major", "bot", "skip", "times", "answer"])?;
        Ok(Self {
            method: reader.text("method")?,
            route: reader.text("route")?,
            major: reader.id("major")?,
            bot: reader.id("bot")?,
            skip: reader.number("skip", 0)?,
            times: reader.number("times", 1)?,
            forced: forced(reader.answer()?)?,
        })
    }

    pub(crate) fn matches(&self, bot: u64, route: &Route) -> bool {
        let (verb, template) = route.name.split_once(' ').unwrap_or_default();
        self.bot.is_none_or(|wanted| wanted == bot)
            && self.major.is_none_or(|wanted| route.major.id() == Some(wanted))
            && self.method.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(verb))
            && self.route.as_ref().is_none_or(|wanted| *wanted == route.name || wanted == template)
    }
}

impl scripts::Script for Script {
    type Forced = Forced;

    fn turns(&mut self) -> (&mut u64, &mut u64) {
        (&mut self.skip, &mut self.times)
    }

    fn forced(&self) -> Forced {
        self.forced.clone()
    }
}

fn forced(answer: &Value) -> Result<Forced, String> {
    const KINDS: &str = "429 or user, shared, global, headerless, html, text, cloudflare, unknown_webhook, 401, 403, 404, \
        500, 502, 503 or another status, drop_before_answer, lose_answer, hang_ms";
    let wrong = || format!("the kind of an answer is one of: {KINDS}");
    let kind = kind(answer, &["hang_ms", "drop_before_answer"]).ok_or_else(wrong)?;
    let code = answer.get("code").and_then(Value::as_u64);
    let told = match answer.get("retry_after") {
        None => None,
        Some(value) => {
            let seconds = value.as_f64().filter(|seconds| (0.0..=1e8).contains(seconds));
            Some(Duration::from_secs_f64(seconds.ok_or("\"retry_after\" is a number of seconds")?))
        }
    };
    let retry_after = told.unwrap_or(Duration::from_secs(1));
    let scope = answer.get("scope").and_then(Value::as_str).unwrap_or("user");
    let kind = if kind == "429" { scope.to_owned() } else { kind };
    Ok(match kind.as_str() {
        "user" => Forced::TooMany { scope: Scope::User, retry_after },
        "shared" => Forced::TooMany { scope: Scope::Shared, retry_after },
        "global" => Forced::TooMany { scope: Scope::Global, retry_after },
        "headerless" => Forced::Bare { retry_after },
        "html" => Forced::Blocked { shape: BanShape::Html, retry_after: told },
        "text" => Forced::Blocked { shape: BanShape::Text, retry_after: told },
        "cloudflare" => Forced::Blocked { shape: BanShape::Json, retry_after: told },
        "unknown_webhook" => Forced::UnknownWebhook,
        "404" if code == Some(10015) => Forced::UnknownWebhook,
        "drop_before_answer" => Forced::DropBeforeAnswer,
        "lose_answer" => Forced::LoseAnswer,
        "hang_ms" => {
            let wanted = answer.get("hang_ms").and_then(Value::as_u64);
            Forced::Hang(Duration::from_millis(wanted.ok_or("\"hang_ms\" is how long, in ms")?))
        }
        other => match other.parse() {
            Ok(status @ 200..=599) => {
                let (usual_code, usual) = usual(status);
                let message = answer.get("message").and_then(Value::as_str).unwrap_or(usual).to_owned();
                Forced::Status { status, code: code.unwrap_or(usual_code), message }
            }
            _ => return Err(wrong()),
        },
    })
}

fn usual(status: u16) -> (u64, &'static str) {
    match status {
        400 => (50035, "Invalid Form Body"),
        401 => (0, "401: Unauthorized"),
        403 => (50001, "Missing Access"),
        404 => (10008, "Unknown Message"),
        405 => (0, "405: Method Not Allowed"),
        500 => (0, "500: Internal Server Error"),
        503 => (130_000, "API resource is currently overloaded. Try again a little later."),
        _ => (0, "An error was forced."),
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
