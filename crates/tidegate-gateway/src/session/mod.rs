//! One shard's session as bots see it: who is attached, what it is told, and when the session goes on without it.
//!
//! ```text
//!              IDENTIFY                 READY
//!   nobody ───────────────▶ awaits READY ─────▶ follows ──▶ nobody ── detach, logout, place ──▶ off ──▶ forgotten
//!      └── RESUME, or an equal IDENTIFY with a whole ring ──▶ follows │ lost
//!                                                               ▲     ▼
//!                                                               └── op 9
//! ```
//!
//! Pure: it is told what happened and when, and says what to do. It never asks for a session start by itself.

mod io;
mod leave;
mod wait;

#[cfg(test)]
mod explore;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use tidegate_core::discord::Fatal;
use tidegate_core::shard::{self, StopReason};
use tidegate_core::{Span, Time};

pub use self::io::{Input, Order, Tape, Times, Word};
use self::leave::Leave;
use self::wait::Wait;
use super::close::Close;
use super::frame::Identify;
use super::ring::Replay;

/// The bot that has the session.
#[derive(Clone, Copy, Debug)]
struct Bot {
    number: u64,
    awaits: Awaits,
    since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// READY of an IDENTIFY with this digest.
    Ready(u64),
    /// Discord's own RESUMED.
    Resumed,
    /// It follows the ring.
    Nothing,
    /// It was told op 9, and has not answered.
    Identify,
}

/// What a bot wants.
#[derive(Clone, Debug)]
enum Ask {
    Identify(Arc<Identify>),
    Resume { seq: u64 },
}

/// A bot that would take the session from another, once too often.
#[derive(Clone, Debug)]
struct Newcomer {
    number: u64,
    ask: Ask,
    at: Time,
}

/// Discord's session.
#[derive(Clone, Debug)]
struct Held {
    id: Box<str>,
    /// Of the IDENTIFY that made it; none where another process did.
    digest: Option<u64>,
}

/// One shard's session.
#[derive(Debug)]
pub struct Session {
    times: Times,
    bot: Option<Bot>,
    newcomer: Option<Newcomer>,
    takeovers: VecDeque<Time>,
    /// When bots logged out, the last few.
    logouts: VecDeque<Time>,
    /// When newcomers that have to wait may take over: it outlives each of them, for libraries give up sooner.
    admits_at: Option<Time>,
    held: Option<Held>,
    /// What the next IDENTIFY says.
    wanted: Option<Arc<Identify>>,
    /// Of the IDENTIFY that was written last.
    written: Option<u64>,
    /// Whether the shard was told to be connected.
    on: bool,
    leave: Option<(Time, Leave)>,
    wait: Wait,
    /// Why Discord would not take the last IDENTIFY.
    refused: Option<Fatal>,
    orders: VecDeque<Order>,
}

impl Session {
    /// Of a shard that nobody has asked for yet.
    pub fn new(times: Times) -> Self {
        Self {
            times,
            bot: None,
            newcomer: None,
            takeovers: VecDeque::new(),
            logouts: VecDeque::new(),
            admits_at: None,
            held: None,
            wanted: None,
            written: None,
            on: false,
            leave: None,
            wait: Wait::default(),
            refused: None,
            orders: VecDeque::new(),
        }
    }

    /// Something happened. The orders are to be taken to their end then.
    pub fn handle(&mut self, now: Time, input: Input, ring: &impl Tape) {
        match input {
            Input::Identify { bot, identify } => self.arrive(now, bot, Ask::Identify(identify), ring),
            Input::Resume { bot, seq } => self.arrive(now, bot, Ask::Resume { seq }, ring),
            Input::Left { bot, code } => self.left(now, bot, code, ring),
            Input::Going => {
                self.wait.over();
                self.refused = None;
            }
            Input::Waiting { until, why } => self.waits(now, until, why),
            Input::Stopped(reason) => self.stopped(now, reason),
            Input::Ready { session } => self.ready(now, session),
            Input::Resumed => self.resumed(),
            Input::Lost => self.lost(now),
            Input::Tick => {}
        }
        self.pass(now, ring);
    }

    /// The next thing to do.
    pub fn order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// When it has to be told the time.
    pub fn due(&self) -> Option<Time> {
        let leave = self.leave.map(|(at, _)| at);
        let newcomer = self.newcomer.as_ref().map(|newcomer| newcomer.at);
        leave.into_iter().chain(newcomer).chain(self.wait.due()).min()
    }

    /// The session's id, while there is one.
    pub fn id(&self) -> Option<&str> {
        self.held.as_ref().map(|held| &*held.id)
    }

    /// The bot that has it.
    pub fn attached(&self) -> Option<u64> {
        self.bot.map(|bot| bot.number)
    }

    /// A bot that may not take it yet, and when it may.
    pub fn newcomer(&self) -> Option<Time> {
        self.newcomer.as_ref().map(|newcomer| newcomer.at)
    }

