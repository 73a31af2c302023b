//! The shard's place in the identify queue, and the grant it may hold.

use super::io::Grant;
use crate::time::{Span, Time};

/// Where the shard stands with the identify queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing asked.
    Out,
    /// In line; `due` once it is the first.
    In { due: Option<Time> },
    /// A grant, and whether an IDENTIFY was written with it.
    Held { grant: Grant, since: Time, written: bool },
}

impl Line {
    /// Whether an IDENTIFY may be written now.
    pub(super) fn good(self, now: Time, hold: Span) -> bool {
        match self {
            Self::Held { since, written, .. } => !written && now < since + hold.max(Span::from_micros(1)),
            Self::Out | Self::In { .. } => false,
        }
    }
}
