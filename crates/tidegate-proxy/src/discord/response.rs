//! What Discord says in its answers.

use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tidegate_core::Span;
use tidegate_core::discord::Headers;

use super::answer::{GLOBAL, SCOPE};
use crate::reply::{Reply, seconds};
use tidegate_net::keyed;

/// The longest window that an answer may tell of.
const LONGEST_WINDOW: Span = Span::from_secs(86_400);

/// The body of an error.
#[derive(Debug, Default, Deserialize)]
struct Body<'a> {
    #[serde(borrow, default)]
    retry_after: Option<&'a RawValue>,
    #[serde(borrow, default)]
    code: Option<&'a RawValue>,
    #[serde(default)]
    global: bool,
}

/// Whose limit a 429 is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The caller's own for this route, or a part of it that no header shows.
    User,
    /// One that it shares with others; not held against it.
    Shared,
    /// The bot's over all routes.
    Global,
    /// It does not say.
    Unnamed,
    /// It is not Discord that answers but what stands before it: the address is banned.
    Ban,
}

/// What a refusal says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) scope: Scope,
    /// Where it names a time that makes sense.
    pub(super) retry_after: Option<Span>,
}

/// Reads a 429 (and a 403 that is a ban); `None` for any other answer.
pub(super) fn refusal(reply: &Reply) -> Option<Refusal> {
    let limited = reply.status == StatusCode::TOO_MANY_REQUESTS;
    if !limited && reply.status != StatusCode::FORBIDDEN {
        return None;
    }
    let header = text(&reply.headers, &RETRY_AFTER).and_then(seconds);
    if reply.body.starts_with(b"error code: 1015") {
        return Some(Refusal { scope: Scope::Ban, retry_after: header });
    }
    if !limited {
        return None;
    }
    let body = serde_json::from_slice::<Body<'_>>(&reply.body).ok();
    let named = text(&reply.headers, &SCOPE);
    let in_body = body.as_ref().and_then(|body| body.retry_after.map(RawValue::get));
    let scope = match named {
        Some("shared") => Scope::Shared,
        Some("global") => Scope::Global,
        _ if reply.headers.contains_key(GLOBAL) || body.as_ref().is_some_and(|body| body.global) => Scope::Global,
        Some(_) => Scope::User,
        None if in_body.is_some() => Scope::Unnamed,
        None => Scope::Ban,
    };
    Some(Refusal { scope, retry_after: agreed(header, in_body.and_then(seconds)) })
}

/// The body's figure is the finer one. Where the two speak of different times the header, which always counts in seconds,
/// is right.
fn agreed(header: Option<Span>, body: Option<Span>) -> Option<Span> {
    let second = Span::from_secs(1);
    match (header, body) {
        (Some(header), Some(body)) if body > header || body + second < header => Some(header),
        (header, body) => body.or(header),
    }
}

/// What an answer tells of its bucket, whatever its status. The absolute `X-RateLimit-Reset` is by another machine's clock.
pub(super) fn bucket(headers: &HeaderMap) -> Option<Headers> {
    let (mut hash, mut limit, mut remaining, mut reset_after) = (None, None, None, None);
    // One walk takes less than to look for each.
    for (name, value) in headers {
        match name.as_str().strip_prefix("x-ratelimit-") {
            Some("bucket") => hash = hash.or(Some(value)),
            Some("limit") => limit = limit.or(Some(value)),
            Some("remaining") => remaining = remaining.or(Some(value)),
            Some("reset-after") => reset_after = reset_after.or(Some(value)),
            _ => {}
        }
    }
    let number = |value: &HeaderValue| value.to_str().ok()?.trim().parse::<u32>().ok();
    let written = reset_after?.to_str().ok()?;
    let reset_after = match seconds(written) {
        Some(span) => span,
        // None at all is a length too.
        None => Some(Span::ZERO).filter(|_| written.trim().parse::<f64>().is_ok_and(|zero| zero == 0.0))?,
    };
    if reset_after > LONGEST_WINDOW {
        return None;
    }
    let (limit, remaining) = (number(limit?)?, number(remaining?)?);
    Some(Headers { hash: keyed(hash?.as_bytes()), limit, remaining, reset_after })
}

/// Whether a 404 says that the webhook is gone, not what was looked for in it.
pub(super) fn is_dead_webhook(reply: &Reply) -> bool {
    reply.status == StatusCode::NOT_FOUND
        && serde_json::from_slice::<Body<'_>>(&reply.body)
            .is_ok_and(|body| body.code.is_some_and(|code| code.get() == "10015"))
}

fn text<'a>(headers: &'a HeaderMap, name: &hyper::header::HeaderName) -> Option<&'a str> {
    headers.get(name).map(HeaderValue::to_str)?.ok()
}