    /// All bots that have to do with it.
    pub fn bots(&self) -> impl Iterator<Item = u64> + '_ {
        self.attached().into_iter().chain(self.newcomer.as_ref().map(|newcomer| newcomer.number))
    }

    /// IDENTIFY is to be written: what it says.
    pub fn identify(&mut self) -> Option<Arc<Identify>> {
        self.written = self.wanted.as_ref().map(|identify| identify.digest);
        self.wanted.clone()
    }

    fn arrive(&mut self, now: Time, number: u64, ask: Ask, ring: &impl Tape) {
        if !self.is_possible(&ask, ring) {
            return self.tell(number, Word::Invalid);
        }
        if self.bot.is_none_or(|bot| bot.number == number) || self.may_take_over(now) {
            return self.take_over(now, number, ask, ring);
        }
        let at = *self.admits_at.get_or_insert(now + self.times.takeover_wait);
        if let Some(older) = self.newcomer.replace(Newcomer { number, ask, at }) {
            self.tell(older.number, Word::Close(Close::SUPERSEDED));
        }
    }

    /// Whether there is a session to be resumed from there, for one that resumes.
    fn is_possible(&self, ask: &Ask, ring: &impl Tape) -> bool {
        match ask {
            Ask::Identify(_) => true,
            Ask::Resume { seq } => self.held.is_some() && ring.replay(*seq) != Replay::Above,
        }
    }

    fn take_over(&mut self, now: Time, number: u64, ask: Ask, ring: &impl Tape) {
        if let Some(bot) = self.bot.filter(|bot| bot.number != number) {
            self.takeovers.push_back(now);
            self.tell(bot.number, Word::Close(Close::SUPERSEDED));
        }
        self.attach(now, number, ask, ring);
    }

    fn may_take_over(&mut self, now: Time) -> bool {
        while self.takeovers.front().is_some_and(|at| *at + self.times.takeover_window <= now) {
            self.takeovers.pop_front();
        }
        self.takeovers.len() + 1 < self.times.takeover_most
    }

    fn attach(&mut self, now: Time, number: u64, ask: Ask, ring: &impl Tape) {
        self.leave = None;
        self.admits_at = None;
        let awaits = match ask {
            Ask::Identify(identify) => self.identified(number, identify, ring),
            Ask::Resume { seq } => self.resumes(number, seq, ring),
        };
        self.bot = Some(Bot { number, awaits, since: now });
        self.consider_wait(now);
    }

    fn identified(&mut self, number: u64, identify: Arc<Identify>, ring: &impl Tape) -> Awaits {
        let digest = identify.digest;
        if ring.is_complete() && self.held.as_ref().is_some_and(|held| held.digest == Some(digest)) {
            self.tell(number, Word::Begin);
            self.start();
            return Awaits::Nothing;
        }
        let differs = self.wanted.as_ref().is_none_or(|last| last.digest != digest);
        if differs {
            self.refused = None;
        }
        self.wanted = Some(identify);
        self.on = true;
        self.orders.push_back(Order::Shard(shard::Input::Fresh { differs }));
        Awaits::Ready(digest)
    }

    fn resumes(&mut self, number: u64, seq: u64, ring: &impl Tape) -> Awaits {
        if let Replay::From(from) = ring.replay(seq) {
            self.tell(number, Word::Replay(from));
            self.start();
            return Awaits::Nothing;
        }
        // What it missed is not here any more, but Discord may still have it. No wait of the shard's is cut short for it.
        self.orders.push_back(Order::Reopen { seq });
        self.on = true;
        self.tell(number, Word::Follow);
        Awaits::Resumed
    }

    fn start(&mut self) {
        if !std::mem::replace(&mut self.on, true) {
            self.orders.push_back(Order::Shard(shard::Input::Start));
        }
    }

    fn ready(&mut self, now: Time, id: Box<str>) {
        let digest = self.written;
        self.held = Some(Held { id, digest });
        self.refused = None;
        self.wait.over();
        match &mut self.bot {
            Some(bot) => match bot.awaits {
                Awaits::Ready(wanted) if Some(wanted) == digest => {
                    bot.awaits = Awaits::Nothing;
                    let number = bot.number;
                    self.tell(number, Word::Begin);
                }
                // Its own is yet to come.
                Awaits::Ready(_) | Awaits::Identify => {}
                Awaits::Nothing | Awaits::Resumed => self.invalidate(),
            },
            None => self.leave = Some((now + self.times.detach_timeout, Leave::Detach)),
        }
    }

    fn resumed(&mut self) {
        self.wait.over();
        if let Some(bot) = self.bot.as_mut().filter(|bot| bot.awaits == Awaits::Resumed) {
            bot.awaits = Awaits::Nothing;
            let number = bot.number;
            self.tell(number, Word::Resumed);
        }
    }

    fn lost(&mut self, now: Time) {
        self.held = None;
        self.orders.push_back(Order::Clear);
        match self.bot {
            Some(_) => self.invalidate(),
            None => self.rest(now),
        }
    }

    /// Tells the bot that the session which it follows is gone.
    fn invalidate(&mut self) {
        let Some(bot) = &mut self.bot else { return };
        if let Awaits::Nothing | Awaits::Resumed = bot.awaits {
            bot.awaits = Awaits::Identify;
            let number = bot.number;
            self.tell(number, Word::Invalid);
        }
    }

    fn stopped(&mut self, now: Time, reason: StopReason) {
        let fatal = match reason {
            StopReason::Fatal(fatal) => fatal,
            StopReason::Budget => return self.waits(now, Time::NEVER, shard::Why::Budget),
        };
        self.held = None;
        self.refused = Some(fatal);
        self.on = false;
        self.wait.over();
        self.orders.push_back(Order::Clear);
        self.dismiss(&Close::fatal(fatal, None));
        self.rest(now);
    }

    /// All bots that have to do with it are closed.
    fn dismiss(&mut self, close: &Close) {
        let bots: Vec<u64> = self.bots().collect();
        for bot in bots {
            self.tell(bot, Word::Close(close.clone()));
        }
        self.bot = None;
        self.newcomer = None;
    }

    fn tell(&mut self, bot: u64, word: Word) {
        self.orders.push_back(Order::Tell { bot, word });
    }
}

/// How long until then; nothing where that is not known.
fn left(now: Time, until: Time) -> Option<Span> {
    (until != Time::NEVER).then(|| until.since(now))
}
