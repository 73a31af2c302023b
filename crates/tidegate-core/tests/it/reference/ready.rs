//! Nothing that may go waits.

use tidegate_core::governor::Class;
use tidegate_core::{Peer, Span, Time};

use super::limits::{tokens, windows};
use super::write::Write;
use super::{Judge, Table};

/// Windows may round the moments that they keep up to a quarter of a millisecond.
const STAMP: Span = Span::from_micros(250);

impl Judge {
    /// The first of each line of ordered writes is out as soon as its buckets have room. Lines that something else may
    /// hold up (a cooldown and its probe, a booking, an edit between) are not judged.
    pub(super) fn nothing_waits_needlessly(&self, now: Time) {
        if self.table == Table::Forum || self.cooled_lately(None, now) || now < self.deferred_until {
            return;
        }
        let heaviest = self.writes.values().filter(|write| write.is_held()).map(|write| write.weight).max();
        let mut peers: Vec<&Peer> =
            self.writes.values().filter(|write| write.is_held()).filter_map(|write| write.peer.as_ref()).collect();
        peers.sort_unstable();
        peers.dedup();
        for peer in peers {
            let of_peer = || self.writes.values().filter(|write| write.peer.as_ref() == Some(peer));
            let judged = !self.cooled_lately(Some(peer), now)
                && of_peer().filter(|write| write.is_held()).all(|write| write.surface.is_ordered())
                && !of_peer().any(|write| write.booked || (write.surface.is_ordered() && write.blocks(now)));
            if !judged {
                continue;
            }
            let first =
                of_peer().filter(|write| write.is_held()).min_by_key(|write| (write.class.rank(), write.ticket));
            if let Some(first) = first {
                assert!(!self.has_room(first, heaviest.unwrap_or(1), now), "{first:?} could have left at {now:?}");
            }
        }
    }

    /// What is refused because its hold ends could not have gone at this very moment, were it the first of its line. All
    /// that goes now has gone, so what is left in its buckets was there for it too.
    pub(super) fn could_not_go(&self, write: &Write) {
        let now = self.now;
        let ended = write.hold.is_some_and(|hold| write.arrived + hold <= now);
        let cooled = self.cooled_lately(None, now) || self.cooled_lately(write.peer.as_ref(), now);
        let judged =
            self.table == Table::Telegram && write.surface.is_ordered() && !cooled && now >= self.deferred_until;
        if !ended || !judged {
            return;
        }
        let place = |write: &Write| (write.class.rank(), write.ticket);
        let before = |other: &Write| {
            let held = other.is_held() && !(other.surface.is_ordered() && place(other) > place(write));
            other.ticket != write.ticket && (held || other.booked || (other.surface.is_ordered() && other.blocks(now)))
        };
        if self.writes.values().any(|other| other.peer == write.peer && before(other)) {
            return;
        }
        let held = self.writes.values().filter(|other| other.is_held()).map(|other| other.weight);
        let heaviest = held.fold(write.weight, u32::max);
        assert!(!self.has_room(write, heaviest, now), "{write:?} could have gone at {now:?}");
    }

    fn cooled_lately(&self, peer: Option<&Peer>, now: Time) -> bool {
        let lately = |until: Time| now < until + Span::from_secs(60);
        self.cooldowns.iter().any(|(scope, _, until)| scope.as_ref() == peer && lately(*until))
    }

    /// Whether all of its buckets have room; the bot's for the heaviest of all, who may have the turn.
    fn has_room(&self, write: &Write, heaviest: u32, now: Time) -> bool {
        let windows_have = windows(self.table, write).into_iter().all(|window| {
            let weight = if window.of_peer { write.weight } else { heaviest };
            let reserve = if write.class == Class::Interactive { window.reserve } else { 0 };
            self.standing(&window, write, now, STAMP) + weight.min(window.units) <= window.units + reserve
        });
        let tokens_have = tokens(self.table, write).into_iter().all(|bucket| {
            let unit = i128::from(bucket.period.as_micros());
            self.level(&bucket, write, now) >= unit + i128::from(bucket.units) * 2
        });
        windows_have && tokens_have
    }
}
