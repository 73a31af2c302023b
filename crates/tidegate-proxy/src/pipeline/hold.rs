//! How long a call may be held: 80 % of what its client library waits for an answer by default.

use tidegate_core::Span;
use tidegate_core::policy::parse_span;

/// The longest that a client may ask for.
const LONGEST: Span = Span::from_secs(600);
/// For libraries that nobody knows.
pub(crate) const UNKNOWN: Span = Span::from_secs(4);

/// For a library that gives up after so many seconds.
pub(crate) fn share(fails_at: u64) -> Span {
    Span::from_millis(fails_at * 800)
}

/// What `X-Tidegate-Max-Hold` says; `None` where it says nothing that makes sense.
pub(crate) fn named(written: &str) -> Option<Span> {
    parse_span(written).ok().filter(|span| *span <= LONGEST)
}
