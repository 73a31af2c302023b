//! What happened to writes: surface × class × outcome. No counter is named by hand, so none can be left out of a sum.

use alloc::vec::Vec;

use super::io::{Class, Count};
use crate::policy::{Policy, RowId};

/// What is counted of a write. All but the first four are ends; the last two are levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Counted {
    /// Taken in.
    Accepted,
    /// Released by its tokens, at once or after waiting.
    Admitted,
    /// Released without a token as its row allows.
    Passed,
    /// Released without a token past its hold limit.
    FailedOpen,
    /// The platform took it.
    Delivered,
    /// The platform never will, or was tried often enough.
    Failed,
    /// A newer one took its place.
    Superseded,
    /// Dropped as its row allows.
    Dropped,
    /// The client was told to come back.
    Refused,
    /// Its client left.
    Cancelled,
    /// Waiting now.
    Held,
    /// Released and not answered yet.
    InFlight,
}

impl Counted {
    /// All of them, in the order of their names here.
    pub const ALL: [Self; 12] = [
        Self::Accepted,
        Self::Admitted,
        Self::Passed,
        Self::FailedOpen,
        Self::Delivered,
        Self::Failed,
        Self::Superseded,
        Self::Dropped,
        Self::Refused,
        Self::Cancelled,
        Self::Held,
        Self::InFlight,
    ];

    /// The name in metrics and replays.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Admitted => "admitted",
            Self::Passed => "passed",
            Self::FailedOpen => "failed_open",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::InFlight => "in_flight",
        }
    }
}

type Cell = [u64; Counted::ALL.len()];

/// The counters of one governor (or of one peer in a summary).
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    cells: Vec<[Cell; Class::ALL.len()]>,
}

impl Counters {
    pub(super) fn add(&mut self, row: RowId, class: Class, what: Counted) {
        let at = usize::from(row.0);
        if self.cells.len() <= at {
            self.cells.resize(at + 1, Default::default());
        }
        self.cells[at][class as usize][what as usize] += 1;
    }

    pub(super) fn sub(&mut self, row: RowId, class: Class, what: Counted) {
        debug_assert!(self.get(row, class, what) > 0, "a level below zero");
        if let Some(cell) = self.cells.get_mut(usize::from(row.0)) {
            let count = &mut cell[class as usize][what as usize];
            *count = count.saturating_sub(1);
        }
    }

    fn get(&self, row: RowId, class: Class, what: Counted) -> u64 {
        self.cells.get(usize::from(row.0)).map_or(0, |cell| cell[class as usize][what as usize])
    }

    /// The sum of one kind over all surfaces and classes.
    pub(super) fn sum(&self, what: Counted) -> u64 {
        self.cells.iter().flatten().map(|cell| cell[what as usize]).sum()
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
    pub(super) fn rename(&mut self, find: &impl Fn(RowId) -> RowId) {
        let old = core::mem::take(&mut self.cells);
        for (classes, at) in old.into_iter().zip(0_u8..) {
            let to = usize::from(find(RowId(at)).0);
            if self.cells.len() <= to {
                self.cells.resize(to + 1, Default::default());
            }
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
