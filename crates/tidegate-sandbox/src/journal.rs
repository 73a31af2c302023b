//! What happened, for any platform: figures in all, by name and by status, and a log with a bound.

use std::collections::{BTreeMap, VecDeque};

/// One call of a log.
pub(crate) trait Entry: Sized {
    /// Figures of some calls.
    type Tally: Default;

    fn status(&self) -> u16;
    /// The method or route by which figures are kept.
    fn name(&self) -> &str;
    fn count(&self, tally: &mut Self::Tally);
    fn numbered(self, seq: u64) -> Self;
}

pub(crate) struct Journal<E: Entry> {
    log_max: usize,
    seq: u64,
    log: VecDeque<E>,
    pub(crate) total: E::Tally,
    pub(crate) by_name: BTreeMap<String, E::Tally>,
    pub(crate) by_status: BTreeMap<u16, u64>,
}

impl<E: Entry> Journal<E> {
    /// Unknown names must not fill the table.
    const NAMES_MAX: usize = 512;

    pub(crate) fn new(log_max: usize) -> Self {
        Self {
            log_max: log_max.max(1),
            seq: 0,
            log: VecDeque::new(),
            total: E::Tally::default(),
            by_name: BTreeMap::new(),
            by_status: BTreeMap::new(),
        }
    }

    /// An empty one whose numbers go on where another ended.
    pub(crate) fn after(old: &Self) -> Self {
        Self { seq: old.seq, ..Self::new(old.log_max) }
    }

    pub(crate) fn record(&mut self, entry: E) {
        entry.count(&mut self.total);
        *self.by_status.entry(entry.status()).or_default() += 1;
        if self.by_name.len() < Self::NAMES_MAX || self.by_name.contains_key(entry.name()) {
            entry.count(self.by_name.entry(entry.name().to_owned()).or_default());
        }
        if self.log.len() >= self.log_max {
            self.log.pop_front();
        }
        self.seq += 1;
        self.log.push_back(entry.numbered(self.seq));
    }

    /// Oldest first.
    pub(crate) fn log(&self) -> &VecDeque<E> {
        &self.log
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
