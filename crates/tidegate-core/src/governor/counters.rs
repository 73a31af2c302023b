//! What happened to writes: surface × class × outcome. No counter is named by hand, so none can be left out of a sum.

use alloc::vec::Vec;

use super::io::{Class, Count};
pub use crate::counted::Counted;
use crate::policy::{Policy, RowId};

pub(super) type Cell = [u64; Counted::ALL.len()];

/// The counters of one governor (or of one peer in a summary).
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    cells: Vec<[Cell; Class::ALL.len()]>,
}

impl Counters {
    pub(super) fn of(policy: &Policy) -> Self {
        Self { cells: policy.rows.iter().map(|_| Default::default()).collect() }
    }

    /// All that is counted of one class of one surface, by [`Counted`].
    #[inline]
    pub(super) fn cell(&mut self, row: RowId, class: Class) -> Option<&mut Cell> {
        self.cells.get_mut(usize::from(row.0)).map(|classes| &mut classes[class as usize])
    }

    #[inline]
    pub(super) fn add(&mut self, row: RowId, class: Class, what: Counted) {
        if let Some(cell) = self.cell(row, class) {
            cell[what as usize] += 1;
        }
    }

    #[inline]
    pub(super) fn sub(&mut self, row: RowId, class: Class, what: Counted) {
        if let Some(cell) = self.cell(row, class) {
            debug_assert!(cell[what as usize] > 0, "a level below zero");
            cell[what as usize] = cell[what as usize].saturating_sub(1);
        }
    }

    /// Whether every write that was taken in is accounted for.
    pub(super) fn balanced(&self) -> bool {
        use Counted::{Accepted, Cancelled, Delivered, Dropped, Failed, Held, InFlight, Refused, Superseded};
        let parts = [Delivered, Failed, Superseded, Dropped, Refused, Cancelled, Held, InFlight];
        self.cells
            .iter()
            .flatten()
            .all(|cell| cell[Accepted as usize] == parts.iter().map(|part| cell[*part as usize]).sum::<u64>())
    }

    /// Rows have other places from now on.
    pub(super) fn rename(&mut self, policy: &Policy, find: &impl Fn(RowId) -> RowId) {
        let old = core::mem::replace(self, Self::of(policy));
        for (classes, at) in old.cells.into_iter().zip(0_u8..) {
            let to = usize::from(find(RowId(at)).0);
            for (mine, theirs) in self.cells[to].iter_mut().flatten().zip(classes.iter().flatten()) {
                *mine += theirs;
            }
        }
    }

    /// All that are not zero, in table order.
    pub(super) fn list(&self, policy: &Policy) -> Vec<Count> {
        let mut list = Vec::new();
        for (row, classes) in policy.rows.iter().zip(&self.cells) {
            for class in Class::ALL {
                for what in Counted::ALL {
                    let count = classes[class as usize][what as usize];
                    if count > 0 {
                        list.push(Count { surface: row.name.clone(), class, what, count });
                    }
                }
            }
        }
        list
    }
}
