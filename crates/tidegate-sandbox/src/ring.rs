//! A log with a bound: the oldest entry goes first, and the numbers go on.

use std::collections::VecDeque;

#[derive(Default)]
pub(crate) struct Ring<E> {
    max: usize,
    seq: u64,
    entries: VecDeque<E>,
}

impl<E> Ring<E> {
    pub(crate) fn new(max: usize) -> Self {
        Self { max: max.max(1), seq: 0, entries: VecDeque::new() }
    }

    /// An empty one whose numbers go on where another ended.
    pub(crate) fn after(old: &Self) -> Self {
        Self { seq: old.seq, ..Self::new(old.max) }
    }

    /// Adds the entry that `make` builds with its number, which counts up from 1.
    pub(crate) fn push(&mut self, make: impl FnOnce(u64) -> E) {
        self.seq += 1;
        if self.entries.len() >= self.max {
            self.entries.pop_front();
        }
        self.entries.push_back(make(self.seq));
    }

    pub(crate) fn entries(&self) -> &VecDeque<E> {
        &self.entries
    }
}
