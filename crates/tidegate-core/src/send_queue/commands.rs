//! Commands that wait: first in, first out, but for those that wait for something of their own.

use alloc::collections::VecDeque;

use super::io::Guild;
use super::members::Lanes;
use super::settings::Settings;
use crate::time::{Span, Time};

/// A command that has waited so long between two connections is dropped.
pub const EXPIRES_AFTER: Span = Span::from_secs(60);

/// What a command may have to wait for besides the period's limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Presence,
    AllMembers(Guild),
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    kind: Kind,
    since: Time,
}

/// The commands of one bot's shard, and what outlives a connection.
#[derive(Debug, Default)]
pub(super) struct Commands {
    waiting: VecDeque<Waiting>,
    /// Presence updates of the last period.
    presences: VecDeque<Time>,
    lanes: Lanes,
}

impl Commands {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Joins at the end; a presence takes the place of one that waits, whose number is answered.
    pub(super) fn push(&mut self, now: Time, id: u64, kind: Kind) -> Option<u64> {
        if kind == Kind::Presence
            && let Some(older) = self.waiting.iter_mut().find(|older| older.kind == Kind::Presence)
        {
            older.since = now;
            return Some(core::mem::replace(&mut older.id, id));
        }
        self.waiting.push_back(Waiting { id, kind, since: now });
        None
    }

    /// Takes the newest out again, if it is this one.
    pub(super) fn refuse_last(&mut self, id: u64) -> bool {
        let is_newest = self.waiting.back().is_some_and(|newest| newest.id == id);
        is_newest && self.waiting.pop_back().is_some()
    }

    /// Takes the first that may go.
    pub(super) fn take(&mut self, now: Time, settings: &Settings) -> Option<u64> {
        let at = self.waiting.iter().position(|waiting| self.free_at(&waiting.kind, settings) <= now)?;
        let Waiting { id, kind, .. } = self.waiting.remove(at)?;
        match kind {
            Kind::Presence if settings.presence_limit > 0 => self.presences.push_back(now),
            Kind::Plain | Kind::Presence => {}
            Kind::AllMembers(guild) => self.lanes.sent(now, &guild, id),
        }
        Some(id)
    }

    /// When the first of them is free of what it waits for by itself.
    pub(super) fn earliest(&self, settings: &Settings) -> Option<Time> {
        self.waiting.iter().map(|waiting| self.free_at(&waiting.kind, settings)).min()
    }

    fn free_at(&self, kind: &Kind, settings: &Settings) -> Time {
        match kind {
            Kind::Presence if settings.presence_limit > 0 => {
                let full = self.presences.len() >= settings.presence_limit as usize;
                self.presences.front().filter(|_| full).map_or(Time::ZERO, |at| *at + settings.period)
            }
            Kind::Plain | Kind::Presence => Time::ZERO,
            Kind::AllMembers(guild) => self.lanes.free_at(guild),
        }
    }

    /// Discord dropped the guild's last request: it goes again, before any other of that guild.
    pub(super) fn rate_limited(&mut self, now: Time, guild: Guild, retry_after: Span) {
        if let Some(id) = self.lanes.refused(now, &guild, retry_after) {
            self.waiting.push_front(Waiting { id, kind: Kind::AllMembers(guild), since: now });
        }
    }

    /// Takes one that has waited as long as it may since `gap`, when the last connection ended.
    pub(super) fn take_expired(&mut self, now: Time, gap: Time) -> Option<u64> {
        let at = self.waiting.iter().position(|waiting| waiting.since.max(gap) + EXPIRES_AFTER <= now)?;
        self.waiting.remove(at).map(|waiting| waiting.id)
    }

    /// When the next has waited so long.
    pub(super) fn expiry(&self, gap: Time) -> Option<Time> {
        self.waiting.iter().map(|waiting| waiting.since.max(gap) + EXPIRES_AFTER).min()
    }

    /// Takes one, whatever it waits for.
    pub(super) fn take_any(&mut self) -> Option<u64> {
        self.waiting.pop_front().map(|waiting| waiting.id)
    }

    /// Presence updates a period old count no more.
    pub(super) fn pass(&mut self, now: Time, period: Span) {
        while self.presences.front().is_some_and(|at| *at + period <= now) {
            self.presences.pop_front();
        }
    }

    pub(super) fn check(&self, settings: &Settings) {
        // A request that Discord dropped was in before, and comes back over the bound if it must.
        assert!(self.waiting.len() <= settings.queue_bound + settings.queued_limit as usize);
        assert!(self.waiting.iter().filter(|waiting| waiting.kind == Kind::Presence).count() <= 1);
        assert!(self.presences.len() <= settings.presence_limit as usize);
        self.lanes.check();
    }
}
