//! What a call asks for: how much it matters and how long it may be held.

use hyper::header::HeaderValue;
use tidegate_core::Span;
use tidegate_core::governor::Class;
use tidegate_core::policy::{Cell, MaxHold, PastHold, Row, RowId};

use super::hold;
use crate::headers::Asked;

/// What decides a call's cell, and its patience.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub(crate) row: RowId,
    pub(crate) class: Option<Class>,
    /// The limit that the client named.
    pub(crate) max_hold: Option<Span>,
    /// What its library can wait.
    pub(crate) library: Library,
}

/// How long calls of a library may be held that do not say it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    /// As configured.
    Holds(Span),
    /// It gives up after so long.
    GivesUp(Span),
}

impl Library {
    /// How long a call may be held before a platform whose slow answers take so long.
    pub(crate) fn hold(self, slow: Span) -> Span {
        match self {
            Self::Holds(span) => span,
            Self::GivesUp(timeout) => hold::within(timeout, slow),
        }
    }
}

impl Asking {
    /// The error says what is wrong with the client's words.
    pub(crate) fn new(row: RowId, library: Library, asked: &Asked) -> Result<Self, &'static str> {
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let class =
            match asked.class.as_ref().map(text) {
                None => None,
                Some(name) => Some(Class::parse(&name).ok_or(
                    "X-Tidegate-Class is one of interactive, final, send, status, intermediary, preview, clock",
                )?),
            };
        let max_hold = match asked.max_hold.as_ref().map(text) {
            None => None,
            Some(span) => Some(
                hold::named(&span).ok_or("X-Tidegate-Max-Hold is a length of time like 5s or 250ms, at most 10min")?,
            ),
        };
        Ok(Self { row, class, max_hold, library })
    }

    pub(crate) fn cell<'a>(&self, row: &'a Row) -> &'a Cell {
        row.cell(self.class.unwrap_or(row.default_class))
    }

    /// How long its client waits at most, before a platform whose slow answers take so long.
    pub(crate) fn patience(&self, row: &Row, slow: Span) -> Span {
        self.max_hold.unwrap_or(match self.cell(row).max_hold {
            MaxHold::For(span) => span,
            MaxHold::Auto | MaxHold::Unlimited => self.library.hold(slow),
        })
    }

    /// The same for a call that is held, where it may be held for long at all. What is dropped past its hold is held no
    /// longer than its library waits, whatever its row says.
    pub(crate) fn hold(&self, row: &Row, slow: Span) -> Option<Span> {
        let cell = self.cell(row);
        match (self.max_hold, cell.max_hold) {
            (Some(own), _) => Some(own),
            (None, MaxHold::Auto) => Some(self.library.hold(slow)),
            (None, MaxHold::For(span)) if cell.past_hold == PastHold::Drop => Some(span.min(self.library.hold(slow))),
            (None, MaxHold::For(span)) => Some(span),
            (None, MaxHold::Unlimited) => None,
        }
    }
}
