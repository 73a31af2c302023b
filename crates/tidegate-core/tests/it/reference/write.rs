//! One write's whole life.

use tidegate_core::governor::{self, Class, Outcome};
use tidegate_core::{MessageKey, Peer, Span, Time};

use super::limits::{Surface, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Held,
    InFlight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Delivered,
    Failed,
    Superseded,
    Dropped,
    Refused,
    Cancelled,
}

/// One time that it left.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) at: Time,
    /// Its place among all that happened.
    pub(crate) step: u64,
    pub(crate) outcome: Outcome,
    pub(crate) answered: Option<Time>,
    /// A store gave its tokens back.
    pub(crate) taken_back: bool,
    /// Whether it took from its peer's buckets.
    pub(crate) paced: bool,
}

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Write {
    pub(crate) ticket: u64,
    pub(crate) surface: Surface,
    pub(crate) method: &'static str,
    pub(crate) class: Class,
    pub(crate) named: bool,
    pub(crate) peer: Option<Peer>,
    pub(crate) thread: Option<i64>,
    pub(crate) message: Option<MessageKey>,
    pub(crate) weight: u32,
    pub(crate) arrived: Time,
    /// How long its client lets it be held, where it says so.
    pub(crate) hold: Option<Span>,
    pub(crate) releases: Vec<Release>,
    pub(crate) state: State,
    pub(crate) end: Option<End>,
    pub(crate) delivered: Option<Time>,
    pub(crate) uncounted: bool,
    /// Dropped on arrival in a cooldown: uncounted where it was the bot's.
    pub(crate) maybe_uncounted: bool,
    pub(crate) superseded_another: bool,
    pub(crate) booked: bool,
    /// Whether its peer was paced when it came.
    pub(crate) paced: bool,
}

impl Write {
    pub(crate) fn new(table: Table, now: Time, write: &governor::Write, method: &'static str) -> Self {
        let surface = Surface::of(table, method, write.peer.is_some());
        Self {
            ticket: write.ticket.0,
            surface,
            method,
            class: write.class.unwrap_or(surface.default_class()),
            named: write.class.is_some(),
            peer: write.peer.clone(),
            thread: write.thread,
            message: write.message,
            weight: write.weight,
            arrived: now,
            hold: write.max_hold,
            releases: Vec::new(),
            state: State::Held,
            end: None,
            delivered: None,
            uncounted: false,
            maybe_uncounted: false,
            superseded_another: false,
            booked: false,
            paced: true,
        }
    }

    pub(crate) fn release(&mut self, at: Time, step: u64, outcome: Outcome, paced: bool) {
        self.state = State::InFlight;
        self.releases.push(Release { at, step, outcome, answered: None, taken_back: false, paced });
    }

    pub(crate) fn answer(&mut self, at: Time) {
        if let Some(last) = self.releases.last_mut() {
            last.answered = Some(at);
        }
    }

    pub(crate) fn take_back(&mut self) {
        if let Some(last) = self.releases.last_mut() {
            last.taken_back = true;
        }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.end.is_none() && self.state == State::Held
    }

    /// In flight for no longer than a slow upload may block its line.
    pub(crate) fn blocks(&self, now: Time) -> bool {
        self.end.is_none()
            && self.state == State::InFlight
            && self.releases.last().is_some_and(|last| now.since(last.at) < Span::from_secs(60))
    }

    /// Edits of one message by one method are generations of one text.
    pub(crate) fn edit_key(&self) -> Option<(Option<Peer>, MessageKey, &'static str)> {
        matches!(self.surface, Surface::Edit | Surface::Draft)
            .then(|| Some((self.peer.clone(), self.message?, self.method)))
            .flatten()
    }

    /// A group's send takes a token of the bot's even where no row paces the group.
    pub(crate) fn takes_when_unmarked(&self) -> bool {
        matches!(self.surface, Surface::ForumSend | Surface::ForumRich)
    }
}
