//! Answers that tidegate gives itself, in a shape that every library of Discord's takes rightly.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VIA};
use hyper::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tidegate_core::Span;

use crate::pipeline::intake::Wrong;
use crate::pipeline::outcome::outcome;
use crate::reply::Reply;

pub(super) const BUCKET: HeaderName = HeaderName::from_static("x-ratelimit-bucket");
pub(super) const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
pub(super) const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
pub(super) const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
pub(super) const RESET_AFTER: HeaderName = HeaderName::from_static("x-ratelimit-reset-after");
pub(super) const SCOPE: HeaderName = HeaderName::from_static("x-ratelimit-scope");
pub(super) const GLOBAL: HeaderName = HeaderName::from_static("x-ratelimit-global");

/// Told where nobody knows better.
pub(super) const SOON: Span = Span::from_secs(5);

fn whole(status: StatusCode, body: &Value) -> Reply {
    let mut headers = HeaderMap::with_capacity(12);
    // Nothing behind the type: five libraries compare the whole value.
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // A 429 without it is taken for a ban of the address by discord.py and its kin.
    headers.insert(VIA, HeaderValue::from_static("1.1 tidegate"));
    Reply { status, headers, body: Bytes::from(body.to_string()) }
}

/// An error that nobody can wait out.
pub fn error(status: StatusCode, code: u32, message: &str) -> Reply {
    let mut reply = whole(status, &json!({"message": message, "code": code}));
    outcome(&mut reply.headers, "refused");
    reply
}

/// What is wrong with a request before it is decided.
pub(super) fn wrong(wrong: Wrong) -> Box<Reply> {
    Box::new(match wrong {
        Wrong::Request(status, reason) => error(status, 0, &format!("{}: {reason}", status.as_u16())),
        Wrong::NoRoom => busy(),
    })
}

/// Whole seconds and milliseconds, rounded up: who comes back then comes in time.
fn told(span: Span) -> (u64, f64) {
    let ms = span.as_millis_ceil().max(1);
    #[expect(clippy::cast_precision_loss, reason = "waits are far shorter than that")]
    let seconds = ms as f64 / 1000.0;
    (ms.div_ceil(1000), seconds)
}

/// Come back later. `bucket` is the route's as Discord last named it; `now_unix_ms` the time of day.
pub(super) fn refusal(wait: Span, bucket: HeaderValue, now_unix_ms: u64) -> Reply {
    let (whole_seconds, seconds) = told(wait);
    let message = "You are being rate limited.";
    let body = json!({"message": message, "retry_after": seconds, "global": false, "code": 0});
    let mut reply = whole(StatusCode::TOO_MANY_REQUESTS, &body);
    let (_, reset) = told(Span::from_millis(now_unix_ms) + wait);
    let headers = &mut reply.headers;
    headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds));
    // Never `global`: hikari and twilight answer that with a storm. hikari waits Reset-After ÷ Limit, so the limit is 1;
    // eris and oceanic.js believe Reset-After before Retry-After.
    headers.insert(SCOPE, HeaderValue::from_static("user"));
    headers.insert(BUCKET, bucket);
    headers.insert(LIMIT, HeaderValue::from_static("1"));
    headers.insert(REMAINING, HeaderValue::from_static("0"));
    for (name, value) in [(RESET_AFTER, seconds), (RESET, reset)] {
        if let Ok(value) = HeaderValue::try_from(format!("{value:.3}")) {
            headers.insert(name, value);
        }
    }
    outcome(headers, "refused");
    reply
}

/// Come back later, where no route is known.
pub fn refused(wait: Span) -> Reply {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    refusal(wait, HeaderValue::from_static("tidegate"), u64::try_from(now.as_millis()).unwrap_or(0))
}

/// Come back soon.
pub fn busy() -> Reply {
    refused(SOON)
}

/// The platform cannot be reached, or did not say what became of the call.
pub fn unavailable(message: &str, unknown: bool) -> Reply {
    let mut reply = error(StatusCode::SERVICE_UNAVAILABLE, 0, &format!("503: {message}"));
    reply.headers.insert(RETRY_AFTER, HeaderValue::from(SOON.as_secs_ceil()));
    outcome(&mut reply.headers, if unknown { "unknown" } else { "refused" });
    reply
}

/// What Discord says of a token that it does not take.
pub fn unauthorized() -> Reply {
    error(StatusCode::UNAUTHORIZED, 0, "401: Unauthorized")
}

/// What Discord says of a webhook that is gone.
pub(super) fn unknown_webhook() -> Reply {
    error(StatusCode::NOT_FOUND, 10015, "Unknown Webhook")
}

/// Done, and nothing to say.
pub fn no_content() -> Reply {
    let mut reply = whole(StatusCode::NO_CONTENT, &Value::Null);
    reply.headers.remove(CONTENT_TYPE);
    reply.body = Bytes::new();
    reply
}

/// A message, or what else is written in JSON.
pub fn success(body: Bytes) -> Reply {
    let mut reply = whole(StatusCode::OK, &Value::Null);
    reply.body = body;
    reply
}
