//! The composite: the gates of one bot, and what they ask of each other.
//!
//! ```text
//!            ┌─ RequestGrant, Identify, ReleaseGrant ─▶ turns ─▶ identify queue ─┐
//! events ─▶ shard ◀──────────── Granted, Denied, NextInLine, Budget ─────────────┘
//!            └─ Opened, Ready, Closed; Beat, Identify, Resume ─▶ send queue ◀─ commands
//! ```
//!
//! What it keeps: whatever one gate asks of another happens inside the same `handle`, in order; one shard has one request
//! or grant at most, and so has one id, whichever count it is of; a send queue hears of the living connection alone; a
//! call costs no more with thousands of shards, for only who is due is looked at.
//!
//! # Example
//!
//! Two shards in one call each; their places in the identify queue are the composite's business:
//!
//! ```
//! use tidegate_core::bot::{Gateway, Input, Output, Settings, ShardKey};
//! use tidegate_core::identify_queue::SessionStartLimit;
//! use tidegate_core::{Gate, Time, identify_queue, send_queue, shard};
//!
//! let settings = Settings {
//!     shard: shard::Settings::default(),
//!     send_queue: send_queue::Settings::default(),
//!     identify_queue: identify_queue::Settings { shards: 2, ..identify_queue::Settings::default() },
//!     shards_max: 2,
//! };
//! // As `GET /gateway/bot` says.
//! let limit = SessionStartLimit { max_concurrency: 1, remaining: 1_000, reset_at: Time::from_millis(86_400_000) };
//! let mut gateway = Gateway::<()>::new(settings, limit, []);
//!
//! let mut dials = Vec::new();
//! for id in 0..2 {
//!     let key = ShardKey { id, count: 2 };
//!     let url = "wss://gateway.discord.gg".into();
//!     gateway.handle(Time::ZERO, Input::Open { key, url, seed: 7, autonomous: true, stored: None });
//!     gateway.handle(Time::ZERO, Input::Shard { key, input: shard::Input::Start });
//!     while let Some(output) = gateway.poll_output() {
//!         if let Output::Shard { key, output: shard::Output::Connect { .. } } = output {
//!             dials.push(key.to_string());
//!         }
//!     }
//! }
//! // Shard 1 stands in line behind shard 0, and dials when its place comes.
//! assert_eq!(dials, ["0/2"]);
//! assert!(gateway.identify_queue().waits(1));
//! ```
//!
//! [`Bot`] is a [`Gateway`] and a [`Governor`](crate::governor::Governor) as one gate, for replays and simulations.

mod check;
mod io;
mod members;
mod outside;
mod turns;
mod whole;
mod wire;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

pub use self::io::{Input, Output, Reason, Settings, ShardKey};
use self::members::{Member, Members};
use self::turns::{Claimant, Turns};
pub use self::whole::{Bot, BotInput, BotOutput, BotReason};
use self::wire::{Mail, Told};
use crate::gate::Gate;
use crate::identify_queue::{Change, IdentifyQueue, SessionStartLimit, Start};
use crate::send_queue::{self, SendQueue};
use crate::shard::{self, Generation, Shard};
use crate::time::Time;

/// The Gateway side of one bot: its shards, their send queues and the one identify queue.
#[derive(Debug)]
pub struct Gateway<S> {
    shard_settings: shard::Settings,
    send_queue_settings: send_queue::Settings,
    shards_max: usize,
    now: Time,
    members: Members<S>,
    identify_queue: IdentifyQueue,
    turns: Turns,
    /// What the shards that are the first of their lines know.
    told: Vec<Told>,
    lines_moved: bool,
    mail: VecDeque<Mail>,
    changes: Vec<Change>,
    /// The highest number of any connection of a shard that is gone.
    last_forgotten: Generation,
    outputs: VecDeque<Output<S>>,
    /// Calls so far, in debug builds.
    handled: usize,
}

/// With so many shards or fewer, debug builds check all of them after every call; with more, less often.
const SHARDS_CHECKED_ALWAYS: usize = 64;

impl<S: Clone> Gateway<S> {
    /// No shard yet; what `GET /gateway/bot` says, and the session starts that were kept.
    pub fn new(settings: Settings, limit: SessionStartLimit, kept: impl IntoIterator<Item = Start>) -> Self {
        let Settings { shard, send_queue, identify_queue, shards_max } = settings;
        Self {
            shard_settings: shard,
            send_queue_settings: send_queue,
            shards_max,
            now: Time::ZERO,
            members: Members::new(),
            identify_queue: IdentifyQueue::new(identify_queue, limit, kept),
            turns: Turns::default(),
            told: Vec::new(),
            lines_moved: false,
            mail: VecDeque::new(),
            changes: Vec::new(),
            last_forgotten: Generation(0),
            outputs: VecDeque::new(),
            handled: 0,
        }
    }

    /// One shard.
    pub fn shard(&self, key: ShardKey) -> Option<&Shard> {
        self.members.get(key).map(|member| &member.shard)
    }

    /// What one shard may send.
    pub fn send_queue(&self, key: ShardKey) -> Option<&SendQueue<S>> {
        self.members.get(key).map(|member| &member.send_queue)
    }

