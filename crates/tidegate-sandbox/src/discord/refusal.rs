//! The many shapes of a 429.

use serde::Serialize;
use serde_json::json;

use super::call::{Answer, Content};
use super::limits::BanShape;
use super::rules::Rule;
use super::window::Standing;

/// Who refused, as `X-RateLimit-Scope` has it or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The caller's own bucket, or a sub-limit of it that no header shows.
    User,
    /// A limit that the caller shares with others.
    Shared,
    /// The caller's limit over all routes.
    Global,
    /// A 429 without any header.
    Bare,
    /// A ban of the address, or of one of its routes: not Discord answers but what stands before it.
    Ban,
}

/// Milliseconds, rounded up: who waits as long as told comes in time.
fn up_ms(us: u64) -> u64 {
    us.div_ceil(1000)
}

fn seconds(us: u64) -> String {
    let ms = up_ms(us);
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

fn whole_seconds(us: u64) -> String {
    us.div_ceil(1_000_000).max(1).to_string()
}

/// `Via`: a client tells by it that Discord itself answers.
pub(crate) fn via() -> (&'static str, String) {
    ("Via", "1.1 google".to_owned())
}

/// The headers of a bucket.
pub(crate) fn rate_headers(rule: &Rule, standing: Standing, unix_us: u64) -> Vec<(&'static str, String)> {
    vec![
        ("X-RateLimit-Limit", standing.limit.to_string()),
        ("X-RateLimit-Remaining", standing.remaining.to_string()),
        ("X-RateLimit-Reset", seconds(unix_us.saturating_add(standing.left_us))),
        ("X-RateLimit-Reset-After", seconds(standing.left_us)),
        ("X-RateLimit-Bucket", rule.hash.clone()),
    ]
}

fn body(message: &str, wait_us: u64, global: bool) -> Answer {
    let ms = u32::try_from(up_ms(wait_us)).unwrap_or(u32::MAX);
    let body = json!({"message": message, "retry_after": f64::from(ms) / 1000.0, "global": global});
    Answer::json_status(429, &body)
}

/// A 429 of scope `user` or `shared`. `headers` are the bucket's: of a sub-limit and of scope `shared` they tell of
/// something else, and only `Retry-After` is right.
pub(crate) fn limited(scope: Scope, wait_us: u64, headers: Vec<(&'static str, String)>) -> Answer {
    let (name, message) = match scope {
        Scope::Shared => ("shared", "The resource is being rate limited."),
        _ => ("user", "You are being rate limited."),
    };
    body(message, wait_us, false)
        .with([via(), ("Retry-After", whole_seconds(wait_us)), ("X-RateLimit-Scope", name.to_owned())])
        .with(headers)
}

/// A 429 over all routes: no bucket's headers.
pub(crate) fn global(wait_us: u64) -> Answer {
    body("You are being rate limited.", wait_us, true).with([
        via(),
        ("Retry-After", whole_seconds(wait_us)),
        ("X-RateLimit-Scope", "global".to_owned()),
        ("X-RateLimit-Global", "true".to_owned()),
    ])
}

/// A 429 without any header but `Via`.
pub(crate) fn bare(wait_us: u64) -> Answer {
    body("You are being rate limited.", wait_us, false).with([via()])
}

/// What stands before Discord blocks the address.
pub(crate) fn blocked(shape: BanShape, retry_after_us: Option<u64>) -> Answer {
    let answer = match shape {
        BanShape::Html => Answer::page(429, Content::Html, PAGE),
        BanShape::Text => Answer::page(429, Content::Text, "error code: 1015"),
        BanShape::Json => Answer::json_status(
            429,
            &json!({"code": 0, "message": "You are being blocked from accessing our API temporarily due to exceeding \
                our rate limits frequently."}),
        ),
    };
    answer.with(retry_after_us.map(|us| ("Retry-After", whole_seconds(us))))
}

const PAGE: &str = "<!doctype html><html><head><title>Access denied | discord.com used Cloudflare to restrict access\
    </title></head><body><h1>Error 1015</h1><h2>You are being rate limited</h2></body></html>";

/// A gateway's page, as 502 comes in life.
pub(crate) fn page(status: u16) -> Answer {
    let body = format!(
        "<html><head><title>{status} Bad Gateway</title></head><body><center><h1>{status} Bad Gateway</h1></center>\
         <hr><center>cloudflare</center></body></html>"
    );
    Answer::page(status, Content::Html, body)
}
