//! A naive judge of the governor: it keeps every write that ever was, looks through all of them at every step, and
//! compares what the governor did with the sentences of its specification. It shares nothing with the engine but the
//! words of its inputs and outputs.

mod balance;
mod edits;
mod limits;
mod line;
mod ready;
mod tokens;
mod windows;
mod write;

use std::collections::BTreeMap;

use tidegate_core::governor::{Answer, DropReason, Input, Outcome, Output, RefuseReason, RefusedScope, Scope};
use tidegate_core::{Peer, Span, Time};

pub(crate) use self::limits::{Surface, Table};
pub(crate) use self::write::{End, State, Write};

/// Telegram's margin.
const MARGIN: Span = Span::from_secs(2);

/// Everything that ever happened to one governor.
pub(crate) struct Judge {
    table: Table,
    /// Released writes are answered at once with ok.
    instant: bool,
    writes: BTreeMap<u64, Write>,
    /// When which peer (`None`: all of the bot) began to cool, and until when.
    cooldowns: Vec<(Option<Peer>, Time, Time)>,
    /// Buckets given back: the bucket, its peer, when, and its place among all that happened.
    given_back: Vec<(&'static str, Peer, Time, u64)>,
    steps: u64,
    /// Each peer's latest refusal and the end that it named.
    refusals: BTreeMap<Peer, (Time, Time)>,
    /// A store said of some bucket that it is dry until then.
    deferred_until: Time,
    /// Groups with topics.
    marked: Vec<Peer>,
    /// Refused in this step because of their hold.
    refused_now: Vec<u64>,
    now: Time,
}

impl Judge {
    pub(crate) fn new(table: Table, instant: bool) -> Self {
        Self {
            table,
            instant,
            writes: BTreeMap::new(),
            cooldowns: Vec::new(),
            given_back: Vec::new(),
            steps: 0,
            refusals: BTreeMap::new(),
            deferred_until: Time::ZERO,
            marked: Vec::new(),
            refused_now: Vec::new(),
            now: Time::ZERO,
        }
    }

    /// Nothing that was held until now may have been able to leave earlier.
    pub(crate) fn before(&self, now: Time) {
        let just_before = now.before(Span::from_micros(1));
        if just_before > self.now {
            self.nothing_waits_needlessly(just_before);
        }
    }

    pub(crate) fn input(&mut self, now: Time, input: &Input, method: &'static str) {
        self.now = now;
        self.refused_now.clear();
        match input {
            Input::Write(write) => {
                let mut write = Write::new(self.table, now, write, method);
                let group = limits::is_group(write.peer.as_ref());
                if group && write.surface.marks() && write.thread.is_some() && !self.bot_cools(now) {
                    self.marked.extend(write.peer.clone());
                }
                write.paced = self.paces(&write);
                let before = self.writes.insert(write.ticket, write);
                assert!(before.is_none_or(|old| old.end.is_some()), "the test used a ticket twice");
            }
            Input::Done { ticket, result } => self.answered(ticket.0, *result),
            Input::Refused { ticket, retry_after, scope } => self.refused(ticket.0, *retry_after, *scope),
            Input::Deferred { ticket, until, .. } => self.deferred(ticket.0, *until),
            Input::Cancel { ticket } => self.cancelled(ticket.0),
            Input::Cooldown { scope: Scope::Bot, duration } => self.cool(None, now + *duration),
            Input::Cooldown { scope: Scope::Peer(peer), duration } => self.cool(Some(peer.clone()), now + *duration),
            Input::Tick | Input::QueryPeers | Input::QueryCounters => {}
            other => panic!("the judge knows nothing of {other:?}"),
        }
    }

    pub(crate) fn output(&mut self, output: &Output) {
        match output {
            Output::Send { ticket, outcome, held } => self.sent(ticket.0, *outcome, *held),
            Output::Drop { ticket, reason } => self.dropped(ticket.0, *reason),
            Output::Superseded { ticket, by } => self.superseded(ticket.0, by.0),
            Output::Refuse { ticket, reason, .. } => {
                if *reason == RefuseReason::MaxHold {
                    self.write(ticket.0).booked = true;
                    self.refused_now.push(ticket.0);
                }
                self.end(ticket.0, End::Refused);
            }
            Output::Failed { ticket } => self.end(ticket.0, End::Failed),
            Output::Note(_) => {}
            other => panic!("{other:?} was not asked for"),
        }
    }

