//! The callers' numbers of writes that are held or in flight.

use super::io::Ticket;
use super::write::NONE;
use crate::table::{Entry, Table};

/// A table with no more places than this keeps them.
const KEPT: usize = 1_024;

/// Where each ticket's write stands.
#[derive(Debug)]
pub(super) struct Tickets {
    table: Table<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    ticket: Ticket,
    /// [`NONE`] where no ticket stands.
    write: u32,
}

impl Entry for Place {
    const FREE: Self = Self { ticket: Ticket(0), write: NONE };

    #[inline]
    fn is_free(self) -> bool {
        self.write == NONE
    }
}

impl Tickets {
    pub(super) fn new() -> Self {
        Self { table: Table::new() }
    }

    #[inline]
    pub(super) fn get(&self, ticket: Ticket) -> Option<u32> {
        self.table.find(hash(ticket), |place| place.ticket == ticket).map(|place| place.write)
    }

    /// Adds one that is not in.
    #[inline]
    pub(super) fn add(&mut self, ticket: Ticket, write: u32) {
        self.table.insert(hash(ticket), Place { ticket, write }, |place| hash(place.ticket));
    }

    #[inline]
    pub(super) fn remove(&mut self, ticket: Ticket) {
        self.table.remove(hash(ticket), |place| place.ticket == ticket, |place| hash(place.ticket));
    }

    /// Gives memory back that a rush took.
    pub(super) fn shrink(&mut self) {
        self.table.shrink(KEPT, |place| hash(place.ticket));
    }
}

/// Numbers that follow one another stand far apart: multiples of the golden ratio.
#[inline]
fn hash(ticket: Ticket) -> u64 {
    ticket.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
