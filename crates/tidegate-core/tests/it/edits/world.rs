//! Clients that edit messages, a platform that answers as planned, and a clock that jumps to whatever comes next.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::discord::Route;
use tidegate_core::governor::{Answer, Class, Governor, Input, Output, RefusedScope, Scope, Ticket, Write};
use tidegate_core::policy::{Call, Platform, Policy};
use tidegate_core::{Gate, MessageKey, MethodKey, Peer, Span, Time, field};

use super::judge::Judge;
use super::message::Edit;
use crate::world::Reply;

/// What a client asks for.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) method: &'static str,
    /// Telegram's chat; Discord's stands in the path.
    pub(super) chat: i64,
    pub(super) message: Option<u64>,
    pub(super) fields: Vec<&'static str>,
    pub(super) class: Option<Class>,
    pub(super) hold: Option<Span>,
    /// How it is answered, try by try; then ok.
    pub(super) answers: Vec<(Span, Reply)>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Write(Ask),
    /// The client of the write that was asked for so many steps ago leaves.
    Leave(usize),
    CoolBot(Span),
    CoolChat(i64, Span),
    /// The group has another id from now on.
    Migrate,
    Enable(bool),
}

/// A group's id, and the one that it is given.
pub(super) const GROUP: i64 = -5;
pub(super) const SUPERGROUP: i64 = -100_777;

enum Event {
    Step(Step),
    Reply(u64, Reply),
}

pub(super) struct World {
    policy: Arc<Policy>,
    gate: Governor,
    judge: Judge,
    now: Time,
    to_come: BTreeMap<(Time, u64), Event>,
    events: u64,
    tickets: u64,
    answers: BTreeMap<u64, Vec<(Span, Reply)>>,
}

impl World {
    pub(super) fn new(policy: &str) -> Self {
        let policy = Arc::new(Policy::load(policy, &[]).unwrap());
        Self {
            gate: Governor::new(Arc::clone(&policy), false),
            policy,
            judge: Judge::default(),
            now: Time::ZERO,
            to_come: BTreeMap::new(),
            events: 0,
            tickets: 0,
            answers: BTreeMap::new(),
        }
    }

    /// The group's new id is used before it is known to be the group's.
    pub(super) fn by_two_names(mut self) -> Self {
        for message in 1..3 {
            self.judge.excuse((GROUP.to_string(), message));
        }
        self
    }

    /// Plays all steps, each so many milliseconds after the one before, until nothing more is to come.
    pub(super) fn run(mut self, plan: Vec<(u64, Step)>) {
        let mut at = Time::ZERO;
        for (gap, step) in plan {
            at += Span::from_millis(gap);
            self.plan(at, Event::Step(step));
        }
        let mut steps = 0;
        while self.next().is_some() {
            steps += 1;
            assert!(steps < 5_000, "at {:?} it still waits for {:?}", self.now, self.gate.poll_timeout());
        }
        self.judge.verdict();
    }

    fn plan(&mut self, at: Time, event: Event) {
        self.events += 1;
        self.to_come.insert((at, self.events), event);
    }

