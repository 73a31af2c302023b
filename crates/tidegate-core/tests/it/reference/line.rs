//! Order is kept within ordered rows.

use super::Judge;
use super::write::Write;

impl Judge {
    /// At most one ordered write of a peer in flight, and none before one of its class that came earlier.
    pub(super) fn order_is_kept(&self, write: &Write) {
        if !write.surface.is_ordered() {
            return;
        }
        let others = || {
            let same =
                |other: &&Write| other.ticket != write.ticket && other.surface.is_ordered() && other.peer == write.peer;
            self.writes.values().filter(same)
        };
        for other in others() {
            assert!(!other.blocks(self.now), "{write:?} left beside {other:?}");
        }
        // Somebody who came back as told goes before those who did not wait to be told.
        if others().any(|other| other.booked) || write.booked {
            return;
        }
        for other in others() {
            let earlier = other.class.rank() == write.class.rank() && other.ticket < write.ticket;
            assert!(!(earlier && other.is_held()), "{write:?} left before {other:?}");
        }
    }
}
