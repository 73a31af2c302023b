//! The one pending map of subscriptions: a guild's newest snapshot replaces its older one in place.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::io::{Guild, RefuseReason};
use super::settings::Settings;
use crate::time::{Span, Time};

/// A subscription frame without any guild.
const EMPTY_FRAME: &str = r#"{"op":37,"d":{"subscriptions":{}}}"#;

#[derive(Debug)]
struct Entry<S> {
    guild: Guild,
    snapshot: S,
    bytes: usize,
    /// How often it was asked again.
    again: u8,
    /// When the guild was last subscribed on this connection, where that was in the period.
    subscribed: Option<Time>,
}

/// A guild's snapshot that goes.
#[derive(Debug)]
pub(super) struct Taken<S> {
    pub(super) guild: Guild,
    pub(super) snapshot: S,
    pub(super) bytes: usize,
    /// How often it was asked again.
    pub(super) again: u8,
}

/// What waits, and which guilds were subscribed in the period.
#[derive(Debug)]
pub(super) struct Pending<S> {
    /// By the order in which the guilds came.
    entries: BTreeMap<u64, Entry<S>>,
    places: BTreeMap<Guild, u64>,
    /// The same places by when their guild was last subscribed: those that were not, first.
    by_stamp: BTreeSet<(Option<Time>, u64)>,
    next_place: u64,
    /// When a snapshot last came.
    changed: Time,
    stamps: BTreeMap<Guild, Time>,
    /// The guilds of each frame of the period.
    frames: VecDeque<(Time, Vec<Guild>)>,
}

impl<S> Pending<S> {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            places: BTreeMap::new(),
            by_stamp: BTreeSet::new(),
            next_place: 0,
            changed: Time::ZERO,
            stamps: BTreeMap::new(),
            frames: VecDeque::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When a snapshot last came.
    pub(super) fn changed(&self) -> Time {
        self.changed
    }

    pub(super) fn put(
        &mut self,
        now: Time,
        guild: Guild,
        snapshot: S,
        bytes: usize,
        settings: &Settings,
    ) -> Result<(), (Guild, RefuseReason)> {
        if EMPTY_FRAME.len().saturating_add(bytes) > settings.max_payload {
            return Err((guild, RefuseReason::TooLarge));
        }
        if let Some(entry) = self.places.get(&guild).and_then(|place| self.entries.get_mut(place)) {
            (entry.snapshot, entry.bytes, entry.again) = (snapshot, bytes, 0);
        } else {
            if self.entries.len() >= settings.guilds_bound {
                return Err((guild, RefuseReason::QueueFull));
            }
            let (place, subscribed) = (self.next_place, self.stamps.get(&guild).copied());
            self.next_place += 1;
            self.places.insert(guild.clone(), place);
            self.by_stamp.insert((subscribed, place));
            self.entries.insert(place, Entry { guild, snapshot, bytes, again: 0, subscribed });
        }
        self.changed = now;
        Ok(())
    }

    /// A snapshot that went comes back, unless a newer one waits or there is no room.
    pub(super) fn put_back(&mut self, now: Time, taken: Taken<S>, settings: &Settings) {
        let Taken { guild, snapshot, bytes, again } = taken;
        if self.places.contains_key(&guild) || self.put(now, guild, snapshot, bytes, settings).is_err() {
            return;
        }
        if let Some(mut entry) = self.entries.last_entry() {
            entry.get_mut().again = again + 1;
        }
    }

    /// From when on the map holds a guild that was not subscribed in the period; `None` where nothing waits.
    pub(super) fn newcomer_at(&self, period: Span) -> Option<Time> {
        self.by_stamp.first().map(|(stamp, _)| stamp.map_or(Time::ZERO, |at| at + period))
    }

    /// Takes the guilds that waited longest, as many as one frame holds.
    pub(super) fn take_frame(&mut self, now: Time, settings: &Settings) -> Vec<Taken<S>> {
        let mut frame = Vec::new();
        let mut bytes = EMPTY_FRAME.len();
        while let Some((&place, entry)) = self.entries.first_key_value() {
            bytes = bytes.saturating_add(entry.bytes + usize::from(!frame.is_empty()));
            if bytes > settings.max_payload {
                break;
            }
            let Some((_, entry)) = self.entries.pop_first() else { break };
            self.places.remove(&entry.guild);
            self.by_stamp.remove(&(entry.subscribed, place));
            self.stamps.insert(entry.guild.clone(), now);
            let Entry { guild, snapshot, bytes, again, .. } = entry;
            frame.push(Taken { guild, snapshot, bytes, again });
        }
        self.frames.push_back((now, frame.iter().map(|taken| taken.guild.clone()).collect()));
        frame
    }

    /// Subscriptions a period old count no more.
    pub(super) fn pass(&mut self, now: Time, period: Span) {
        while self.frames.front().is_some_and(|(at, _)| *at + period <= now) {
            let Some((at, guilds)) = self.frames.pop_front() else { break };
            for guild in guilds {
                if self.stamps.get(&guild) == Some(&at) {
                    self.stamps.remove(&guild);
                }
            }
        }
    }

    /// Nothing is subscribed on a new connection.
    pub(super) fn forget_subscribed(&mut self) {
        self.stamps.clear();
        self.frames.clear();
        self.by_stamp.clear();
        for (place, entry) in &mut self.entries {
            entry.subscribed = None;
            self.by_stamp.insert((None, *place));
        }
    }

    pub(super) fn check(&self, settings: &Settings) {
        assert!(self.entries.len() <= settings.guilds_bound);
        assert_eq!(self.entries.len(), self.places.len());
        assert_eq!(self.entries.len(), self.by_stamp.len());
        let fits = |entry: &Entry<S>| EMPTY_FRAME.len() + entry.bytes <= settings.max_payload;
        assert!(self.entries.values().all(fits), "each guild fits into a frame of its own");
        assert!(self.frames.len() <= settings.platform_limit as usize);
        let subscribed: usize = self.frames.iter().map(|(_, guilds)| guilds.len()).sum();
        assert!(self.stamps.len() <= subscribed, "one stamp for each guild of the period");
    }
}
