//! A ban of the whole address: what Cloudflare answers in Discord's stead.

use crate::time::{Span, Time};

/// The pause where the ban names none, doubled while it lasts.
const FIRST: Span = Span::from_secs(60);
/// The longest of these.
const LONGEST: Span = Span::from_secs(900);

/// Whether the address is banned, and until when nothing at all is sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressBan {
    until: Time,
    strikes: u32,
}

impl AddressBan {
    /// An answer of a ban came: `retry_after` as it named it. Only ever extended.
    pub fn struck(&mut self, now: Time, retry_after: Option<Span>) {
        if now < self.until {
            // Answers to what was on its way when the ban began.
            self.until = self.until.max(now + retry_after.unwrap_or(Span::ZERO));
            return;
        }
        let doubled = FIRST.times(1 << self.strikes.min(8)).min(LONGEST);
        self.strikes += 1;
        self.until = now + retry_after.unwrap_or(doubled).max(Span::from_secs(1));
    }

    /// Discord itself answered.
    pub fn lifted(&mut self, now: Time) {
        if now >= self.until {
            self.strikes = 0;
        }
    }

    /// How much longer nothing may be sent, where it is banned.
    pub fn left(&self, now: Time) -> Option<Span> {
        (now < self.until).then(|| self.until.since(now))
    }
}
