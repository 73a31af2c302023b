//! What is counted by address: invalid requests, invites, and the bans that follow.

use super::limits::Limits;
use super::window::Rolling;
use crate::time::micros;

/// A ban of an address, or of its `/invites`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ban {
    pub(crate) until_us: u64,
    pub(crate) length_us: u64,
    /// From when the caller can know of it.
    pub(crate) known_us: u64,
    /// Calls made into it.
    pub(crate) hits: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Address {
    pub(crate) invalid: Rolling,
    pub(crate) ban: Option<Ban>,
    invites: Rolling,
    pub(crate) invite_ban: Option<Ban>,
    /// Bans that began.
    pub(crate) bans: u64,
    /// Calls into any of them.
    pub(crate) into_ban: u64,
}

/// What a call into a ban is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocked {
    pub(crate) wait_us: u64,
    pub(crate) known_us: u64,
}

/// A call into a ban; one that comes before the ban can be known only counts, any other begins it anew.
fn hit(ban: &mut Ban, now_us: u64, extends: bool) -> Blocked {
    ban.hits += 1;
    if extends {
        ban.until_us = now_us.saturating_add(ban.length_us);
    }
    Blocked { wait_us: ban.until_us.saturating_sub(now_us), known_us: ban.known_us }
}

impl Address {
    /// The ban that stands in a call's way.
    pub(crate) fn blocked(&mut self, now_us: u64, told_us: u64) -> Option<Blocked> {
        if self.ban.is_some_and(|ban| ban.until_us <= now_us) {
            self.ban = None;
            // Who sat a ban out begins anew.
            self.invalid.clear();
        }
        let ban = self.ban.as_mut()?;
        self.into_ban += 1;
        let blocked = hit(ban, now_us, true);
        ban.known_us = ban.known_us.min(told_us);
        Some(blocked)
    }

    pub(crate) fn begin_ban(&mut self, now_us: u64, length_us: u64, known_us: u64) {
        self.bans += 1;
        self.ban = Some(Ban { until_us: now_us.saturating_add(length_us), length_us, known_us, hits: 0 });
    }

    /// Counts an invalid request.
    pub(crate) fn count_invalid(&mut self, now_us: u64, limits: &Limits) {
        if self.invalid.add(now_us, limits.invalid) >= limits.invalid.count.max(1) && self.ban.is_none() {
            // The number is published, and every answer that counts was seen.
            self.begin_ban(now_us, micros(limits.ban), now_us);
        }
    }

    /// Counts a call to `/invites`; the one too many shuts it.
    pub(crate) fn invite(&mut self, now_us: u64, told_us: u64, limits: &Limits) -> Option<Blocked> {
        if self.invite_ban.is_some_and(|ban| ban.until_us <= now_us) {
            self.invite_ban = None;
        }
        if self.invite_ban.is_none() && self.invites.add(now_us, limits.invites) > limits.invites.count {
            let length_us = micros(limits.invite_ban);
            self.bans += 1;
            self.invites.clear();
            self.invite_ban =
                Some(Ban { until_us: now_us.saturating_add(length_us), length_us, known_us: told_us, hits: 0 });
        }
        let ban = self.invite_ban.as_mut()?;
        self.into_ban += 1;
        Some(hit(ban, now_us, false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::Rate;
    use super::*;

    const S: u64 = 1_000_000;

    #[test]
    fn a_ban_begins_at_the_count_and_every_call_into_it_begins_it_anew() {
        let limits = Limits { invalid: Rate::new(3, 10_000), ..Limits::default() };
        let mut address = Address::default();
        for at_s in [0, 1, 10, 11] {
            address.count_invalid(at_s * S, &limits);
            assert_eq!(address.ban, None, "rolling: {at_s}");
        }
        address.count_invalid(12 * S, &limits);
        assert_eq!(address.blocked(13 * S, 14 * S).map(|it| it.wait_us), Some(3600 * S));
        assert_eq!(address.blocked(3000 * S, 3000 * S).map(|it| it.wait_us), Some(3600 * S));
        assert_eq!(address.blocked(6600 * S, 6600 * S), None);
        assert_eq!((address.bans, address.into_ban), (1, 2));
    }

    #[test]
    fn the_251st_invite_shuts_the_route_for_a_day() {
        let limits = Limits::default();
        let mut address = Address::default();
        for at in 0..250 {
            assert_eq!(address.invite(at, at, &limits), None);
        }
        assert_eq!(address.invite(300, 300, &limits).map(|it| it.wait_us), Some(86_400 * S));
        assert_eq!(address.invite(300 + 86_399 * S, 0, &limits).map(|it| it.wait_us), Some(S));
        assert_eq!(address.invite(300 + 86_400 * S, 0, &limits), None);
    }
}
