//! Why a governed call has no response.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use tidegate_core::governor::{DropReason, RefuseReason};

/// Why a governed call has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GovernError<E> {
    /// It was not sent: it would wait longer than it may. It says when to come back.
    Refused(Refused),
    /// It was not sent and need not be: a typing indicator or a preview that the next one restates.
    Dropped(DropReason),
    /// It was not sent: a newer edit of the same message says the same and more, and goes in its place.
    Superseded,
    /// It was tried as often as it may be. Where the platform answered, its last answer is the result instead.
    Failed,
    /// The client's own error. The call may or may not have reached the platform; it is not sent again.
    Service(E),
}

/// A call that the governor refused. It was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// When this call would leave, from now and in real time. Its place is kept until then and two seconds more.
    pub retry_after: Duration,
    /// Why.
    pub reason: RefuseReason,
}

impl Refused {
    pub(super) fn new(retry_after: Duration, reason: RefuseReason) -> Self {
        Self { retry_after, reason }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.reason {
            RefuseReason::MaxHold => "it would wait longer than it may",
            RefuseReason::Cooldown => "the platform refuses such calls for longer than it may wait",
            RefuseReason::QueueFull => "too many calls are held",
        };
        write!(f, "refused, retry after {:.3} s: {why}", self.retry_after.as_secs_f64())
    }
}

impl Error for Refused {}

impl<E> fmt::Display for GovernError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Dropped(reason) => write!(f, "dropped unsent: {reason:?}"),
            Self::Superseded => f.write_str("superseded unsent by a newer edit of the same message"),
            Self::Failed => f.write_str("tried as often as it may be"),
            Self::Service(_) => f.write_str("the client failed"),
        }
    }
}

impl<E: Error + 'static> Error for GovernError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Service(error) => Some(error),
            Self::Refused(_) | Self::Dropped(_) | Self::Superseded | Self::Failed => None,
        }
    }
}
