//! A world for any table, and a judge who knows no more of it than its windows: whatever happens, none is exceeded in any
//! alignment, every write ends once, and the counters add up.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::discord::Headers;
use tidegate_core::governor::{Answer, Class, Counted, Governor, Input, Outcome, Output, Scope, Ticket, Write};
use tidegate_core::policy::{Call as Called, Policy};
use tidegate_core::{Gate, MessageKey, MethodKey, Peer, Span, Time};

/// A kind of call.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    has_chat: bool,
    has_message: bool,
    heavy: bool,
    rich: bool,
    paid: bool,
}

impl Call {
    pub(crate) const fn chat(method: &'static str) -> Self {
        Self { method, has_chat: true, has_message: false, heavy: false, rich: false, paid: false }
    }

    pub(crate) const fn chatless(method: &'static str) -> Self {
        Self { has_chat: false, ..Self::chat(method) }
    }

    pub(crate) const fn message(method: &'static str) -> Self {
        Self { has_message: true, ..Self::chat(method) }
    }

    pub(crate) const fn rich(method: &'static str) -> Self {
        Self { rich: true, ..Self::message(method) }
    }

    pub(crate) const fn heavy(method: &'static str) -> Self {
        Self { heavy: true, ..Self::chat(method) }
    }

    pub(crate) const fn paid(method: &'static str) -> Self {
        Self { paid: true, heavy: true, ..Self::chat(method) }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) call: Call,
    /// See [`Fair::peer`].
    pub(crate) peer: usize,
    pub(crate) message: u64,
    pub(crate) thread: Option<i64>,
    pub(crate) class: Option<Class>,
    pub(crate) weight: u32,
    /// Which of two fields it has, as bits.
    pub(crate) fields: u8,
    pub(crate) max_hold: Option<Span>,
    /// How it is answered, try by try; then ok.
    pub(crate) answers: Vec<(Span, Reply)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Ok,
    /// Ok, and what it tells of its bucket.
    Learned(Headers),
    Transient,
    Permanent,
    Refused(Span),
    Deferred(Span),
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Write(Box<Ask>),
    /// The client of the write that came so many writes ago leaves.
    CancelBack(usize),
    Cool(Scope, Span),
    Migrate(Peer, Peer),
}

/// Never more than `units` in any rolling period.
struct Window {
    name: &'static str,
    units: u32,
    reserve: u32,
    period: Span,
    of_peer: bool,
}

struct Release {
    at: Time,
    answered: Option<Time>,
    counts: bool,
}

/// What is known of one write.
struct Known {
    ask: Ask,
    peer: Option<Peer>,
    class: Class,
    weight: u32,
    releases: Vec<Release>,
    ended: bool,
    /// Its client left.
    left: bool,
}

enum Event {
    Act(Act),
    Reply(u64, Reply),
}

pub(crate) struct Fair {
    policy: Arc<Policy>,
    gate: Governor,
    now: Time,
    to_come: BTreeMap<(Time, u64), Event>,
    count: u64,
    writes: BTreeMap<u64, Known>,
    moved: BTreeMap<Peer, Peer>,
}

impl Fair {
    /// One of the peers that there are.
    pub(crate) fn peer(at: usize) -> Peer {
        match at {
            0 | 1 => Peer::Id(-5),
            2 => Peer::Id(-6),
            3 => Peer::Id(-7),
            4 => Peer::Id(77),
            5 | 6 => Peer::Id(78),
            7 => Peer::Name("@named".into()),
            _ => Peer::Id(i64::try_from(at).unwrap()),
        }
    }

    /// Plays a plan: each act comes so many milliseconds after the one before.
    pub(crate) fn judge(policy: &str, plan: Vec<(u64, Act)>) {
        let policy = Arc::new(Policy::load(policy, &[]).unwrap());
        let gate = Governor::new(Arc::clone(&policy), false);
        let (to_come, writes, moved) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut fair = Self { policy, gate, now: Time::ZERO, to_come, count: 0, writes, moved };
        let mut at = Time::ZERO;
        for (gap_ms, act) in plan {
            at += Span::from_millis(gap_ms);
            fair.plan(at, Event::Act(act));
        }
        let mut steps = 0;
        while fair.step() {
            steps += 1;
            assert!(steps < 20_000, "at {:?} it still waits for {:?}", fair.now, fair.gate.poll_timeout());
        }
        fair.is_over();
    }

    fn plan(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.to_come.insert((at, self.count), event);
    }

    /// Whatever is next; whether there was anything.
    fn step(&mut self) -> bool {
        let next = self.to_come.first_key_value().map(|((at, _), _)| *at);
        let busy = self.writes.values().any(|write| !write.ended);
        let due = self.gate.poll_timeout().map(|(at, _)| at.max(self.now)).filter(|_| busy || next.is_some());
        match (next, due) {
            (None, None) => return false,
            (next, Some(due)) if next.is_none_or(|next| due < next) => self.tell(due, Input::Tick),
            _ => {
                let Some(((at, number), event)) = self.to_come.pop_first() else { return false };
                match event {
                    Event::Act(act) => self.act(at, number, act),
                    Event::Reply(ticket, reply) => self.reply(at, ticket, reply),
                }
            }
        }
        true
    }

