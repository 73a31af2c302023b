//! What became of every edit, and what each message must look like in the end.

use std::collections::BTreeMap;

use tidegate_core::governor::{Answer, Outcome, Output};
use tidegate_core::{Span, Time};

use super::message::{Edit, after};

/// A message, by the name that it has in the end.
pub(super) type Named = (String, u64);

/// An upload that takes longer no longer blocks what comes after it.
const LOST: Span = Span::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Held,
    Flying(Time),
    Delivered,
    /// Its answer is that of another.
    Superseded(u64),
    /// Dropped, refused, failed or cancelled.
    Void,
}

#[derive(Clone, Debug)]
struct Asked {
    message: Named,
    edit: Edit,
    fate: Fate,
    /// It was released at least once.
    went: bool,
    left: bool,
    owes: bool,
}

#[derive(Debug, Default)]
pub(super) struct Judge {
    asked: BTreeMap<u64, Asked>,
    /// Edits in the order in which they took effect.
    landed: Vec<u64>,
    /// Messages of which the order cannot be kept: an edit took too long, or no budget was for it.
    excused: Vec<Named>,
}

impl Judge {
    pub(super) fn asks(&mut self, message: Named, edit: Edit) {
        let asked = Asked { message, edit, fate: Fate::Held, went: false, left: false, owes: false };
        self.asked.insert(asked.edit.ticket, asked);
    }

    /// The order of this message cannot be kept.
    pub(super) fn excuse(&mut self, message: Named) {
        self.excused.push(message);
    }

    /// The client of a write left.
    pub(super) fn leaves(&mut self, ticket: u64) {
        let Some(asked) = self.asked.get_mut(&ticket).filter(|asked| !asked.owes) else { return };
        match asked.fate {
            Fate::Held => asked.fate = Fate::Void,
            Fate::Flying(_) => asked.left = true,
            Fate::Delivered | Fate::Superseded(_) | Fate::Void => {}
        }
    }

    /// The platform (or a store) answered; `None`: it is not to count as done.
    pub(super) fn answered(&mut self, now: Time, ticket: u64, result: Option<Answer>) {
        let Some(asked) = self.asked.get_mut(&ticket) else { return };
        let Fate::Flying(since) = asked.fate else { return };
        if now.since(since) >= LOST {
            self.excused.push(asked.message.clone());
        }
        asked.fate = match result {
            Some(Answer::Ok) => Fate::Delivered,
            Some(Answer::Permanent) => Fate::Void,
            Some(Answer::Transient) | None if asked.left => Fate::Void,
            Some(Answer::Transient) | None => Fate::Held,
        };
        if asked.fate == Fate::Delivered {
            self.landed.push(ticket);
        }
    }

    pub(super) fn output(&mut self, now: Time, output: &Output) {
        match output {
            Output::Send { ticket, outcome, .. } => self.sent(now, ticket.0, *outcome),
            Output::Superseded { ticket, by } => {
                self.end(ticket.0, Fate::Superseded(by.0));
                if let Some(by) = self.asked.get_mut(&by.0) {
                    by.owes = true;
                }
            }
            Output::Drop { ticket, .. } | Output::Refuse { ticket, .. } | Output::Failed { ticket } => {
                self.end(ticket.0, Fate::Void);
            }
            Output::Note(_) | Output::Peers(_) | Output::Counters(_) => {}
        }
    }

    fn end(&mut self, ticket: u64, fate: Fate) {
        let Some(asked) = self.asked.get_mut(&ticket) else { return };
        assert!(matches!(asked.fate, Fate::Held), "{asked:?} ended again: {fate:?}");
        asked.fate = fate;
    }

    /// Nothing older goes after, or beside, something that it does not commute with.
    fn sent(&mut self, now: Time, ticket: u64, outcome: Outcome) {
        let Some(asked) = self.asked.get_mut(&ticket) else { return };
        assert_eq!(asked.fate, Fate::Held, "{asked:?} went");
        (asked.fate, asked.went) = (Fate::Flying(now), true);
        let asked = asked.clone();
        if outcome == Outcome::Bypass {
            self.excused.push(asked.message.clone());
        }
        for other in self.asked.values().filter(|other| other.message == asked.message) {
            if let Fate::Flying(since) = other.fate
                && now.since(since) >= LOST
            {
                self.excused.push(asked.message.clone());
            }
        }
        if self.excused.contains(&asked.message) {
            return;
        }
        for other in self.asked.values() {
            let matters = other.message == asked.message
                && other.edit.ticket != ticket
                && other.fate != Fate::Void
                && !other.edit.commutes_with(&asked.edit);
            let newer = other.edit.ticket > ticket && other.went;
            let beside = matches!(other.fate, Fate::Flying(_));
            assert!(!matters || !newer, "{asked:?} went after {other:?}");
            assert!(!matters || !beside, "{asked:?} went beside {other:?}");
        }
    }

    /// All is over: each message looks as if all edits that were not given up had been sent in order. One that was
    /// superseded counts where what took its place was delivered.
    pub(super) fn verdict(&self) {
        for asked in self.asked.values() {
            assert!(!matches!(asked.fate, Fate::Held | Fate::Flying(_)), "{asked:?} never ended");
            let message = &asked.message;
            if self.excused.contains(message) {
                continue;
            }
            let of_message = |asked: &&Asked| asked.message == *message;
            let landed = self.landed.iter().map(|ticket| &self.asked[ticket]).filter(of_message);
            let in_order = self.asked.values().filter(of_message).filter(|asked| self.counts(asked.edit.ticket));
            let (is, right) = (after(landed.map(|asked| &asked.edit)), after(in_order.map(|asked| &asked.edit)));
            assert_eq!(is, right, "{message:?} is not what it should be: {:?}", self.landed);
        }
    }

    fn counts(&self, ticket: u64) -> bool {
        match self.asked[&ticket].fate {
            Fate::Superseded(by) => self.counts(by),
            fate => fate == Fate::Delivered,
        }
    }
}