    fn next(&mut self) -> Option<()> {
        let event = self.to_come.first_key_value().map(|((at, _), _)| *at);
        let due = self.gate.poll_timeout().map(|(at, _)| at.max(self.now));
        match (event, due) {
            (None, None) => return None,
            (Some(at), due) if due.is_none_or(|due| at <= due) => {
                self.now = at;
                match self.to_come.pop_first()?.1 {
                    Event::Step(step) => self.step(step),
                    Event::Reply(ticket, reply) => self.reply(ticket, reply),
                }
            }
            (_, due) => {
                self.now = due?;
                self.tell(Input::Tick);
            }
        }
        Some(())
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Write(ask) => self.write(ask),
            Step::Leave(back) => {
                let Some(ticket) = self.tickets.checked_sub(back as u64).filter(|ticket| *ticket > 0) else { return };
                self.judge.leaves(ticket);
                self.tell(Input::Cancel { ticket: Ticket(ticket) });
            }
            Step::CoolBot(duration) => self.tell(Input::Cooldown { scope: Scope::Bot, duration }),
            Step::CoolChat(chat, duration) => {
                self.tell(Input::Cooldown { scope: Scope::Peer(Peer::Id(chat)), duration });
            }
            Step::Migrate => self.tell(Input::Migrate { from: Peer::Id(GROUP), to: Peer::Id(SUPERGROUP) }),
            Step::Enable(enabled) => {
                let mut policy = Policy::clone(&self.policy);
                policy.enabled = enabled;
                self.tell(Input::Policy(Arc::new(policy)));
            }
        }
    }

    fn write(&mut self, ask: Ask) {
        self.tickets += 1;
        let ticket = self.tickets;
        let route = ask
            .method
            .split_once(' ')
            .filter(|_| self.policy.platform == Platform::Discord)
            .map(|(verb, path)| Route::parse(verb, path, 0, |token| MethodKey::of(token).0));
        let method = route.as_ref().map_or(ask.method, |route| &route.template);
        let rich = ask.fields.contains(&"rich_message");
        let write = Write {
            ticket: Ticket(ticket),
            row: self.policy.row_of(&Call { method, has_chat: true, rich, paid: false }),
            method: MethodKey::of(method),
            peer: route.as_ref().map_or(Some(Peer::Id(ask.chat)), |route| route.peer.clone()),
            wider: None,
            // The group is one with topics.
            thread: (rich || ask.message.is_none()).then_some(9),
            message: route.as_ref().map_or(ask.message.map(MessageKey), |route| route.message),
            class: ask.class,
            weight: 1,
            fields: ask.fields.iter().map(|name| field(name)).collect(),
            max_hold: ask.hold,
            auto_hold: None,
        };
        if let Some(message) = write.message.filter(|_| ask.message.is_some()) {
            let place = match (&route, ask.method.rsplit_once('/')) {
                // A name for a message is the route's own; an id is the same everywhere.
                (Some(_), Some((path, "@original"))) => path.to_owned(),
                (Some(_), _) => String::new(),
                (None, _) => ask.chat.to_string().replace(&SUPERGROUP.to_string(), &GROUP.to_string()),
            };
            let edit = Edit { ticket, method: ask.method, fields: ask.fields.clone() };
            self.judge.asks((place, message.0), edit);
        }
        self.answers.insert(ticket, ask.answers);
        self.tell(Input::Write(write));
    }

    fn reply(&mut self, ticket: u64, reply: Reply) {
        let id = Ticket(ticket);
        let ended = match reply {
            Reply::Ok => Some(Answer::Ok),
            Reply::Transient => Some(Answer::Transient),
            Reply::Permanent => Some(Answer::Permanent),
            Reply::Refused(_) | Reply::RefusedBot(_) | Reply::Deferred(_) => None,
        };
        let input = match reply {
            Reply::Refused(after) => Input::Refused { ticket: id, retry_after: Some(after), scope: None },
            Reply::RefusedBot(after) => {
                Input::Refused { ticket: id, retry_after: Some(after), scope: Some(RefusedScope::Bot) }
            }
            Reply::Deferred(wait) => {
                Input::Deferred { ticket: id, bucket: "bot_second".into(), until: self.now + wait }
            }
            Reply::Ok | Reply::Transient | Reply::Permanent => {
                Input::Done { ticket: id, result: ended.unwrap_or(Answer::Ok) }
            }
        };
        self.judge.answered(self.now, ticket, ended);
        self.tell(input);
    }

    fn tell(&mut self, input: Input) {
        self.gate.handle(self.now, input);
        while let Some(output) = self.gate.poll_output() {
            self.judge.output(self.now, &output);
            if let Output::Send { ticket, .. } = output {
                let answers = self.answers.get_mut(&ticket.0).filter(|answers| !answers.is_empty());
                let (delay, reply) = answers.map_or((Span::from_millis(80), Reply::Ok), |answers| answers.remove(0));
                self.plan(self.now + delay, Event::Reply(ticket.0, reply));
            }
        }
    }
}
