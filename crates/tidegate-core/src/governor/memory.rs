//! What outlives a peer: which groups have topics, which chats have another id by now, when to forget the rest.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::key::Peer;
use crate::time::{Span, Time};

/// Groups known to have topics, and ids known to have moved: at most so many, the longest unused out.
const MOST: usize = 100_000;

/// A bounded map that forgets what was set the longest ago.
#[derive(Debug)]
pub(super) struct Recent<V> {
    map: HashMap<Peer, (V, u64), FixedState>,
    order: VecDeque<(Peer, u64)>,
    clock: u64,
    most: usize,
}

impl<V> Recent<V> {
    pub(super) fn new() -> Self {
        Self::holding(MOST)
    }

    pub(super) fn holding(most: usize) -> Self {
        Self { map: HashMap::with_hasher(FixedState::with_seed(2)), order: VecDeque::new(), clock: 0, most }
    }

    pub(super) fn get(&self, peer: &Peer) -> Option<&V> {
        if self.map.is_empty() { None } else { self.map.get(peer).map(|(value, _)| value) }
    }

    pub(super) fn set(&mut self, peer: &Peer, value: V) {
        self.clock += 1;
        self.map.insert(peer.clone(), (value, self.clock));
        self.order.push_back((peer.clone(), self.clock));
        while self.map.len() > self.most || self.order.len() > 2 * self.map.len() + 64 {
            let Some((oldest, clock)) = self.order.pop_front() else { break };
            if self.map.get(&oldest).is_some_and(|(_, set)| *set == clock) {
                if self.map.len() > self.most {
                    self.map.remove(&oldest);
                } else {
                    self.order.push_back((oldest, clock));
                }
            }
        }
    }

    pub(super) fn take(&mut self, peer: &Peer) -> Option<V> {
        self.map.remove(peer).map(|(value, _)| value)
    }
}

/// When each peer is to be looked at whether it can be forgotten. Each stands in one slot of a second.
#[derive(Debug)]
pub(super) struct Wheel {
    slots: VecDeque<Vec<u32>>,
    /// The second of the first slot.
    first: u64,
    /// When that slot is due; never where there is none.
    due_at: Time,
    /// When the first slot is due in which a peer stands.
    next_at: Time,
    /// The rooms of slots that were cleared, for the next that are filled.
    spare: Vec<Vec<u32>>,
}

impl Wheel {
    /// Peers that will be fresh later than this are looked at now and then.
    const SLOTS: u64 = 128;
    /// So many rooms are kept,
    const SPARE: usize = 8;
    /// none larger than this.
    const SPARE_ROOM: usize = 16_384;

    pub(super) fn new() -> Self {
        Self { slots: VecDeque::new(), first: 0, due_at: Time::NEVER, next_at: Time::NEVER, spare: Vec::new() }
    }

    /// Puts a peer in; answers the mark of its slot.
    pub(super) fn insert(&mut self, now: Time, at: Time, peer: u32) -> u32 {
        let second = now.as_micros() / 1_000_000;
        if self.slots.is_empty() {
            self.start(second);
        }
        let wanted = at.as_micros().div_ceil(1_000_000).clamp(second + 1, second + Self::SLOTS);
        let slot = usize::try_from(wanted.saturating_sub(self.first)).unwrap_or(usize::MAX);
        while self.slots.len() <= slot {
            self.slots.push_back(Vec::new());
        }
        let peers = &mut self.slots[slot];
        if peers.capacity() == 0 {
            *peers = self.spare.pop().unwrap_or_default();
        }
        peers.push(peer);
        self.next_at = self.next_at.min(moment(wanted));
        mark(wanted)
    }

    fn start(&mut self, second: u64) {
        self.first = second;
        self.due_at = moment(second);
    }

    /// Whether slots have come up that are not cleared yet.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.due_at <= now
    }

    /// One peer that is due, with the mark of the slot that it stood in.
    pub(super) fn due(&mut self, now: Time) -> Option<(u32, u32)> {
        while self.due_at <= now {
            let Some(slot) = self.slots.front_mut() else {
                self.due_at = Time::NEVER;
                return None;
            };
            if let Some(peer) = slot.pop() {
                if slot.is_empty() {
                    self.next_at = self.first_filled();
                }
                return Some((peer, mark(self.first)));
            }
            let cleared = self.slots.pop_front().unwrap_or_default();
            if self.spare.len() < Self::SPARE && (1..=Self::SPARE_ROOM).contains(&cleared.capacity()) {
                self.spare.push(cleared);
            }
            self.start(self.first + 1);
        }
        None
    }

    /// When the next peer is due; never where there is none.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next_at
    }

    fn first_filled(&self) -> Time {
        let at = self.slots.iter().position(|slot| !slot.is_empty());
        at.map_or(Time::NEVER, |at| moment(self.first + at as u64))
    }
}

/// When that second begins.
fn moment(second: u64) -> Time {
    Time::ZERO + Span::from_secs(second)
}

/// The second of a slot, counted round.
#[expect(clippy::cast_possible_truncation, reason = "slots of the same mark are 136 years apart")]
fn mark(second: u64) -> u32 {
    second as u32
}

impl Recent<Peer> {
    /// Whoever pointed to `from` points to `to`.
    pub(super) fn redirect(&mut self, from: &Peer, to: &Peer) {
        let pointing: Vec<Peer> =
            self.order.iter().map(|(peer, _)| peer).filter(|peer| self.get(peer) == Some(from)).cloned().collect();
        for peer in pointing {
            self.set(&peer, to.clone());
        }
    }
}
