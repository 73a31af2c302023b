//! The callers' numbers of writes that are held or in flight.

use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::io::Ticket;

/// A table with no more room than this keeps it.
const KEPT: usize = 1_024;

/// Where each ticket's write stands.
#[derive(Debug)]
pub(super) struct Tickets {
    table: HashTable<(Ticket, u32)>,
    hasher: FixedState,
}

impl Tickets {
    pub(super) fn new() -> Self {
        Self { table: HashTable::new(), hasher: FixedState::with_seed(3) }
    }

    #[inline]
    pub(super) fn get(&self, ticket: Ticket) -> Option<u32> {
        let found = self.table.find(self.hasher.hash_one(ticket.0), |(other, _)| *other == ticket);
        found.map(|(_, id)| *id)
    }

    /// Adds one that is not in.
    #[inline]
    pub(super) fn add(&mut self, ticket: Ticket, id: u32) {
        let hasher = &self.hasher;
        self.table.insert_unique(hasher.hash_one(ticket.0), (ticket, id), |(other, _)| hasher.hash_one(other.0));
    }

    #[inline]
    pub(super) fn remove(&mut self, ticket: Ticket) {
        if let Ok(entry) = self.table.find_entry(self.hasher.hash_one(ticket.0), |(other, _)| *other == ticket) {
            entry.remove();
        }
    }

    /// Gives memory back that a rush took.
    pub(super) fn shrink(&mut self) {
        if self.table.capacity() > KEPT && self.table.len() < self.table.capacity() / 4 {
            let hasher = &self.hasher;
            self.table.shrink_to(2 * self.table.len(), |(other, _)| hasher.hash_one(other.0));
        }
    }
}
