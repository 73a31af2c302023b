//! Answers that tidegate gives itself, in Telegram's shape.

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, VIA};
use hyper::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tidegate_core::Span;

use super::reply::Reply;
use crate::pipeline::intake::Wrong;
use crate::pipeline::outcome::outcome;

/// Told where nobody knows better.
const SOON: Span = Span::from_secs(5);

fn whole(status: StatusCode, body: &Value) -> Reply {
    let mut headers = HeaderMap::with_capacity(8);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(VIA, HeaderValue::from_static("1.1 tidegate"));
    Reply { status, headers, body: Bytes::from(body.to_string()) }
}

/// An error that nobody can wait out.
pub(crate) fn error(status: StatusCode, description: &str) -> Reply {
    whole(status, &json!({"ok": false, "error_code": status.as_u16(), "description": description}))
}

/// A request that is wrong in itself.
pub(crate) fn bad(reason: &str) -> Reply {
    error(StatusCode::BAD_REQUEST, &format!("Bad Request: {reason}"))
}

/// What is wrong with a request before it is decided.
pub(crate) fn wrong(wrong: Wrong) -> Box<Reply> {
    Box::new(match wrong {
        Wrong::Request(StatusCode::BAD_REQUEST, reason) => bad(reason),
        Wrong::Request(status, reason) => error(status, reason),
        Wrong::NoRoom => busy(),
    })
}

/// Come back later: whole seconds, at least one, rounded up.
pub(crate) fn refusal(retry_after: Span) -> Reply {
    let secs = retry_after.as_secs_ceil().max(1);
    let description = format!("Too Many Requests: retry after {secs}");
    let body = json!({"ok": false, "error_code": 429, "description": description, "parameters": {"retry_after": secs}});
    let mut reply = whole(StatusCode::TOO_MANY_REQUESTS, &body);
    reply.headers.insert(RETRY_AFTER, HeaderValue::from(secs));
    outcome(&mut reply.headers, "refused");
    reply
}

/// Come back soon.
pub(crate) fn busy() -> Reply {
    refusal(SOON)
}

/// The platform cannot be reached, or did not say what became of the call.
pub(crate) fn unavailable(description: &str, unknown: bool) -> Reply {
    let description = format!("Service Unavailable: {description}");
    let mut reply = error(StatusCode::SERVICE_UNAVAILABLE, &description);
    reply.headers.insert(RETRY_AFTER, HeaderValue::from(SOON.as_secs_ceil()));
    outcome(&mut reply.headers, if unknown { "unknown" } else { "refused" });
    reply
}

/// What Telegram says of a token that it does not take.
pub(crate) fn unauthorized() -> Reply {
    let mut reply = error(StatusCode::UNAUTHORIZED, "Unauthorized");
    outcome(&mut reply.headers, "refused");
    reply
}

/// Success, with that result (JSON as written).
pub(crate) fn success(result: &str) -> Reply {
    let mut reply = whole(StatusCode::OK, &Value::Null);
    reply.body = Bytes::from(format!("{{\"ok\":true,\"result\":{result}}}"));
    reply
}
