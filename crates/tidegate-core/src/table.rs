//! A hash table in one piece of memory: an entry stands where its hash says or, where others stand, at the next free
//! place after that.
//!
//! One cache line tells of nearly every entry; a table that keeps marks apart from its entries needs two.
#![expect(clippy::inline_always, reason = "every write takes this path, several times")]

use alloc::vec;
use alloc::vec::Vec;

/// What a table holds.
pub(crate) trait Entry: Copy {
    /// What stands where nothing does.
    const FREE: Self;

    fn is_free(self) -> bool;
}

/// Entries by the upper bits of their hashes, which the caller counts.
#[derive(Debug)]
pub(crate) struct Table<E> {
    /// None, or a power of two of them, some of which are always free.
    places: Vec<E>,
    /// The bits of a hash that say nothing of a place.
    shift: u32,
    len: usize,
    /// So many are taken at most: beyond that, entries stand far from where their hashes say.
    most: usize,
}

/// The places of the smallest table that has any.
const LEAST: usize = 4;

impl<E: Entry> Table<E> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), shift: u64::BITS - 1, len: 0, most: 0 }
    }

    /// The entry of that hash that is it.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(E) -> bool) -> Option<E> {
        self.place(hash, is).map(|(_, entry)| entry)
    }

    #[inline(always)]
    fn place(&self, hash: u64, is: impl Fn(E) -> bool) -> Option<(usize, E)> {
        let mut at = self.home(hash);
        loop {
            // Out of reach where there are no places at all.
            let entry = *self.places.get(at)?;
            if entry.is_free() {
                return None;
            }
            if is(entry) {
                return Some((at, entry));
            }
            at = self.after(at);
        }
    }

    /// Adds one that is not in. `hash_of` is asked for the others' hashes where they have to move.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, entry: E, hash_of: impl Fn(E) -> u64) {
        if self.len == self.most {
            self.resize((2 * self.places.len()).max(LEAST), hash_of);
        }
        self.put(hash, entry);
        self.len += 1;
    }

    #[inline]
    fn put(&mut self, hash: u64, entry: E) {
        let mut at = self.home(hash);
        while let Some(place) = self.places.get_mut(at) {
            if place.is_free() {
                *place = entry;
                return;
            }
            at = self.after(at);
        }
    }

    /// Puts another entry of the same hash in the place of the one that is it, and returns that one.
    #[inline]
    pub(crate) fn replace(&mut self, hash: u64, is: impl Fn(E) -> bool, with: E) -> Option<E> {
        let (at, old) = self.place(hash, is)?;
        self.places[at] = with;
        Some(old)
    }

    /// Takes out the entry of that hash that is it, where there is one.
    #[inline]
    pub(crate) fn remove(&mut self, hash: u64, is: impl Fn(E) -> bool, hash_of: impl Fn(E) -> u64) {
        let Some((mut gap, _)) = self.place(hash, is) else { return };
        self.len -= 1;
        let mut at = self.after(gap);
        while !self.places[at].is_free() {
            // One that its own place is farther from than the gap moves up.
            let home = self.home(hash_of(self.places[at]));
            if self.steps(home, at) >= self.steps(gap, at) {
                self.places[gap] = self.places[at];
                gap = at;
            }
            at = self.after(at);
        }
        self.places[gap] = E::FREE;
    }

    /// Gives memory back where there are more than `kept` places, few of them taken.
    #[inline]
    pub(crate) fn shrink(&mut self, kept: usize, hash_of: impl Fn(E) -> u64) {
        if self.places.len() > kept && self.len < self.places.len() / 4 {
            self.resize((2 * self.len).next_power_of_two().max(LEAST), hash_of);
        }
    }

    #[inline(never)]
    fn resize(&mut self, places: usize, hash_of: impl Fn(E) -> u64) {
        let old = core::mem::replace(&mut self.places, vec![E::FREE; places]);
        self.shift = u64::BITS - places.trailing_zeros();
        self.most = most(places);
        for entry in old.into_iter().filter(|entry| !entry.is_free()) {
            self.put(hash_of(entry), entry);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "no more bits are left than places have")]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    /// How far it is from one place on to another, round the end.
    fn steps(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.places.len() - 1)
    }
}

fn most(places: usize) -> usize {
    places / 16 * 13 + places % 16 * 13 / 16
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
