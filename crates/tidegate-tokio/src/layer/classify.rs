//! What the layer asks of whoever knows a platform.

use std::time::Duration;

use tidegate_core::Span;
use tidegate_core::discord::Headers;
use tidegate_core::governor::{RefusedScope, Write};

/// Says what a request is to the governor.
pub trait Classify<Req> {
    /// The request as a write; its ticket is given by the driver, any number will do. `None`: the request is none of the
    /// governor's business and goes at once.
    fn classify(&self, request: &Req) -> Option<Write>;

    /// The same request, to be sent again after a 429 or a failure that allows it. `None`, as here: it is sent once, and
    /// what the platform answered goes to the caller.
    fn again(&self, _request: &Req) -> Option<Req> {
        None
    }
}

/// Says what a response means to the governor.
pub trait Judge<Res> {
    /// What became of the call.
    fn judge(&self, response: &Res) -> Verdict;

    /// What the response tells of its route's bucket, for policies with learned buckets: `Some(None)` where it tells
    /// nothing. `None`, as here: the platform never tells.
    fn learn(&self, _response: &Res) -> Option<Option<Headers>> {
        None
    }
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The platform took it.
    Ok,
    /// Too much: the platform refused it for now (429). Its scope cools, and the call waits and is sent again where
    /// [`Classify::again`] allows it and its row's hold limit has room.
    Refused {
        /// How long the platform says, in platform time; `None` takes the policy's `default_retry`.
        retry_after: Option<Span>,
        /// What cools; `None` lets the row decide.
        scope: Option<RefusedScope>,
    },
    /// It failed in a way that may pass (a 5xx). A row whose writes merge has attempts left for it; any other write is
    /// not repeated, as the platform may have taken it.
    Transient,
    /// The platform will never take it.
    Permanent,
}

/// A request's extension: how long this call may be held, in platform time, whatever its row says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxHold(pub Duration);