    /// All outputs of a step are in.
    pub(crate) fn settled(&self) {
        self.one_held_edit_a_message();
        self.nothing_waits_needlessly(self.now);
        for ticket in &self.refused_now {
            self.could_not_go(&self.writes[ticket]);
        }
    }

    /// Whether nothing is held or in flight.
    pub(crate) fn at_rest(&self) -> bool {
        self.writes.values().all(|write| write.end.is_some())
    }

    /// When each ticket left first, in the order of the tickets.
    pub(crate) fn first_releases(&self) -> Vec<(u64, Time)> {
        self.writes.values().filter_map(|write| Some((write.ticket, write.releases.first()?.at))).collect()
    }

    fn write(&mut self, ticket: u64) -> &mut Write {
        self.writes.get_mut(&ticket).unwrap_or_else(|| panic!("ticket {ticket} was never given in"))
    }

    fn sent(&mut self, ticket: u64, outcome: Outcome, held: Span) {
        let now = self.now;
        let write = self.write(ticket);
        assert!(write.end.is_none(), "{write:?} left after its end");
        assert_eq!(write.state, State::Held, "{write:?} left twice");
        if write.releases.is_empty() {
            assert_eq!(held, now.since(write.arrived), "{write:?} says that it was held for {held:?}");
        }
        self.steps += 1;
        let step = self.steps;
        let paced = self.writes[&ticket].paced && self.paces(&self.writes[&ticket]);
        let write = self.write(ticket);
        write.release(now, step, outcome, paced);
        if outcome == Outcome::Bypass {
            write.uncounted = true;
        }
        self.judge_release(ticket);
        if self.instant {
            self.answered(ticket, Answer::Ok);
        }
    }

    fn judge_release(&self, ticket: u64) {
        let write = &self.writes[&ticket];
        let outcome = write.releases[write.releases.len() - 1].outcome;
        if outcome == Outcome::Bypass {
            assert!(self.bypasses(write), "{write:?} went past all its limits");
        } else {
            self.no_call_while_it_cools(write);
        }
        if matches!(outcome, Outcome::Admitted | Outcome::Held) {
            self.windows_hold(write);
        }
        if outcome != Outcome::Bypass || write.takes_when_unmarked() {
            self.tokens_hold(write);
        }
        if outcome != Outcome::Bypass {
            self.order_is_kept(write);
            self.newest_wins(write);
            self.finals_are_guarded(write);
        }
    }

    /// Only what no row paces goes uncounted.
    fn bypasses(&self, write: &Write) -> bool {
        match (self.table, &write.peer) {
            (Table::Telegram, _) => write.surface == Surface::Free,
            (Table::Forum, Some(Peer::Id(id))) => {
                *id >= 0 || !self.paces(write) || matches!(write.surface, Surface::Free | Surface::Write)
            }
            (Table::Forum, _) => true,
        }
    }

    fn paces(&self, write: &Write) -> bool {
        self.table == Table::Telegram || write.peer.as_ref().is_some_and(|peer| self.marked.contains(peer))
    }

    fn answered(&mut self, ticket: u64, result: Answer) {
        let now = self.now;
        let write = self.write(ticket);
        if write.state != State::InFlight {
            return;
        }
        write.answer(now);
        match result {
            Answer::Ok => {
                write.delivered = Some(now);
                self.end(ticket, End::Delivered);
            }
            Answer::Permanent => self.end(ticket, End::Failed),
            // What comes of it is told by the governor.
            Answer::Transient => write.state = State::Held,
        }
    }

