//! Waits that a bot had better know of: those that nobody would sit out without a word.

use tidegate_core::shard::{self, Why};
use tidegate_core::{Span, Time};

use super::{Awaits, Bot, Order, Session, Word, left};
use crate::close::Close;

/// A bot that was told and came again is kept waiting quietly for so long.
const TOLD_AGAIN_AFTER: Span = Span::from_secs(300);

/// What the shard waits for, and what its bot was told of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    current: Option<(Time, Why)>,
    told: Option<Time>,
    /// A bot that waits for the budget is told then.
    due: Option<Time>,
}

impl Wait {
    pub(super) fn over(&mut self) {
        self.current = None;
        self.due = None;
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }
}

impl Session {
    pub(super) fn waits(&mut self, now: Time, until: Time, why: Why) {
        if let (Some(fatal), Some(_)) = (self.refused, self.bot) {
            // The same IDENTIFY as before: its answer is known, and is not asked for sooner than that.
            self.dismiss(&Close::fatal(fatal, left(now, until)));
            self.on = false;
            self.orders.push_back(Order::Shard(shard::Input::Stop));
            self.rest(now);
            return;
        }
        self.wait.current = Some((until, why));
    }

    /// Tells the bot of a wait that is too long to be quiet.
    pub(super) fn consider_wait(&mut self, now: Time) {
        self.wait.due = None;
        let (Some((until, why)), Some(Bot { number, awaits, since })) = (self.wait.current, self.bot) else { return };
        if until <= now + self.times.quiet_max || awaits == Awaits::Identify {
            return;
        }
        let quiet_until = self.wait.told.map_or(Time::ZERO, |told| told + TOLD_AGAIN_AFTER);
        let due = match why {
            Why::Budget => quiet_until.max(since + self.times.quiet_max),
            Why::Backoff | Why::Cooldown | Why::InvalidSession => quiet_until,
        };
        if now < due {
            // Only a wait for the budget may last a day, which must not be a silent one.
            self.wait.due = (why == Why::Budget).then_some(due);
            return;
        }
        if why == Why::Budget {
            self.tell(number, Word::Invalid);
        }
        self.tell(number, Word::Close(Close::waits(words(why), left(now, until))));
        self.wait.told = Some(now);
        self.detach(now, awaits, None);
    }
}

fn words(why: Why) -> &'static str {
    match why {
        Why::Backoff => "attempts failed",
        Why::Cooldown => "Discord said that too much was sent (4008)",
        Why::InvalidSession => "Discord invalidated the session",
        Why::Budget => "no session start is left",
    }
}
