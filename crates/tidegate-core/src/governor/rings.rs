//! The bot's buckets, and who gets of them next: two rings of peers, so that a busy peer never starves a quiet one.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::io::Class;
use crate::bucket::Token;
use crate::time::Time;
use crate::window::Window;

/// After so many turns of the first ring the second has one.
const TURNS: u32 = 3;

/// One bucket of the bot with the peers that wait for it alone.
#[derive(Debug)]
pub(super) struct Bot {
    pub(super) token: Token,
    pub(super) window: Window,
    /// The first for interactive, final and send; the second for the rest.
    rings: [VecDeque<(u32, u64)>; 2],
    places: HashMap<u32, Place, FixedState>,
    stamp: u64,
    /// Turns of the first ring while the second waited.
    turns: u32,
    /// When whoever has the turn can go.
    pub(super) wake: Time,
    /// The last release without a token because the wait was too long.
    pub(super) last_pass: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    ring: usize,
    stamp: u64,
}

impl Bot {
    pub(super) fn new() -> Self {
        Self {
            token: Token::default(),
            window: Window::default(),
            rings: [VecDeque::new(), VecDeque::new()],
            places: HashMap::with_hasher(FixedState::with_seed(1)),
            stamp: 0,
            turns: 0,
            wake: Time::NEVER,
            last_pass: None,
        }
    }

    #[inline]
    pub(super) fn nobody_waits(&self) -> bool {
        self.places.is_empty()
    }

    /// Somebody waits, and it is time to see whether there is enough, or nobody said when it will be.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        !self.nobody_waits() && (self.wake <= now || self.wake == Time::NEVER)
    }

    /// When it is to be looked at; never where nobody waits.
    #[inline]
    pub(super) fn wakes_at(&self) -> Time {
        if self.nobody_waits() { Time::NEVER } else { self.wake }
    }

    pub(super) fn waits(&self, peer: u32) -> bool {
        self.places.contains_key(&peer)
    }

    /// The peer joins at the tail of its class's ring; where it stands in that ring already, it stays.
    pub(super) fn join(&mut self, peer: u32, class: Class) {
        let ring = usize::from(class.is_chrome());
        if self.places.get(&peer).is_some_and(|place| place.ring == ring) {
            return;
        }
        self.stamp += 1;
        self.places.insert(peer, Place { ring, stamp: self.stamp });
        if self.rings[ring].len() > 2 * self.places.len() + 64 {
            let places = &self.places;
            self.rings[ring].retain(|(peer, stamp)| places.get(peer).is_some_and(|place| place.stamp == *stamp));
        }
        self.rings[ring].push_back((peer, self.stamp));
    }

    pub(super) fn leave(&mut self, peer: u32) {
        self.places.remove(&peer);
        // Whoever is next may need less than the one that had the turn.
        self.wake = Time::ZERO;
        if self.places.is_empty() {
            self.rings.iter_mut().for_each(VecDeque::clear);
            self.turns = 0;
        }
    }

    /// The peer whose turn it is, and its ring.
    pub(super) fn turn(&mut self) -> Option<(u32, usize)> {
        for at in 0..2 {
            while self.rings[at].front().is_some_and(|entry| !self.valid(at, *entry)) {
                self.rings[at].pop_front();
            }
        }
        let ring = Self::next_ring(self.turns, [!self.rings[0].is_empty(), !self.rings[1].is_empty()])?;
        self.rings[ring].front().map(|(peer, _)| (*peer, ring))
    }

    /// Takes the peer whose turn it is out of its ring.
    pub(super) fn take_turn(&mut self) -> Option<(u32, usize)> {
        let (peer, ring) = self.turn()?;
        self.rings[ring].pop_front();
        self.places.remove(&peer);
        Some((peer, ring))
    }

    /// The peer keeps its turn until there is enough for it.
    pub(super) fn keep_turn(&mut self, peer: u32, ring: usize) {
        self.stamp += 1;
        self.places.insert(peer, Place { ring, stamp: self.stamp });
        self.rings[ring].push_front((peer, self.stamp));
    }

    /// A turn of that ring was used.
    pub(super) fn used(&mut self, ring: usize) {
        let second_waits = self.rings[1].iter().any(|entry| self.valid(1, *entry));
        self.turns = Self::turns_after(self.turns, ring, second_waits);
    }

    /// Turns of the first ring while the second waited.
    pub(super) fn turns(&self) -> u32 {
        self.turns
    }

    /// The ring that has the next turn, by whether anybody waits in each.
    pub(super) fn next_ring(turns: u32, waits: [bool; 2]) -> Option<usize> {
        match waits {
            [true, true] => Some(usize::from(turns >= TURNS)),
            [true, false] => Some(0),
            [false, true] => Some(1),
            [false, false] => None,
        }
    }

    /// The turns of the first ring after one of that ring was used.
    pub(super) fn turns_after(turns: u32, ring: usize, second_waits: bool) -> u32 {
        if ring == 0 && second_waits { turns + 1 } else { 0 }
    }

    fn valid(&self, ring: usize, (peer, stamp): (u32, u64)) -> bool {
        self.places.get(&peer).is_some_and(|place| place.ring == ring && place.stamp == stamp)
    }

    /// The peers of each ring in the order of their turns.
    pub(super) fn waiting(&self) -> [Vec<u32>; 2] {
        [0, 1].map(|ring| {
            let valid = self.rings[ring].iter().filter(|entry| self.valid(ring, **entry));
            valid.map(|(peer, _)| *peer).collect()
        })
    }
}
