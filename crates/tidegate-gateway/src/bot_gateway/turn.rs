//! One thing that happens to a fleet, from the word to the last consequence.

use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::identify_queue::StartStore as _;
use tidegate_core::shard;
use tidegate_core::{Gate as _, Time, send_queue};

use super::shard_slot::Seat;
use super::{Caller, Count, Fleet, State, Visitor, frames};
use crate::close::Close;
use crate::frame::{Command, Identify, Identity, Kind, Resume};
use crate::mailbox::Tell;
use crate::session::{Input, Order, Session, Word};

/// The fleet with its lock taken, and the moment.
pub(crate) struct Turn<'a> {
    pub(super) fleet: &'a Arc<Fleet>,
    pub(super) state: &'a mut State,
    pub(super) now: Time,
}

impl Turn<'_> {
    /// The gates are told something once the turn runs.
    pub(super) fn tell(&mut self, input: bot::Input<Bytes>) {
        self.state.work.push_back(input);
    }

    /// Tells the gates what there is to tell, and does what they say, until nothing is left.
    pub(super) fn run(&mut self) {
        while let Some(input) = self.state.work.pop_front() {
            let Some(gate) = &mut self.state.gate else { continue };
            let key = shard_of(&input);
            if let Some(recorder) = &mut self.state.recorder {
                recorder.input(self.now, &input);
            }
            gate.handle(self.now, input);
            for change in gate.take_changes() {
                self.state.starts.apply(self.now, change);
            }
            while let Some(output) = self.state.gate.as_mut().and_then(bot::Gateway::poll_output) {
                if let Some(recorder) = &mut self.state.recorder {
                    recorder.output(self.now, &output);
                }
                self.carry_out(output);
            }
            if let Some(key) = key {
                self.forget_commands(key);
            }
        }
    }

    /// Drops the frames of commands that never go any more.
    fn forget_commands(&mut self, key: ShardKey) {
        let Some(seat) = self.state.seats.get_mut(&key).filter(|seat| seat.commands.len() > 0) else { return };
        let queue = self.state.gate.as_ref().and_then(|gate| gate.send_queue(key));
        if queue.map_or(0, send_queue::SendQueue::known) != seat.commands.len() {
            seat.commands.retain(|id| queue.is_some_and(|queue| queue.knows(id)));
        }
    }

    /// Time has passed.
    pub(super) fn tick(&mut self) {
        while let Some((_, key)) = self.state.dues.first().copied().filter(|(at, _)| *at <= self.now) {
            self.session(key, Input::Tick);
        }
        self.tell(bot::Input::Tick);
        self.discover_if_due();
    }

    pub(super) fn identify(&mut self, visitor: &Visitor<'_>, identify: Arc<Identify>) {
        let key = identify.key;
        if !self.state.seats.contains_key(&key) && !self.open(key, visitor) {
            visitor.link.tell(Tell::Close(Close::TOO_MANY));
            return;
        }
        self.sits(key, visitor, identify.identity.clone());
        self.session(key, Input::Identify { bot: visitor.link.number, identify });
        self.discover_if_old();
    }

    pub(super) fn resume(&mut self, visitor: &Visitor<'_>, resume: &Resume) -> Option<ShardKey> {
        let key = *self.state.by_session.get(&resume.session)?;
        self.sits(key, visitor, resume.identity.clone());
        self.session(key, Input::Resume { bot: visitor.link.number, seq: resume.seq });
        Some(key)
    }

    /// A bot came to a seat.
    fn sits(&mut self, key: ShardKey, visitor: &Visitor<'_>, identity: Identity) {
        let runtime = tokio::runtime::Handle::current();
        if let Some(seat) = self.state.seats.get_mut(&key) {
            seat.links.insert(visitor.link.number, Arc::clone(visitor.link));
            seat.runtime = runtime.clone();
            seat.address = Arc::clone(visitor.address);
        }
        self.state.caller = Some(Caller { discover: Arc::clone(visitor.discover), runtime, identity });
    }

    /// A seat for a shard that has none; `false` where there are too many.
    fn open(&mut self, key: ShardKey, visitor: &Visitor<'_>) -> bool {
        let depot = &self.fleet.depot;
        if self.state.seats.len() >= depot.settings.shards_max {
            return false;
        }
        let seat = Seat::new(Session::new(depot.times), depot.ring(), visitor.address);
        self.state.seats.insert(key, seat);
        if self.state.gate.is_some() {
            self.open_gate(key);
        }
        true
    }

    /// Makes the shard of a seat.
    pub(super) fn open_gate(&mut self, key: ShardKey) {
        let url = self.state.main.clone();
        let seed = tidegate_net::keyed((key, self.now.as_micros()));
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        seat.opened = true;
        self.state.work.push_back(bot::Input::Open { key, url, seed, autonomous: false, stored: None });
        self.state.work.extend(seat.pending.drain(..).map(|input| bot::Input::Shard { key, input }));
    }

    pub(super) fn command(&mut self, key: ShardKey, number: u64, command: Command) {
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        if seat.session.attached() != Some(number) || !seat.opened {
            self.fleet.counts.add(Count::Dropped, 1);
            return;
        }
        let Command { op, kind, effect, frame } = command;
        let bytes = frame.len();
        self.state.last_command += 1;
        let id = self.state.last_command;
        let input = match kind {
            Kind::Plain => send_queue::Input::Command { id, op, guild: None, bytes },
            Kind::Voice { guild } => send_queue::Input::Command { id, op, guild: Some(guild), bytes },
            Kind::Members { guild, all } => send_queue::Input::MembersRequest { id, guild, all, bytes },
            Kind::Subscribe(guilds) => {
                for (guild, snapshot) in guilds {
                    let bytes = frames::entry(&guild, &snapshot);
                    let input = send_queue::Input::Subscribe { guild, snapshot, bytes };
                    self.state.work.push_back(bot::Input::SendQueue { key, input });
                }
                return;
            }
        };
        seat.commands.put(id, op, &frame, effect);
        self.tell(bot::Input::SendQueue { key, input });
    }

    pub(super) fn left(&mut self, key: ShardKey, bot: u64, code: Option<u16>) {
        self.session(key, Input::Left { bot, code });
        if let Some(seat) = self.state.seats.get_mut(&key) {
            seat.links.remove(&bot);
        }
    }

    /// It is forgotten.
    pub(super) fn dismiss(&mut self) {
        let keys: Vec<ShardKey> = self.state.seats.keys().copied().collect();
        for key in keys {
            self.too_many(key);
        }
    }

    /// There is no room for a seat: its bots are closed.
    pub(super) fn too_many(&mut self, key: ShardKey) {
        if let Some(seat) = self.state.seats.get(&key) {
            seat.links.values().for_each(|link| link.tell(Tell::Close(Close::TOO_MANY)));
        }
        self.forget(key);
    }

    /// The program ends. Bots that are there still, and an answer of Discord's that comes late, start nothing any more.
    pub(super) fn stop(&mut self) {
        self.state.stopped = true;
        self.state.seats.values_mut().for_each(|seat| seat.pending.clear());
        let keys: Vec<ShardKey> = self.state.seats.keys().copied().collect();
        for key in keys {
            self.tell(bot::Input::Shard { key, input: shard::Input::Stop });
        }
    }

    /// Tells a session, and does what it orders.
    pub(super) fn session(&mut self, key: ShardKey, input: Input) {
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        seat.session.handle(self.now, input, &*seat.ring);
        while let Some(order) = self.state.seats.get_mut(&key).and_then(|seat| seat.session.order()) {
            self.obey(key, order);
        }
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        if seat.session.attached().is_none() {
            seat.ring.read_by(None);
        }
        if seat.named.as_deref() != seat.session.id() {
            if let Some(old) = seat.named.take() {
                self.state.by_session.remove(&old);
            }
            seat.named = seat.session.id().map(Into::into);
            self.state.by_session.extend(seat.named.clone().map(|id| (id, key)));
        }
        let due = seat.session.due();
        if due != seat.due {
            let old = std::mem::replace(&mut seat.due, due);
            old.map(|old| self.state.dues.remove(&(old, key)));
            self.state.dues.extend(due.map(|due| (due, key)));
        }
    }

    fn obey(&mut self, key: ShardKey, order: Order) {
        let starts =
            matches!(order, Order::Shard(shard::Input::Start | shard::Input::Fresh { .. }) | Order::Reopen { .. });
        if starts && self.state.stopped {
            return;
        }
        let Some(seat) = self.state.seats.get_mut(&key) else { return };
        match order {
            Order::Tell { bot, word } => {
                if let Word::Replay(_) = word {
                    self.fleet.counts.add(Count::Local, 1);
                }
                seat.say(bot, word);
            }
            Order::Shard(input) if seat.opened => self.tell(bot::Input::Shard { key, input }),
            Order::Shard(input) => {
                // What a shard that is not made yet was told last is all that counts.
                seat.pending.clear();
                seat.pending.push_back(input);
            }
            Order::Reopen { seq } => {
                seat.ring.reset(seq);
                self.tell(bot::Input::Shard { key, input: shard::Input::Rewind { seq } });
            }
            Order::Clear => seat.ring.reset(0),
            Order::Forget => self.forget(key),
        }
    }

    /// Drops a seat and all that hangs on it.
    pub(super) fn forget(&mut self, key: ShardKey) {
        let Some(mut seat) = self.state.seats.remove(&key) else { return };
        seat.close(4000);
        seat.named.map(|id| self.state.by_session.remove(&id));
        seat.due.map(|due| self.state.dues.remove(&(due, key)));
        self.tell(bot::Input::Forget { key });
    }
}

/// The one shard that is told something.
fn shard_of(input: &bot::Input<Bytes>) -> Option<ShardKey> {
    match input {
        bot::Input::Shard { key, .. } | bot::Input::SendQueue { key, .. } => Some(*key),
        bot::Input::Open { .. }
        | bot::Input::Forget { .. }
        | bot::Input::IdentifyQueue(_)
        | bot::Input::Unauthorized
        | bot::Input::Tick => None,
    }
}
