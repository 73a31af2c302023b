//! The send queue: what one Gateway connection may send, and when.
//!
//! ```text
//! heartbeat, IDENTIFY, RESUME ────────────────────────────────┐
//! command ──▶ first in, first out (presence: latest wins) ─▶ 100 ─▶ 120 ─▶ socket
//! subscription ──▶ one pending map ─▶ spaced, newcomer, at rest ─▶ 80 ─┘ (commands first)
//!              ◀── RESUMED ── went to a connection that died, effect not seen ◀──┘
//! ```
//!
//! What it keeps: in any rolling period at most `platform_limit` frames, of them at most `queued_limit` from the queue,
//! and no subscription once `subscription_limit` of those stand; heartbeats never wait; the newest snapshot of each guild
//! always leaves in the end; what went and whose effect was not seen goes again when the session is resumed.
//!
//! # Example
//!
//! A hundred commands leave at once; the next one when the first is a minute old, and never a heartbeat waits:
//!
//! ```
//! use tidegate_core::send_queue::{Frame, Input, Output, SendQueue, Settings};
//! use tidegate_core::{Gate, Time};
//!
//! // `S` is what a guild's subscriptions are written as; this bot has none.
//! let mut queue = SendQueue::<()>::new(Settings::default());
//! let mut sent = 0;
//! for id in 0..101 {
//!     // Opcode 4 joins a voice channel. `bytes` is the length of the whole frame.
//!     queue.handle(Time::ZERO, Input::Command { id, op: 4, bytes: 90, guild: None });
//!     while let Some(output) = queue.poll_output() {
//!         assert_eq!(output, Output::Send(Frame::Command { id }));
//!         sent += 1;
//!     }
//! }
//! assert_eq!((sent, queue.waiting()), (100, 1));
//!
//! // A heartbeat is written without asking; the queue is told, so that it counts.
//! queue.handle(Time::from_millis(41_250), Input::Direct { op: 1 });
//! assert_eq!(queue.poll_output(), None);
//!
//! let (at, _reason) = queue.poll_timeout().expect("one waits");
//! assert_eq!(at, Time::from_millis(60_000));
//! queue.handle(at, SendQueue::<()>::tick());
//! assert_eq!(queue.poll_output(), Some(Output::Send(Frame::Command { id: 100 })));
//! ```
//!
//! One queue serves one shard over all its connections: tell it [`Input::Closed`], [`Input::Opened`] and [`Input::Ready`].
//! Sizes are UTF-8 bytes. The numbers and their sources are in [`Settings`].

mod commands;
mod io;
mod members;
mod minute;
mod owed;
mod pending;
mod settings;
mod settle;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

pub use self::commands::EXPIRES_AFTER;
use self::commands::{Commands, Kind};
pub use self::io::{DropReason, Frame, Guild, Input, Output, Reason, RefuseReason, Refused};
pub use self::members::{LANES_MAX, MEMBERS_SPACING};
use self::minute::{Counted, Counts, Minute};
pub use self::owed::{AGAIN_MAX, ANSWER_WAIT, OWED_BYTES, OWED_MAX};
use self::owed::{Beats, Command, OwedSnapshots};
use self::pending::Pending;
pub use self::settings::Settings;
use self::settle::Settle;
use crate::gate::Gate;
use crate::time::{Span, Time};

/// We close with this rather than be closed with 4008: the session stays resumable.
const CLOSE_CODE: u16 = 4_000;
/// Discord's close code for too many frames
/// (<https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes>).
const RATE_LIMITED: u16 = 4_008;
/// Its close codes for a frame that it could not read (same page).
const UNREADABLE: [u16; 2] = [4_001, 4_002];
/// The opcodes that are not like any other (same page).
const HEARTBEAT: u8 = 1;
const PRESENCE_UPDATE: u8 = 3;
const VOICE_STATE_UPDATE: u8 = 4;
const REQUEST_GUILD_MEMBERS: u8 = 8;
const REQUEST_SOUNDBOARD_SOUNDS: u8 = 31;
const REQUEST_CHANNEL_INFO: u8 = 43;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    /// READY or RESUMED came.
    Ready,
    /// A socket is open; nothing queued goes yet. The last connection that was ready ended at `gap`.
    Open { gap: Time },
    /// There is no socket.
    Closed { gap: Time },
}