    /// The identify queue of all shards.
    pub fn identify_queue(&self) -> &IdentifyQueue {
        &self.identify_queue
    }

    /// All shards that are there, ascending.
    pub fn keys(&self) -> impl Iterator<Item = ShardKey> + '_ {
        self.members.keys()
    }

    /// The identify queue's changes of what is kept, in order. To be taken after every `handle` and kept before the outputs
    /// are carried out; what is not taken before the next `handle` is gone.
    pub fn take_changes(&mut self) -> Vec<Change> {
        core::mem::take(&mut self.changes)
    }

    fn open(&mut self, key: ShardKey, settings: shard::Settings, stored: Option<shard::StoredSession>) {
        if self.members.get(key).is_some() {
            return;
        }
        if self.members.len() >= self.shards_max {
            self.outputs.push_back(Output::NotOpened { key });
            return;
        }
        let mut shard = Shard::new(settings, stored);
        shard.number_after(self.last_forgotten);
        self.members.insert(Member::new(self.now, key, shard, self.send_queue_settings.clone()));
    }

    fn forget(&mut self, key: ShardKey) {
        let Some(seat) = self.members.seat(key) else { return };
        self.tell_shard(seat, shard::Input::Stop);
        let (id, claimant) = (key.queued(), Claimant::Ours(key));
        if self.turns.waits(id, claimant) {
            if self.turns.holder(id) == Some(claimant) {
                let release = crate::identify_queue::Input::Release { shard: id, grant: None, unused: true };
                self.mail.push_back(Mail::IdentifyQueue(release));
                self.end_turn(id);
            } else {
                self.turns.leave(id, claimant);
            }
        }
        if let Some(member) = self.members.at(seat) {
            self.last_forgotten = self.last_forgotten.max(member.shard.last_generation());
        }
        self.members.remove(key);
    }

    /// Delivers what the gates have to say to each other, and calls whoever is due, until nothing is left to do now.
    fn settle(&mut self) {
        loop {
            if let Some(mail) = self.mail.pop_front() {
                match mail {
                    Mail::Shard(key, input) => {
                        if let Some(seat) = self.members.seat(key) {
                            self.tell_shard(seat, input);
                        }
                    }
                    Mail::IdentifyQueue(input) => self.tell_identify_queue(input),
                }
            } else if self.lines_moved {
                self.tell_next_in_line();
            } else if !self.call_next_due() {
                return;
            }
        }
    }

    /// Whether somebody was due.
    fn call_next_due(&mut self) -> bool {
        let now = self.now;
        if let Some((_, seat)) = self.members.first_due().filter(|(at, _)| *at <= now) {
            match self.members.at(seat).and_then(|member| member.shard.poll_timeout()) {
                Some((at, _)) if at <= now => self.tell_shard(seat, shard::Input::Tick),
                Some(_) | None => self.tell_send_queue(seat, send_queue::Input::Tick),
            }
            true
        } else if let Some((_, shard)) = self.turns.first_lapse().filter(|(at, _)| *at <= now) {
            self.end_turn(shard);
            true
        } else if self.identify_queue.poll_timeout().is_some_and(|(at, _)| at <= now) {
            self.tell_identify_queue(crate::identify_queue::Input::Tick);
            true
        } else {
            false
        }
    }
}

impl<S: Clone> Gate for Gateway<S> {
    type Input = Input<S>;
    type Output = Output<S>;
    type Reason = Reason;

    fn tick() -> Input<S> {
        Input::Tick
    }

    fn handle(&mut self, now: Time, input: Input<S>) {
        self.now = self.now.max(now);
        self.changes.clear();
        match input {
            Input::Open { key, url, seed, autonomous, stored } => {
                let shard = (key.id, key.count);
                let settings = shard::Settings { shard, url, seed, autonomous, ..self.shard_settings.clone() };
                self.open(key, settings, stored);
            }
            Input::Forget { key } => self.forget(key),
            Input::Shard { key, input } => {
                if let Some(seat) = self.members.seat(key).filter(|_| !io::is_wired(&input)) {
                    self.tell_shard(seat, input);
                }
            }
            Input::SendQueue { key, input } => {
                if let Some(seat) = self.members.seat(key).filter(|_| !io::is_send_queue_wired(&input)) {
                    self.tell_send_queue(seat, input);
                }
            }
            Input::IdentifyQueue(input) => self.outside(input),
            Input::Unauthorized => {
                self.mail.extend(self.members.keys().map(|key| Mail::Shard(key, shard::Input::Unauthorized)));
            }
            Input::Tick => {}
        }
        self.settle();
        if cfg!(debug_assertions) {
            // Whole days of thousands of shards are played in debug builds too.
            self.handled = self.handled.wrapping_add(1);
            if self.handled.is_multiple_of(1 + self.members.len() / SHARDS_CHECKED_ALWAYS) {
                self.check_invariants();
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<S>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        let queue = self.identify_queue.poll_timeout().map(|(at, reason)| (at, Reason::IdentifyQueue(reason)));
        let lapse = self.turns.first_lapse().map(|(at, _)| (at, Reason::Turn));
        self.members.next().into_iter().chain(queue).chain(lapse).min_by_key(|(at, _)| *at)
    }

    fn check_invariants(&self) {
        self.check();
    }
}
