//! A world for one governor: clients, a platform that answers, and a clock that jumps to whatever comes next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::governor::{Answer, Class, Governor, Input, Output, RefusedScope, Scope, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MessageKey, MethodKey, Peer, Span, Time};

use crate::reference::{Judge, Table};

/// Something that the world does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Write(Ask),
    Cancel(u64),
    CoolBot(Span),
    CoolPeer(i64, Span),
}

/// One write that a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) peer: Option<i64>,
    pub(crate) thread: Option<i64>,
    pub(crate) message: Option<u64>,
    pub(crate) class: Option<Class>,
    pub(crate) weight: u32,
    pub(crate) max_hold: Option<Span>,
    /// How the platform answers it, try by try; then ok.
    pub(crate) answers: Vec<(Span, Reply)>,
}

/// A platform's answer, or a store's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Ok,
    Transient,
    Permanent,
    Refused(Span),
    RefusedBot(Span),
    Deferred(Span),
}

enum Event {
    Act(u64, Act),
    Reply(u64, Reply),
}

/// The governor, its judge and what is to come.
pub(crate) struct World {
    policy: Arc<Policy>,
    gate: Governor,
    pub(crate) judge: Judge,
    now: Time,
    to_come: BTreeMap<(Time, u64), Event>,
    events: u64,
    asked: BTreeMap<u64, Ask>,
    left: BTreeSet<u64>,
    instant: bool,
}

impl World {
    pub(crate) fn new(table: Table, instant: bool) -> Self {
        let name = match table {
            Table::Telegram => "telegram",
            Table::Forum => "telegram-forum",
        };
        let policy = Arc::new(Policy::load(name, &[]).unwrap());
        Self {
            gate: Governor::new(Arc::clone(&policy), instant),
            policy,
            judge: Judge::new(table, instant),
            now: Time::ZERO,
            to_come: BTreeMap::new(),
            events: 0,
            asked: BTreeMap::new(),
            left: BTreeSet::new(),
            instant,
        }
    }

    /// Plans something; a write's ticket is its place among all that is planned.
    pub(crate) fn plan(&mut self, at: Time, act: Act) -> u64 {
        self.events += 1;
        let number = self.events;
        self.to_come.insert((at, number), Event::Act(number, act));
        number
    }

    /// Goes on until nothing more is to come and the gate waits for nothing.
    pub(crate) fn run(&mut self) {
        let end = self.now + Span::from_secs(24 * 3_600);
        let mut steps = 0;
        while let Some(at) = self.step() {
            steps += 1;
            assert!(at < end && steps < 4_000, "at {at:?} it still waits for {:?}", self.gate.poll_timeout());
        }
    }