    fn refused(&mut self, ticket: u64, retry_after: Option<Span>, scope: Option<RefusedScope>) {
        let now = self.now;
        let until = now + retry_after.unwrap_or(Span::from_secs(5)) + MARGIN;
        let write = self.write(ticket);
        if write.state != State::InFlight {
            return;
        }
        write.answer(now);
        write.state = State::Held;
        let (peer, whole) = (write.peer.clone(), write.surface.cools_its_peer());
        match (scope, peer) {
            (Some(RefusedScope::Bot), _) => self.cool(None, until),
            (Some(RefusedScope::Peer) | None, Some(peer)) => {
                if whole {
                    self.cool(Some(peer.clone()), until);
                }
                self.escalate(peer, until);
            }
            _ => {}
        }
    }

    /// Three peers refused within ten seconds cool the bot until the earliest end, five seconds at most.
    fn escalate(&mut self, peer: Peer, until: Time) {
        let now = self.now;
        self.refusals.insert(peer, (now, until));
        if self.table == Table::Forum {
            return;
        }
        let recent = self.refusals.values().filter(|(at, until)| now.since(*at) <= Span::from_secs(10) && now < *until);
        let ends: Vec<Time> = recent.map(|(_, until)| *until).collect();
        if let (3.., Some(earliest)) = (ends.len(), ends.iter().min()) {
            self.cool(None, (*earliest).min(now + Span::from_secs(5)));
        }
    }

    fn cool(&mut self, peer: Option<Peer>, until: Time) {
        self.cooldowns.push((peer, self.now, until));
    }

    fn deferred(&mut self, ticket: u64, until: Time) {
        let now = self.now;
        let table = self.table;
        self.steps += 1;
        let step = self.steps;
        let write = self.write(ticket);
        if write.state != State::InFlight {
            return;
        }
        write.take_back();
        write.state = State::Held;
        let charged =
            write.releases.last().is_some_and(|last| matches!(last.outcome, Outcome::Admitted | Outcome::Held));
        let given: Vec<&'static str> =
            limits::tokens(table, write).iter().filter(|_| charged).map(|bucket| bucket.name).collect();
        let peer = write.peer.clone();
        self.deferred_until = self.deferred_until.max(until);
        for name in given {
            self.given_back.extend(peer.clone().map(|peer| (name, peer, now, step)));
        }
    }

    fn cancelled(&mut self, ticket: u64) {
        let write = self.write(ticket);
        match write.state {
            _ if write.end.is_some() => {}
            // Somebody else's text is in it.
            State::Held if write.superseded_another => {}
            State::Held => self.end(ticket, End::Cancelled),
            State::InFlight => {}
        }
    }

    fn dropped(&mut self, ticket: u64, reason: DropReason) {
        let now = self.now;
        let bot_cooled = self.table == Table::Forum && self.cooldowns.iter().any(|(peer, ..)| peer.is_none());
        let write = self.write(ticket);
        if bot_cooled && reason == DropReason::Cooldown && write.arrived == now && write.releases.is_empty() {
            write.maybe_uncounted = true;
        }
        self.end(ticket, End::Dropped);
    }

    fn superseded(&mut self, ticket: u64, by: u64) {
        assert!(by > ticket, "{ticket} was superseded by the older {by}");
        let key = self.writes[&by].edit_key();
        assert_eq!(self.writes[&ticket].edit_key(), key, "{ticket} was superseded by another message's {by}");
        self.write(by).superseded_another = true;
        self.end(ticket, End::Superseded);
    }

    fn end(&mut self, ticket: u64, end: End) {
        let write = self.write(ticket);
        assert!(write.end.is_none(), "{write:?} ended again: {end:?}");
        write.end = Some(end);
    }

    fn bot_cools(&self, now: Time) -> bool {
        self.cooldowns.iter().any(|(peer, from, until)| peer.is_none() && *from <= now && now < *until)
    }

    /// While a peer cools, not one call of a paced row reaches the platform for it.
    fn no_call_while_it_cools(&self, write: &Write) {
        let now = self.now;
        for (peer, from, until) in &self.cooldowns {
            let meant = peer.is_none() || *peer == write.peer;
            assert!(!meant || *from > now || now >= *until, "{write:?} left at {now:?} in a cooldown until {until:?}");
        }
    }
}
