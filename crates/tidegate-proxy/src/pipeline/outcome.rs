//! What tidegate says of a call beside its answer.

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use tidegate_core::Span;
use tidegate_core::governor::Outcome;

const OUTCOME: HeaderName = HeaderName::from_static("x-tidegate-outcome");
const HELD_MS: HeaderName = HeaderName::from_static("x-tidegate-held-ms");
pub(super) const GATE: HeaderName = HeaderName::from_static("x-tidegate-gate");

/// How a call left the governor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag {
    pub(super) outcome: &'static str,
    pub(super) held: Span,
}

impl Tag {
    pub(super) const ADMITTED: Self = Self { outcome: "admitted", held: Span::ZERO };
    pub(super) const REFUSED: Self = Self { outcome: "refused", held: Span::ZERO };

    pub(super) fn sent(outcome: Outcome, held: Span) -> Self {
        let outcome = match outcome {
            Outcome::Admitted => "admitted",
            Outcome::Held => "held",
            Outcome::Passed => "passed",
            Outcome::FailedOpen => "failed_open",
            Outcome::Bypass => "bypass",
        };
        Self { outcome, held }
    }

    pub(super) fn with(self, outcome: &'static str) -> Self {
        Self { outcome, ..self }
    }

    pub(super) fn write(self, headers: &mut HeaderMap) {
        outcome(headers, self.outcome);
        let held = match self.held.as_millis_ceil() {
            0 => HeaderValue::from_static("0"),
            millis => HeaderValue::from(millis),
        };
        headers.insert(HELD_MS, held);
    }
}

/// Names an outcome.
pub fn outcome(headers: &mut HeaderMap, outcome: &'static str) {
    headers.insert(OUTCOME, HeaderValue::from_static(outcome));
}