/// The send queue of one shard, over all its connections.
#[derive(Debug)]
pub struct SendQueue<S> {
    settings: Settings,
    now: Time,
    connection: Connection,
    minute: Minute,
    beats: Beats,
    commands: Commands,
    pending: Pending<S>,
    owed: OwedSnapshots<S>,
    settle: Settle,
    due: Option<(Time, Reason)>,
    outputs: VecDeque<Output<S>>,
}

impl<S: Clone> SendQueue<S> {
    /// An empty queue whose first connection has had READY.
    pub fn new(settings: Settings) -> Self {
        Self {
            now: Time::ZERO,
            connection: Connection::Ready,
            minute: Minute::default(),
            beats: Beats::default(),
            commands: Commands::new(),
            pending: Pending::new(),
            owed: OwedSnapshots::new(),
            settle: Settle::full(&settings),
            due: None,
            outputs: VecDeque::new(),
            settings,
        }
    }

    /// Commands that wait.
    pub fn waiting(&self) -> usize {
        self.commands.len()
    }

    /// Commands that wait, and those that went and may have to go again.
    pub fn known(&self) -> usize {
        self.commands.known()
    }

    /// Whether the command with this number is one of these: it, and only it, may come out to be sent.
    pub fn knows(&self, id: u64) -> bool {
        self.commands.knows(id)
    }

    /// Guilds in the pending map.
    pub fn pending_guilds(&self) -> usize {
        self.pending.len()
    }

    fn command(&mut self, id: u64, kind: Kind, bytes: usize) {
        let what = Refused::Command { id };
        if bytes > self.settings.max_payload {
            self.outputs.push_back(Output::Refused { what, reason: RefuseReason::TooLarge });
            return;
        }
        if let Some(older) = self.commands.push(self.now, Command { id, kind, bytes }) {
            self.outputs.push_back(Output::Dropped { id: older, reason: DropReason::Superseded });
            return;
        }
        self.pump();
        if self.commands.new_ones() > self.settings.queue_bound && self.commands.refuse_last(id) {
            self.outputs.push_back(Output::Refused { what, reason: RefuseReason::QueueFull });
        }
    }

    fn direct(&mut self, op: u8) {
        match self.connection {
            Connection::Ready | Connection::Open { .. } => {}
            Connection::Closed { .. } => return,
        }
        if self.minute.counts().all() < self.settings.platform_limit {
            self.minute.count(self.now, Counted::Direct);
            if op == HEARTBEAT {
                self.beats.wrote();
            }
        } else {
            self.outputs.push_back(Output::Close { code: CLOSE_CODE });
            self.end();
            self.connection = Connection::Closed { gap: self.gap() };
        }
    }

    fn acked(&mut self) {
        self.beats.acked();
        self.commands.read(self.beats);
        self.owed.read(self.beats);
    }

    /// What went to the connection and was not seen to be done is owed, until READY or RESUMED.
    fn end(&mut self) {
        self.beats = Beats::default();
        self.commands.connection_died();
        self.owed.connection_died();
    }

    /// A new session, or Discord took offence at what was sent: it is not sent again.
    fn lapse(&mut self) {
        self.commands.lapse();
        self.owed.lapse();
    }

    fn ready(&mut self) {
        if self.connection != Connection::Ready {
            self.lapse();
            self.connection = Connection::Ready;
        }
    }

    fn resumed(&mut self) {
        if self.connection == Connection::Ready {
            return;
        }
        self.connection = Connection::Ready;
        self.commands.resumed(self.now);
        for taken in self.owed.take() {
            self.pending.put_back(self.now, taken, &self.settings);
        }
    }

    /// When the last connection that was ready ended.
    fn gap(&self) -> Time {
        match self.connection {
            Connection::Ready => self.now,
            Connection::Open { gap } | Connection::Closed { gap } => gap,
        }
    }

