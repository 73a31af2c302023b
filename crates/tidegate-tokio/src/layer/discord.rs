//! Discord's REST API.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderMap, Request, Response, StatusCode};
use serde::de::IgnoredAny;
use tidegate_core::discord::{Headers, Route};
use tidegate_core::governor::{Class, RefusedScope, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Peer, Span};

use super::classify::{Classify, Judge, MaxHold, Verdict};
use super::header;

/// Calls of Discord's REST API: `/api/v10/…`, or the same without version.
///
/// Every response teaches its route's bucket. Two of the proxy's guards are not here, because they concern the address and
/// not one bot: the count of invalid requests, and webhooks that are gone.
#[derive(Debug)]
pub struct Discord {
    policy: Arc<Policy>,
    hold: Option<Span>,
    /// Tokens in paths become part of keys by this hash alone.
    hash: RandomState,
    /// Tells apart edits whose fields cannot be read.
    unread: AtomicU64,
}

impl Discord {
    /// By this policy, the governor's own.
    pub fn new(policy: Arc<Policy>) -> Self {
        Self { policy, hold: None, hash: RandomState::new(), unread: AtomicU64::new(0) }
    }

    /// How long its callers can wait where a row says `max_hold = "auto"`. Without it that is 30 s, and 60 s for edits.
    #[must_use]
    pub fn hold(mut self, hold: Duration) -> Self {
        self.hold = Some(hold.into());
        self
    }

    /// A call by its verb, its path behind the version (`/channels/1/messages`), and its body where that is JSON. For
    /// clients that are no `tower` service.
    pub fn write(&self, verb: &str, path: &str, body: &[u8]) -> Write {
        self.write_to(verb, path, body, None)
    }

    fn write_to(&self, verb: &str, path: &str, body: &[u8], given: Option<Peer>) -> Write {
        let mut route = Route::parse(verb, path, now_unix_ms(), |token| self.hash.hash_one(token));
        #[expect(clippy::zero_sized_map_values, reason = "serde reads an object's keys into a map alone")]
        let names: Option<BTreeMap<String, IgnoredAny>> =
            (verb == "PATCH").then(|| serde_json::from_slice(body).ok()).flatten();
        if let Some(names) = &names {
            route = route.with_fields(names.keys().map(String::as_str));
        }
        let peer = route.peer.or(given);
        let row =
            self.policy.row_of(&Call { method: &route.template, has_chat: peer.is_some(), rich: false, paid: false });
        let write = Write::new(Ticket(0), row, route.method)
            .peer(peer)
            .wider(route.webhook)
            .message(route.message)
            .auto_hold(self.hold);
        match names {
            Some(names) => write.fields(names.keys().map(String::as_str)),
            // What cannot be told covers nothing and is covered by nothing.
            None if self.policy.row(row).merges() => {
                let number = self.unread.fetch_add(1, Ordering::Relaxed);
                let unread = format!("unread {number}");
                write.fields([unread.as_str()])
            }
            None => write,
        }
    }
}

impl<B: AsRef<[u8]> + Clone> Classify<Request<B>> for Discord {
    fn classify(&self, request: &Request<B>) -> Option<Write> {
        let extensions = request.extensions();
        let named = extensions.get::<Peer>().cloned();
        let path = behind_version(request.uri().path());
        let write = self.write_to(request.method().as_str(), path, request.body().as_ref(), named);
        Some(
            write
                .class(extensions.get::<Class>().copied())
                .max_hold(extensions.get::<MaxHold>().map(|hold| Span::from(hold.0))),
        )
    }

    fn again(&self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}

impl<B> Judge<Response<B>> for Discord {
    fn judge(&self, response: &Response<B>) -> Verdict {
        match response.status() {
            StatusCode::TOO_MANY_REQUESTS => {
                let headers = response.headers();
                Verdict::Refused { retry_after: header::retry_after(headers), scope: scope(headers) }
            }
            status if status.is_success() => Verdict::Ok,
            status if status.is_server_error() => Verdict::Transient,
            _ => Verdict::Permanent,
        }
    }

    fn learn(&self, response: &Response<B>) -> Option<Option<Headers>> {
        Some(bucket(response.headers(), &self.hash))
    }
}

/// What a 429 cools.
fn scope(headers: &HeaderMap) -> Option<RefusedScope> {
    match header::text(headers, "x-ratelimit-scope") {
        Some("global") => Some(RefusedScope::Bot),
        _ if headers.contains_key("x-ratelimit-global") => Some(RefusedScope::Bot),
        // Of a token webhook all calls by its id.
        Some("shared") => Some(RefusedScope::Wider),
        Some(_) => Some(RefusedScope::PeerMethod),
        // Not Discord answers but what stands before it: the address is banned.
        None if header::text(headers, "content-type").is_none_or(|kind| !kind.contains("json")) => {
            Some(RefusedScope::Bot)
        }
        None => None,
    }
}

/// What a response tells of its bucket. The absolute `X-RateLimit-Reset` is by another machine's clock and is not read.
fn bucket(headers: &HeaderMap, hash: &RandomState) -> Option<Headers> {
    let number = |name| header::text(headers, name)?.parse().ok();
    Some(Headers {
        hash: hash.hash_one(header::text(headers, "x-ratelimit-bucket")?),
        limit: number("x-ratelimit-limit")?,
        remaining: number("x-ratelimit-remaining")?,
        reset_after: header::seconds(headers, "x-ratelimit-reset-after")?,
    })
}

/// `/api/v10/channels/1` without `/api` and the version.
fn behind_version(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("/api").filter(|rest| rest.starts_with('/')) else { return path };
    let Some((version, _)) = rest.strip_prefix("/v").map(|rest| rest.split_once('/').unwrap_or((rest, ""))) else {
        return rest;
    };
    if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit()) {
        return rest;
    }
    &rest["/v".len() + version.len()..]
}

fn now_unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
