//! What becomes of a session whose bot is gone, and of bots that wait for one.

use tidegate_core::shard;
use tidegate_core::{Span, Time};

use super::{Ask, Awaits, Bot, Newcomer, Order, Session, Tape, Word};

/// A bot that closes with these ends its session.
const LOG_OUT: [u16; 2] = [1000, 1001];
/// A session that nobody wanted for so long is forgotten. Discord keeps one for minutes.
const FORGOTTEN_AFTER: Span = Span::from_secs(3_600);

/// Who logs out for the so-manieth time within this is in a loop.
const LOOP: usize = 3;
const LOOP_WINDOW: Span = Span::from_secs(900);

/// What happens to a session without a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// Its place in the line is given up.
    Place,
    /// It is left so that it can be resumed.
    Detach,
    /// It is ended.
    LogOut,
    /// It is dropped.
    Forget,
}

impl Session {
    pub(super) fn left(&mut self, now: Time, number: u64, code: Option<u16>, ring: &impl Tape) {
        self.newcomer = self.newcomer.take().filter(|newcomer| newcomer.number != number);
        let Some(Bot { awaits, .. }) = self.bot.filter(|bot| bot.number == number) else { return };
        self.detach(now, awaits, code);
        if let Some(Newcomer { number, ask, .. }) = self.newcomer.take() {
            self.admit(now, number, ask, ring);
        }
    }

    /// The newcomer has waited long enough.
    fn admit(&mut self, now: Time, number: u64, ask: Ask, ring: &impl Tape) {
        if self.is_possible(&ask, ring) {
            self.take_over(now, number, ask, ring);
        } else {
            self.tell(number, Word::Invalid);
        }
    }

    /// The bot is gone.
    pub(super) fn detach(&mut self, now: Time, awaits: Awaits, code: Option<u16>) {
        self.bot = None;
        self.leave = Some(match awaits {
            // Libraries close with 1000 when READY is late, and come again.
            Awaits::Ready(_) if self.held.is_none() => (now + self.times.place_hold, Leave::Place),
            Awaits::Identify => (now + self.times.place_hold, Leave::Place),
            Awaits::Nothing if code.is_some_and(|code| LOG_OUT.contains(&code)) => {
                (now + self.times.logout_grace, Leave::LogOut)
            }
            Awaits::Ready(_) | Awaits::Nothing | Awaits::Resumed => (now + self.times.detach_timeout, Leave::Detach),
        });
    }

    /// Nobody has it, and nothing is to be done.
    pub(super) fn rest(&mut self, now: Time) {
        self.leave = Some((now + FORGOTTEN_AFTER, Leave::Forget));
    }

    /// Does what is due.
    pub(super) fn pass(&mut self, now: Time, ring: &impl Tape) {
        if let Some((_, leave)) = self.leave.take_if(|(at, _)| *at <= now) {
            match leave {
                Leave::Place | Leave::Detach => self.turn_off(now, shard::Input::Stop),
                // The session would be the next one's that the loop replaces; kept, it costs nothing, or at least a wait.
                Leave::LogOut if self.logs_out_in_a_loop(now) => self.turn_off(now, shard::Input::Stop),
                Leave::LogOut => {
                    self.held = None;
                    self.orders.push_back(Order::Clear);
                    self.turn_off(now, shard::Input::Logout);
                }
                Leave::Forget => self.orders.push_back(Order::Forget),
            }
        }
        if let Some(Newcomer { number, ask, .. }) = self.newcomer.take_if(|newcomer| newcomer.at <= now) {
            self.admit(now, number, ask, ring);
        }
        self.consider_wait(now);
    }

    fn logs_out_in_a_loop(&mut self, now: Time) -> bool {
        while self.logouts.front().is_some_and(|at| *at + LOOP_WINDOW <= now || self.logouts.len() >= LOOP) {
            self.logouts.pop_front();
        }
        self.logouts.push_back(now);
        self.logouts.len() >= LOOP
    }

    fn turn_off(&mut self, now: Time, how: shard::Input) {
        self.on = false;
        self.wait.over();
        self.orders.push_back(Order::Shard(how));
        self.rest(now);
    }
}