    fn closed(&mut self, code: Option<u16>) {
        self.connection = Connection::Closed { gap: self.gap() };
        if code == Some(RATE_LIMITED) {
            while let Some(id) = self.commands.take_any() {
                self.outputs.push_back(Output::Dropped { id, reason: DropReason::After4008 });
            }
            self.commands.lapse();
        }
        self.end();
        if code.is_some_and(|code| UNREADABLE.contains(&code)) {
            self.lapse();
        }
    }

    fn opened(&mut self) {
        self.connection = Connection::Open { gap: self.gap() };
        self.end();
        self.minute.clear();
        self.pending.forget_subscribed();
    }

    /// Everything that only depends on the time.
    fn pass(&mut self, now: Time) {
        self.now = self.now.max(now);
        let (now, period) = (self.now, self.settings.period);
        self.settle.pass(now, &self.minute, &self.settings);
        self.minute.pass(now, period);
        self.pending.pass(now, period);
        self.commands.pass(now, period);
        match self.connection {
            Connection::Ready => {}
            Connection::Open { gap } | Connection::Closed { gap } => {
                while let Some(id) = self.commands.take_expired(now, gap) {
                    self.outputs.push_back(Output::Dropped { id, reason: DropReason::Expired });
                }
            }
        }
    }

    /// Sends all that may go now, commands first.
    fn pump(&mut self) {
        while self.connection == Connection::Ready {
            let room = self.command_room(self.minute.counts());
            if let Some(id) = room.then(|| self.commands.take(self.now, &self.settings, self.beats)).flatten() {
                self.minute.count(self.now, Counted::Command);
                self.outputs.push_back(Output::Send(Frame::Command { id }));
            } else if self.subscription_due() == Some(self.now) {
                if !self.is_spaced_or_new() {
                    self.settle.take(&self.settings);
                }
                self.minute.count(self.now, Counted::Subscription);
                let frame = self.subscriptions();
                self.outputs.push_back(Output::Send(Frame::Subscriptions(frame)));
            } else {
                break;
            }
        }
    }

    /// The guilds that waited longest, as many as one frame holds.
    fn subscriptions(&mut self) -> Vec<(Guild, S)> {
        let frame = self.pending.take_frame(self.now, &self.settings);
        let goes = frame.into_iter().map(|taken| {
            let frame = (taken.guild.clone(), taken.snapshot.clone());
            self.owed.goes(self.now, taken, self.beats);
            frame
        });
        goes.collect()
    }

    fn command_room(&self, counts: Counts) -> bool {
        counts.queued() < self.settings.queued_limit && counts.all() < self.settings.platform_limit
    }

    /// How many more queued frames there is room for before subscriptions have to wait, where there is any.
    fn subscription_room(&self, counts: Counts) -> Option<u64> {
        let room = self.settings.subscription_limit.checked_sub(counts.queued()).filter(|room| *room > 0);
        room.filter(|_| self.command_room(counts)).map(u64::from)
    }

    /// When the spacing lets a subscription go, if the counts stay as they are; `from` at the earliest.
    fn spaced_at(&self, from: Time, counts: Counts, room: u64) -> Time {
        if counts.subscriptions < self.settings.burst {
            return from;
        }
        let spacing = Span::from_micros(self.settings.period.as_micros().div_ceil(room));
        self.minute.last_subscription().map_or(from, |last| last + spacing)
    }

    fn is_spaced_or_new(&self) -> bool {
        let counts = self.minute.counts();
        let newcomer = self.pending.newcomer_at(self.settings.period).is_some_and(|at| at <= self.now);
        let room = self.subscription_room(counts);
        newcomer || room.is_some_and(|room| self.spaced_at(self.now, counts, room) <= self.now)
    }