    fn act(&mut self, at: Time, number: u64, act: Act) {
        match act {
            Act::Write(ask) => {
                let write = self.write(number, *ask);
                self.tell(at, Input::Write(write));
            }
            Act::CancelBack(back) => {
                let Some(ticket) = self.writes.keys().rev().nth(back - 1).copied() else { return };
                if let Some(write) = self.writes.get_mut(&ticket) {
                    write.left = true;
                }
                let flying = self.is_flying(ticket);
                self.tell(at, Input::Cancel { ticket: Ticket(ticket) });
                assert!(!flying || self.gate.knows(Ticket(ticket)), "its answer is still taken in");
                self.note_left(ticket);
            }
            Act::Cool(scope, duration) => self.tell(at, Input::Cooldown { scope, duration }),
            Act::Migrate(from, to) => {
                let to = self.moved.get(&to).cloned().unwrap_or(to);
                if from != to {
                    self.moved.insert(from.clone(), to.clone());
                    self.moved.values_mut().filter(|other| **other == from).for_each(|other| *other = to.clone());
                    let its = self.writes.values_mut().filter(|write| write.peer.as_ref() == Some(&from));
                    its.for_each(|write| write.peer = Some(to.clone()));
                }
                self.tell(at, Input::Migrate { from, to });
            }
        }
    }

    /// Nothing is told of a write whose client left: it is over when the gate knows no more of it.
    fn note_left(&mut self, ticket: u64) {
        let gone = !self.is_flying(ticket) && !self.gate.knows(Ticket(ticket));
        if let Some(write) = self.writes.get_mut(&ticket) {
            write.ended |= write.left && gone;
        }
    }

    fn is_flying(&self, ticket: u64) -> bool {
        let last = self.writes.get(&ticket).and_then(|write| write.releases.last());
        last.is_some_and(|last| last.answered.is_none())
    }

    fn write(&mut self, ticket: u64, ask: Ask) -> Write {
        let call =
            Called { method: ask.call.method, has_chat: ask.call.has_chat, rich: ask.call.rich, paid: ask.call.paid };
        let row = self.policy.row_of(&call);
        let peer = ask.call.has_chat.then(|| Self::peer(ask.peer));
        let class = ask.class.unwrap_or(self.policy.row(row).default_class);
        let heavy = ask.call.heavy && self.policy.row(row).weight_items;
        let fields = (0..2).filter(|bit| ask.fields & (1 << bit) != 0).collect();
        let write = Write {
            ticket: Ticket(ticket),
            row,
            method: MethodKey::of(ask.call.method),
            peer: peer.clone(),
            wider: None,
            thread: ask.thread,
            message: ask.call.has_message.then_some(MessageKey(ask.message)),
            class: ask.class,
            weight: ask.weight,
            fields,
            max_hold: ask.max_hold,
            auto_hold: None,
        };
        let peer = peer.map(|peer| self.moved.get(&peer).cloned().unwrap_or(peer));
        let weight = if heavy { ask.weight } else { 1 };
        self.writes.insert(ticket, Known { ask, peer, class, weight, releases: Vec::new(), ended: false, left: false });
        write
    }

    fn reply(&mut self, at: Time, ticket: u64, reply: Reply) {
        let id = Ticket(ticket);
        if let Some(write) = self.writes.get_mut(&ticket) {
            write.ended |= matches!(reply, Reply::Ok | Reply::Learned(_) | Reply::Permanent);
            if let Some(last) = write.releases.last_mut() {
                last.answered = Some(at);
                last.counts &= !matches!(reply, Reply::Deferred(_));
            }
        }
        let input = match reply {
            Reply::Ok => Input::Done { ticket: id, result: Answer::Ok },
            Reply::Learned(headers) => {
                self.tell(at, Input::Learned { ticket: id, headers: Some(headers) });
                Input::Done { ticket: id, result: Answer::Ok }
            }
            Reply::Transient => Input::Done { ticket: id, result: Answer::Transient },
            Reply::Permanent => Input::Done { ticket: id, result: Answer::Permanent },
            Reply::Refused(after) => Input::Refused { ticket: id, retry_after: Some(after), scope: None },
            Reply::Deferred(span) => Input::Deferred { ticket: id, bucket: "bot_second".into(), until: at + span },
        };
        self.tell(at, input);
        self.note_left(ticket);
    }

    fn tell(&mut self, at: Time, input: Input) {
        self.now = self.now.max(at);
        self.gate.handle(at, input);
        while let Some(output) = self.gate.poll_output() {
            match output {
                Output::Send { ticket, outcome, .. } => self.sent(ticket.0, outcome),
                Output::Drop { ticket, .. }
                | Output::Superseded { ticket, .. }
                | Output::Refuse { ticket, .. }
                | Output::Failed { ticket } => {
                    let write = self.writes.get_mut(&ticket.0).expect("it was asked for");
                    assert!(!std::mem::replace(&mut write.ended, true), "{ticket:?} ended twice");
                }
                Output::Note(_) => {}
                other => panic!("{other:?} was not asked for"),
            }
        }
    }

