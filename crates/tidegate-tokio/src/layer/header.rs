//! Numbers in headers.

use http::HeaderMap;
use http::header::RETRY_AFTER;
use tidegate_core::Span;

/// A longer wait is no wait: a date or a mistake.
const LONGEST_SECS: f64 = 604_800.0;

/// `Retry-After`, where it is a number of seconds. Neither platform sends a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Span> {
    seconds(headers, RETRY_AFTER.as_str()).filter(|span| !span.is_zero())
}

/// A header that is a number of seconds, with or without a fraction; nothing under 0 or over a week.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to a range that fits")]
pub(super) fn seconds(headers: &HeaderMap, name: &str) -> Option<Span> {
    let seconds: f64 = text(headers, name)?.parse().ok()?;
    (0.0..=LONGEST_SECS).contains(&seconds).then(|| Span::from_micros((seconds * 1_000_000.0) as u64))
}

/// A header as text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}
