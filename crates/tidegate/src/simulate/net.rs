//! What travels between bots, tidegate and Discord, and the moments at which it arrives.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tidegate_core::bot::ShardKey;
use tidegate_core::shard::Generation;
use tidegate_core::{Span, Time};

use super::weather::{Blow, Weather};

/// One WebSocket, by who dialled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sock {
    /// A bot; its sockets are numbered.
    Bot(u64),
    /// tidegate, for a shard.
    Tide(ShardKey, Generation),
}

/// What a client does.
#[derive(Clone, Debug)]
pub(super) enum Up {
    /// Dials; `resume`: not the main address.
    Dial {
        resume: bool,
    },
    Beat,
    /// `d` as JSON.
    Identify {
        d: String,
    },
    Resume {
        session: String,
        seq: u64,
    },
    /// The connection is over.
    Close(Option<u16>),
}

/// What a client hears.
#[derive(Clone, Debug)]
pub(super) enum Down {
    /// The dial failed.
    Refused,
    Opened,
    Hello {
        interval: Span,
    },
    Ready {
        session: String,
        seq: u64,
    },
    Resumed {
        seq: u64,
    },
    Dispatch {
        seq: u64,
    },
    Ack,
    BeatAsked,
    Reconnect,
    Invalid {
        resumable: bool,
    },
    Closed(Option<u16>),
}

/// What happens next.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// Something arrives at Discord.
    AtDiscord(Sock, Up),
    /// Something arrives at tidegate's side towards bots.
    AtTide(u64, Up),
    /// Something arrives at whoever dialled.
    Heard(Sock, Down),
    /// The weather does something to a connection.
    Weather(Sock, Blow),
    /// One of the bot's timers.
    BotTimer(super::naive::Timer),
    /// Somebody asks `GET /gateway/bot`.
    Refresh,
}

struct Entry {
    at: Time,
    number: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// How long things take on their way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distances {
    /// From a dial to HELLO.
    pub(super) dial: Span,
    /// One way to Discord.
    pub(super) discord: Span,
    /// One way to tidegate.
    pub(super) tide: Span,
    /// What goes to Discord may take up to so much longer, each word on its own.
    pub(super) jitter: Span,
}

impl Default for Distances {
    fn default() -> Self {
        let (dial, discord) = (Span::from_millis(200), Span::from_millis(25));
        Self { dial, discord, tide: Span::from_millis(1), jitter: Span::ZERO }
    }
}

/// What is still to happen, in order.
pub(super) struct Agenda {
    pub(super) now: Time,
    pub(super) distances: Distances,
    weather: Weather,
    /// Dials that never left.
    pub(super) failed_dials: u64,
    entries: BinaryHeap<Reverse<Entry>>,
    number: u64,
    dice: u64,
}

impl Agenda {
    pub(super) fn new(distances: Distances, weather: Weather) -> Self {
        let entries = BinaryHeap::new();
        Self { now: Time::ZERO, distances, weather, failed_dials: 0, entries, number: 0, dice: 1 }
    }

    pub(super) fn after(&mut self, wait: Span, event: Event) {
        self.number += 1;
        self.entries.push(Reverse(Entry { at: self.now + wait, number: self.number, event }));
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.entries.peek().map(|Reverse(entry)| entry.at)
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.entries.pop().map(|Reverse(entry)| entry.event)
    }

    /// A client does something towards Discord.
    pub(super) fn tell_discord(&mut self, sock: Sock, up: Up) {
        if let Up::Dial { .. } = up
            && self.weather.is_away(self.now)
        {
            self.failed_dials += 1;
            return self.after(Span::ZERO, Event::Heard(sock, Down::Refused));
        }
        let way = match up {
            Up::Dial { .. } => self.distances.dial - self.distances.discord,
            _ => self.distances.discord,
        };
        let jitter = self.roll(self.distances.jitter);
        self.after(way + jitter, Event::AtDiscord(sock, up));
    }

    /// From nothing to all of it.
    fn roll(&mut self, span: Span) -> Span {
        self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sides = span.as_micros().saturating_add(1);
        Span::from_micros((self.dice >> 33) % sides)
    }

    /// Discord says something.
    pub(super) fn discord_says(&mut self, sock: Sock, down: Down) {
        self.after(self.distances.discord, Event::Heard(sock, down));
    }

    /// A bot does something towards tidegate.
    pub(super) fn tell_tide(&mut self, sock: u64, up: Up) {
        self.after(self.distances.tide, Event::AtTide(sock, up));
    }

    /// tidegate says something to a bot.
    pub(super) fn tell_bot(&mut self, sock: u64, down: Down) {
        self.after(self.distances.tide, Event::Heard(Sock::Bot(sock), down));
    }
}