    /// Whatever is next; `None` when nothing is.
    fn step(&mut self) -> Option<Time> {
        let event =
            self.to_come.first_key_value().map(|((at, _), event)| (*at, matches!(event, Event::Act(_, Act::Write(_)))));
        let due = self.gate.poll_timeout().map(|(at, _)| at.max(self.now));
        let timeout_first = match (event, due) {
            (None, None) => return None,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some((at, is_write)), Some(due)) => due < at || (due == at && is_write),
        };
        if timeout_first {
            self.tell(due?, Input::Tick, "");
        } else {
            let ((at, _), event) = self.to_come.pop_first()?;
            match event {
                Event::Act(number, act) => self.act(at, number, act),
                Event::Reply(ticket, reply) => self.reply(at, ticket, reply),
            }
        }
        Some(self.now)
    }

    fn act(&mut self, at: Time, number: u64, act: Act) {
        let input = match act {
            Act::Write(ask) => {
                let method = ask.method;
                let write = self.write(number, &ask);
                self.asked.insert(number, ask);
                return self.tell(at, Input::Write(write), method);
            }
            Act::Cancel(ticket) => {
                self.left.insert(ticket);
                Input::Cancel { ticket: Ticket(ticket) }
            }
            Act::CoolBot(duration) => Input::Cooldown { scope: Scope::Bot, duration },
            Act::CoolPeer(peer, duration) => Input::Cooldown { scope: Scope::Peer(Peer::Id(peer)), duration },
        };
        self.tell(at, input, "");
    }

    fn write(&self, ticket: u64, ask: &Ask) -> Write {
        let call = Call { method: ask.method, has_chat: ask.peer.is_some(), rich: false, paid: false };
        Write {
            ticket: Ticket(ticket),
            row: self.policy.row_of(&call),
            method: MethodKey::of(ask.method),
            peer: ask.peer.map(Peer::Id),
            thread: ask.thread,
            message: ask.message.map(MessageKey),
            class: ask.class,
            weight: ask.weight,
            fields: Box::default(),
            max_hold: ask.max_hold,
            auto_hold: None,
            wider: None,
        }
    }

    fn reply(&mut self, at: Time, ticket: u64, reply: Reply) {
        let id = Ticket(ticket);
        // What comes of a refusal whose client has left is nobody's matter: the platform is kind to them.
        let reply = if self.left.contains(&ticket) && reply != Reply::Permanent { Reply::Ok } else { reply };
        let input = match reply {
            Reply::Ok => Input::Done { ticket: id, result: Answer::Ok },
            Reply::Transient => Input::Done { ticket: id, result: Answer::Transient },
            Reply::Permanent => Input::Done { ticket: id, result: Answer::Permanent },
            Reply::Refused(after) => Input::Refused { ticket: id, retry_after: Some(after), scope: None },
            Reply::RefusedBot(after) => {
                Input::Refused { ticket: id, retry_after: Some(after), scope: Some(RefusedScope::Bot) }
            }
            Reply::Deferred(for_) => Input::Deferred { ticket: id, bucket: "bot_second".into(), until: at + for_ },
        };
        self.tell(at, input, "");
    }

    fn tell(&mut self, at: Time, input: Input, method: &'static str) {
        self.judge.before(at);
        self.now = at;
        self.judge.input(at, &input, method);
        self.gate.handle(at, input);
        while let Some(output) = self.gate.poll_output() {
            self.judge.output(&output);
            if let Output::Send { ticket, outcome, .. } = output {
                let bypass = outcome == tidegate_core::governor::Outcome::Bypass;
                self.answer(ticket.0, bypass);
            }
        }
        self.judge.settled();
        self.compare_counters();
    }

    fn answer(&mut self, ticket: u64, bypass: bool) {
        if self.instant {
            return;
        }
        let answers = self.asked.get_mut(&ticket).map(|ask| &mut ask.answers);
        let (delay, reply) = answers
            .filter(|answers| !answers.is_empty())
            .map_or((Span::from_millis(80), Reply::Ok), |answers| answers.remove(0));
        self.events += 1;
        let reply = if bypass { Reply::Ok } else { reply };
        self.to_come.insert((self.now + delay, self.events), Event::Reply(ticket, reply));
    }

    fn compare_counters(&mut self) {
        self.gate.handle(self.now, Input::QueryCounters);
        let mut counts = None;
        while let Some(output) = self.gate.poll_output() {
            match output {
                Output::Counters(list) => counts = Some(list),
                other => panic!("a question was answered by {other:?}"),
            }
        }
        self.judge.counters_match(&counts.expect("an answer"));
    }

    /// How many peers there are after a long silence.
    pub(crate) fn peers_after(&mut self, silence: Span) -> usize {
        let at = self.now + silence;
        self.now = at;
        self.gate.handle(at, Input::Tick);
        self.gate.handle(at, Input::QueryPeers);
        let mut peers = None;
        while let Some(output) = self.gate.poll_output() {
            match output {
                Output::Peers(count) => peers = Some(count),
                Output::Note(_) => {}
                other => panic!("after a long silence: {other:?}"),
            }
        }
        peers.expect("an answer")
    }
}
