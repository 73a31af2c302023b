//! Requests for all members of a guild: at most one per guild in 30 s.

use alloc::collections::BTreeMap;

use super::io::Guild;
use crate::time::{Span, Time};

/// Discord takes one request for all members per guild and bot in this time
/// (<https://discord.com/developers/docs/events/gateway-events#request-guild-members>).
pub const MEMBERS_SPACING: Span = Span::from_secs(30);

/// Guilds whose requests are spaced.
pub const LANES_MAX: usize = 4_096;

/// When each guild's next request may go. The lanes are the bot's and outlive connections.
#[derive(Debug, Default)]
pub(super) struct Lanes(BTreeMap<Guild, Time>);

impl Lanes {
    pub(super) fn free_at(&self, guild: &Guild) -> Time {
        self.0.get(guild).copied().unwrap_or(Time::ZERO)
    }

    pub(super) fn sent(&mut self, now: Time, guild: &Guild) {
        self.put(now, guild, now + MEMBERS_SPACING);
    }

    /// Discord dropped the guild's last request. Where that is known, it did not count: Discord's own time holds in place
    /// of the 30 s.
    pub(super) fn refused(&mut self, now: Time, guild: &Guild, retry_after: Span, is_known: bool) {
        let until = now + retry_after;
        self.put(now, guild, if is_known { until } else { until.max(self.free_at(guild)) });
    }

    fn put(&mut self, now: Time, guild: &Guild, not_before: Time) {
        self.0.retain(|_, not_before| *not_before > now);
        if self.0.len() >= LANES_MAX && !self.0.contains_key(guild) {
            let soonest = self.0.iter().min_by_key(|(_, not_before)| **not_before).map(|(guild, _)| guild.clone());
            soonest.map(|guild| self.0.remove(&guild));
        }
        self.0.insert(guild.clone(), not_before);
    }

    pub(super) fn check(&self) {
        assert!(self.0.len() <= LANES_MAX);
    }
}
