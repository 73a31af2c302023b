//! What a call asks for: how much it matters and how long it may be held.

use hyper::header::HeaderValue;
use tidegate_core::Span;
use tidegate_core::governor::Class;
use tidegate_core::policy::{Cell, MaxHold, Row, RowId};

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
    pub(crate) auto_hold: Span,
}

impl Asking {
    /// The error says what is wrong with the client's words.
    pub(crate) fn new(row: RowId, auto_hold: Span, asked: &Asked) -> Result<Self, &'static str> {
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
        Ok(Self { row, class, max_hold, auto_hold })
    }

    pub(crate) fn cell<'a>(&self, row: &'a Row) -> &'a Cell {
        row.cell(self.class.unwrap_or(row.default_class))
    }

    /// How long its client waits at most.
    pub(crate) fn patience(&self, row: &Row) -> Span {
        self.max_hold.unwrap_or(match self.cell(row).max_hold {
            MaxHold::For(span) => span,
            MaxHold::Auto | MaxHold::Unlimited => self.auto_hold,
        })
    }
}
