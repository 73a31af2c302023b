//! Commands that wait: first in, first out, but for those that wait for something of their own; and those that went.

use alloc::collections::VecDeque;

use super::io::Guild;
use super::members::Lanes;
use super::owed::{Beats, Command, OWED_MAX, OwedCommands, Went};
use super::settings::Settings;
use crate::time::{Span, Time};

/// A command that has waited so long between two connections is dropped.
pub const EXPIRES_AFTER: Span = Span::from_secs(60);

/// What a command may have to wait for besides the period's limit, and what shows that it did what it was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Done once it is read.
    Plain,
    /// A state: only the latest counts. Done once it is read.
    Presence,
    /// The same, one for each guild.
    Voice(Guild),
    /// Done once it is answered.
    Request,
    /// The same; one for each guild in 30 s.
    AllMembers(Guild),
}

impl Kind {
    pub(super) fn is_state(&self) -> bool {
        match self {
            Self::Presence | Self::Voice(_) => true,
            Self::Plain | Self::Request | Self::AllMembers(_) => false,
        }
    }

    pub(super) fn is_all_members(&self) -> bool {
        matches!(self, Self::AllMembers(_))
    }

    pub(super) fn is_request(&self) -> bool {
        match self {
            Self::Request | Self::AllMembers(_) => true,
            Self::Plain | Self::Presence | Self::Voice(_) => false,
        }
    }
}

#[derive(Debug)]
struct Waiting {
    command: Command,
    since: Time,
    /// It went before, to a connection that died.
    went: Option<Went>,
}

/// The commands of one bot's shard, and what outlives a connection.
#[derive(Debug)]
pub(super) struct Commands {
    waiting: VecDeque<Waiting>,
    /// Presence updates of the last period.
    presences: VecDeque<Time>,
    lanes: Lanes,
    owed: OwedCommands,
}

impl Commands {
    pub(super) fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            presences: VecDeque::new(),
            lanes: Lanes::default(),
            owed: OwedCommands::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those that have not gone yet, not even to a connection that died.
    pub(super) fn new_ones(&self) -> usize {
        self.waiting.iter().filter(|waiting| waiting.went.is_none()).count()
    }

    /// Those that wait, and those that may have to go again.
    pub(super) fn known(&self) -> usize {
        self.waiting.len() + self.owed.len()
    }

