//! Requests for all members of a guild: at most one per guild in 30 s, and what Discord dropped goes again.

use alloc::collections::BTreeMap;

use super::io::Guild;
use crate::time::{Span, Time};

/// Discord takes one request for all members per guild and bot in this time
/// (<https://discord.com/developers/docs/events/gateway-events#request-guild-members>).
pub const MEMBERS_SPACING: Span = Span::from_secs(30);

/// So long a request that went is known, to go again if Discord says that it dropped it: a RESUME may bring that late.
const KNOWN_FOR: Span = Span::from_secs(300);

/// Guilds whose requests are known.
pub const LANES_MAX: usize = 4_096;

#[derive(Clone, Copy, Debug)]
struct Lane {
    not_before: Time,
    /// The request that went last, and when.
    sent: Option<(u64, Time)>,
}

impl Lane {
    fn over(self, now: Time) -> bool {
        self.not_before <= now && self.sent.is_none_or(|(_, at)| at + KNOWN_FOR <= now)
    }
}

/// Every guild's lane. They are the bot's and outlive connections.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Guild, Lane>);

impl Lanes {
    /// When the guild's next request may go.
    pub(super) fn free_at(&self, guild: &Guild) -> Time {
        self.0.get(guild).map_or(Time::ZERO, |lane| lane.not_before)
    }

    pub(super) fn sent(&mut self, now: Time, guild: &Guild, id: u64) {
        self.put(now, guild, Lane { not_before: now + MEMBERS_SPACING, sent: Some((id, now)) });
    }

    /// Discord dropped the guild's last request; its number, if it is to go again. It did not count, so Discord's own
    /// time holds in place of the 30 s.
    pub(super) fn refused(&mut self, now: Time, guild: &Guild, retry_after: Span) -> Option<u64> {
        let until = now + retry_after;
        let known = self.0.get(guild).copied().filter(|lane| !lane.over(now));
        let dropped = known.and_then(|lane| lane.sent);
        let not_before = match (known, dropped) {
            (_, Some(_)) | (None, None) => until,
            (Some(lane), None) => lane.not_before.max(until),
        };
        self.put(now, guild, Lane { not_before, sent: None });
        dropped.map(|(id, _)| id)
    }

    fn put(&mut self, now: Time, guild: &Guild, lane: Lane) {
        self.0.retain(|_, lane| !lane.over(now));
        if self.0.len() >= LANES_MAX && !self.0.contains_key(guild) {
            let soonest = self.0.iter().min_by_key(|(_, lane)| lane.not_before).map(|(guild, _)| guild.clone());
            soonest.map(|guild| self.0.remove(&guild));
        }
        self.0.insert(guild.clone(), lane);
    }

    pub(super) fn check(&self) {
        assert!(self.0.len() <= LANES_MAX);
    }
}