    fn sent(&mut self, ticket: u64, outcome: Outcome) {
        let now = self.now;
        let write = self.writes.get_mut(&ticket).expect("it was asked for");
        assert!(!write.ended, "{:?} left after its end", write.ask);
        assert!(write.releases.last().is_none_or(|last| last.answered.is_some()), "{:?} left twice", write.ask);
        write.releases.push(Release { at: now, answered: None, counts: outcome != Outcome::Bypass });
        let answers = &mut write.ask.answers;
        let next = if answers.is_empty() { (Span::from_millis(80), Reply::Ok) } else { answers.remove(0) };
        let next = if outcome == Outcome::Bypass { (next.0, Reply::Ok) } else { next };
        self.plan(now + next.0, Event::Reply(ticket, next.1));
        if matches!(outcome, Outcome::Admitted | Outcome::Held) {
            self.windows_hold(ticket);
        }
    }

    /// A unit stands from its release until a period after its answer: a release that never exceeds what stands then
    /// exceeds no window, wherever between release and answer each write reached the platform.
    fn windows_hold(&self, ticket: u64) {
        let write = &self.writes[&ticket];
        for window in self.windows(write) {
            let same = |other: &&Known| {
                self.windows(other).iter().any(|of| of.name == window.name)
                    && (!window.of_peer || other.peer == write.peer)
            };
            let standing: u32 = self.writes.values().filter(same).map(|other| standing(&window, other, self.now)).sum();
            let reserve = if write.class == Class::Interactive { window.reserve } else { 0 };
            assert!(
                standing <= window.units + reserve,
                "{standing} units stand in {} at {:?} with {:?}",
                window.name,
                self.now,
                write.ask
            );
        }
    }

    /// The windows that a write takes from, as the specification has them.
    fn windows(&self, write: &Known) -> Vec<Window> {
        let of = |name, units, reserve, secs, of_peer| Window {
            name,
            units,
            reserve,
            period: Span::from_secs(secs),
            of_peer,
        };
        let group = matches!(write.peer, Some(Peer::Id(..0) | Peer::Name(_)));
        let method = write.ask.call.method;
        let mut windows = Vec::new();
        match (&*self.policy.name, method) {
            ("telegram", "setMyCommands") | ("telegram-forum", _) => {}
            ("telegram", "sendChatAction" | "sendMessageDraft") => windows.push(of("bot_light", 25, 0, 1, false)),
            ("telegram", _) => {
                let paid = write.ask.call.paid;
                windows.push(if paid {
                    of("paid_second", 1_000, 0, 1, false)
                } else {
                    of("bot_second", 25, 0, 1, false)
                });
                if group && (method.starts_with("send") || method.starts_with("copy") || method.starts_with("edit")) {
                    windows.push(of("group_minute", 18, 2, 60, true));
                }
            }
            (_, "POST /interactions/{interaction}/{token}/callback") => {}
            _ => {
                if !(matches!(write.peer, Some(Peer::Name(_))) || method.contains("webhooks") && write.peer.is_none()) {
                    windows.push(of("bot_second", 48, 0, 1, false));
                }
                if method.ends_with(" name") {
                    windows.push(of("renames", 2, 0, 600, true));
                }
                if method.contains("invites") {
                    windows.push(of("invites", 240, 0, 600, false));
                }
            }
        }
        windows
    }

    fn is_over(&mut self) {
        for (ticket, write) in &self.writes {
            assert!(write.ended, "{ticket} never ended: {:?}", write.ask);
        }
        assert!(self.gate.held() == 0, "{} are held", self.gate.held());
        let counters = self.gate.counters();
        let total =
            |what: Counted| counters.iter().filter(|count| count.what == what).map(|count| count.count).sum::<u64>();
        assert_eq!((total(Counted::Held), total(Counted::InFlight)), (0, 0));
        let ends = [
            Counted::Delivered,
            Counted::Failed,
            Counted::Superseded,
            Counted::Dropped,
            Counted::Refused,
            Counted::Cancelled,
        ];
        assert_eq!(total(Counted::Accepted), ends.into_iter().map(total).sum::<u64>());
        assert!(total(Counted::Accepted) <= self.writes.len() as u64);
        self.now += Span::from_secs(8_000);
        self.tell(self.now, Input::Tick);
        assert!(self.gate.at_rest(), "something cools or flies");
        self.gate.handle(self.now, Input::QueryPeers);
        let peers = self.gate.poll_output();
        assert_eq!(peers, Some(Output::Peers(0)), "somebody is never forgotten");
    }
}

/// What a write has standing: of a weight over the limit, a limit's worth a period.
fn standing(window: &Window, write: &Known, now: Time) -> u32 {
    let of = |release: &Release| {
        let answered = release.answered.unwrap_or(release.at + Span::from_secs(60));
        let mut end = answered.min(now) + window.period;
        let mut left = write.weight;
        while left > window.units && now >= end {
            left -= window.units;
            end += window.period;
        }
        if now < end { left.min(window.units) } else { 0 }
    };
    write.releases.iter().filter(|release| release.counts).map(of).sum()
}