    pub(super) fn knows(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.command.id == id) || self.owed.knows(id)
    }

    /// Joins at the end. A presence takes the place of one that waits, a state any place of one that was to go again: that
    /// one's number is answered.
    pub(super) fn push(&mut self, now: Time, command: Command) -> Option<u64> {
        let older = self.waiting.iter().position(|older| {
            let replaceable = older.command.kind == Kind::Presence || older.went.is_some();
            replaceable && command.kind.is_state() && older.command.kind == command.kind
        });
        let new = Waiting { command, since: now, went: None };
        if let Some(older) = older.and_then(|at| self.waiting.get_mut(at)) {
            return Some(core::mem::replace(older, new).command.id);
        }
        self.waiting.push_back(new);
        None
    }

    /// Takes the newest out again, if it is this one.
    pub(super) fn refuse_last(&mut self, id: u64) -> bool {
        let is_newest = self.waiting.back().is_some_and(|newest| newest.command.id == id);
        is_newest && self.waiting.pop_back().is_some()
    }

    /// Takes the first that may go.
    pub(super) fn take(&mut self, now: Time, settings: &Settings, beats: Beats) -> Option<u64> {
        let at = self.waiting.iter().position(|waiting| self.free_at(&waiting.command.kind, settings) <= now)?;
        let Waiting { command, went, .. } = self.waiting.remove(at)?;
        match &command.kind {
            Kind::Presence if settings.presence_limit > 0 => self.presences.push_back(now),
            Kind::Plain | Kind::Presence | Kind::Voice(_) | Kind::Request => {}
            Kind::AllMembers(guild) => self.lanes.sent(now, guild),
        }
        let id = command.id;
        self.owed.goes(now, command, went, beats);
        Some(id)
    }

    /// When the first of them is free of what it waits for by itself.
    pub(super) fn earliest(&self, settings: &Settings) -> Option<Time> {
        self.waiting.iter().map(|waiting| self.free_at(&waiting.command.kind, settings)).min()
    }

    fn free_at(&self, kind: &Kind, settings: &Settings) -> Time {
        match kind {
            Kind::Presence if settings.presence_limit > 0 => {
                let full = self.presences.len() >= settings.presence_limit as usize;
                self.presences.front().filter(|_| full).map_or(Time::ZERO, |at| *at + settings.period)
            }
            Kind::Plain | Kind::Presence | Kind::Voice(_) | Kind::Request => Time::ZERO,
            Kind::AllMembers(guild) => self.lanes.free_at(guild),
        }
    }

    /// Discord dropped the guild's last request: it goes again, before any other of that guild.
    pub(super) fn rate_limited(&mut self, now: Time, guild: &Guild, retry_after: Span) {
        let dropped = self.owed.refused(guild);
        self.lanes.refused(now, guild, retry_after, dropped.is_some());
        if let Some(command) = dropped {
            self.waiting.push_front(Waiting { command, since: now, went: None });
        }
    }

    pub(super) fn read(&mut self, beats: Beats) {
        self.owed.read(beats);
    }

    /// Its effect was seen: it is not asked again. It may wait for that already: its answer was late, not lost.
    pub(super) fn answered(&mut self, id: u64) {
        let is_it = |waiting: &Waiting| waiting.went.is_some() && waiting.command.id == id;
        let at = self.waiting.iter().position(is_it);
        if let Some(Waiting { command, went: Some(went), .. }) = at.and_then(|at| self.waiting.remove(at)) {
            self.owed.still_owed(command, went);
        }
        self.owed.answered(id);
    }

    /// The connection is over. What was to go again still is.
    pub(super) fn connection_died(&mut self) {
        self.owed.connection_died();
        let owed = &mut self.owed;
        self.waiting
            .retain(|waiting| waiting.went.map(|went| owed.still_owed(waiting.command.clone(), went)).is_none());
    }

    /// Nothing that went is asked again.
    pub(super) fn lapse(&mut self) {
        self.owed.lapse();
    }

    /// The session goes on: what was lost with its last connection goes again, in order, before all that never went. A
    /// state does not where a newer one waits.
    pub(super) fn resumed(&mut self, now: Time) {
        for (command, went) in self.owed.take().into_iter().rev() {
            let newer = |waiting: &Waiting| command.kind.is_state() && waiting.command.kind == command.kind;
            if !self.waiting.iter().any(newer) {
                self.waiting.push_front(Waiting { command, since: now, went: Some(went) });
            }
        }
    }

    /// Takes one that has waited as long as it may since `gap`, when the last connection ended.
    pub(super) fn take_expired(&mut self, now: Time, gap: Time) -> Option<u64> {
        let at = self.waiting.iter().position(|waiting| waiting.since.max(gap) + EXPIRES_AFTER <= now)?;
        self.waiting.remove(at).map(|waiting| waiting.command.id)
    }

    /// When the next has waited so long.
    pub(super) fn expiry(&self, gap: Time) -> Option<Time> {
        self.waiting.iter().map(|waiting| waiting.since.max(gap) + EXPIRES_AFTER).min()
    }

    /// Takes one, whatever it waits for.
    pub(super) fn take_any(&mut self) -> Option<u64> {
        self.waiting.pop_front().map(|waiting| waiting.command.id)
    }

    /// Presence updates a period old count no more, and requests are not awaited for ever.
    pub(super) fn pass(&mut self, now: Time, period: Span) {
        while self.presences.front().is_some_and(|at| *at + period <= now) {
            self.presences.pop_front();
        }
        self.owed.pass(now);
    }

    pub(super) fn check(&self, settings: &Settings) {
        // A request that Discord dropped was in before, and comes back over the bound if it must; what is asked again too.
        assert!(self.new_ones() <= settings.queue_bound + settings.queued_limit as usize);
        assert!(self.len() - self.new_ones() <= OWED_MAX);
        assert!(self.waiting.iter().filter(|waiting| waiting.command.kind == Kind::Presence).count() <= 1);
        assert!(self.presences.len() <= settings.presence_limit as usize);
        self.lanes.check();
        self.owed.check();
    }
}