    /// When the next subscription frame may go. Each of its conditions, once true, stays true until something is sent, so
    /// the first moment is found by walking through what ages out.
    fn subscription_due(&self) -> Option<Time> {
        let newcomer = self.pending.newcomer_at(self.settings.period)?;
        let at_rest = self.pending.changed() + self.settings.settle;
        let mut bucket = self.settle.ahead();
        for stage in self.minute.stages(self.now, self.settings.period) {
            let unit = bucket.through(stage, &self.settings).filter(|_| !self.settings.settle.is_zero());
            let Some(room) = self.subscription_room(stage.counts) else { continue };
            let settled = unit.map_or(Time::NEVER, |unit| unit.max(at_rest));
            let spaced = self.spaced_at(stage.from, stage.counts, room);
            let at = spaced.min(newcomer).min(settled).max(stage.from);
            if at < stage.until {
                return Some(at);
            }
        }
        None
    }

    fn command_due(&self) -> Option<Time> {
        let own = self.commands.earliest(&self.settings)?;
        let mut stages = self.minute.stages(self.now, self.settings.period);
        stages.find(|stage| self.command_room(stage.counts)).map(|stage| stage.from.max(own))
    }

    fn next_due(&self) -> Option<(Time, Reason)> {
        match self.connection {
            Connection::Ready => {
                let command = self.command_due().map(|at| (at, Reason::Command));
                let subscription = self.subscription_due().map(|at| (at, Reason::Subscription));
                command.into_iter().chain(subscription).min_by_key(|(at, _)| *at)
            }
            Connection::Open { gap } | Connection::Closed { gap } => {
                self.commands.expiry(gap).map(|at| (at, Reason::Expiry))
            }
        }
    }
}

impl<S: Clone> Gate for SendQueue<S> {
    type Input = Input<S>;
    type Output = Output<S>;
    type Reason = Reason;

    fn tick() -> Input<S> {
        Input::Tick
    }

    fn handle(&mut self, now: Time, input: Input<S>) {
        self.pass(now);
        match input {
            Input::Command { id, op, guild, bytes } => self.command(id, kind(op, guild), bytes),
            Input::MembersRequest { id, guild, all, bytes } => {
                self.command(id, if all { Kind::AllMembers(guild) } else { Kind::Request }, bytes);
            }
            Input::Subscribe { guild, snapshot, bytes } => {
                let put = self.pending.put(self.now, guild, snapshot, bytes, &self.settings);
                if let Err((guild, reason)) = put {
                    self.outputs.push_back(Output::Refused { what: Refused::Snapshot { guild }, reason });
                }
            }
            Input::Direct { op } => self.direct(op),
            Input::Ack => self.acked(),
            Input::Answered { id } => self.commands.answered(id),
            Input::RateLimited { opcode, guild, retry_after } => {
                if opcode == REQUEST_GUILD_MEMBERS {
                    self.commands.rate_limited(self.now, &guild, retry_after);
                }
            }
            Input::Closed { code } => self.closed(code),
            Input::Opened => self.opened(),
            Input::Ready => self.ready(),
            Input::Resumed => self.resumed(),
            Input::Tick => {}
        }
        self.pump();
        self.due = self.next_due();
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn poll_output(&mut self) -> Option<Output<S>> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        self.due
    }

    fn check_invariants(&self) {
        let (settings, counts) = (&self.settings, self.minute.counts());
        self.minute.check(self.now, settings.period);
        self.settle.check(settings);
        self.commands.check(settings);
        self.pending.check(settings);
        self.owed.check();
        assert!(counts.all() <= settings.platform_limit, "never over the platform's limit");
        assert!(counts.queued() <= settings.queued_limit, "never over the queue's share");
        assert!(self.due.is_none_or(|(at, _)| at > self.now), "what may go has gone");
    }
}

fn kind(op: u8, guild: Option<Guild>) -> Kind {
    match (op, guild) {
        (PRESENCE_UPDATE, _) => Kind::Presence,
        (VOICE_STATE_UPDATE, Some(guild)) => Kind::Voice(guild),
        (REQUEST_GUILD_MEMBERS | REQUEST_SOUNDBOARD_SOUNDS | REQUEST_CHANNEL_INFO, _) => Kind::Request,
        _ => Kind::Plain,
    }
}
