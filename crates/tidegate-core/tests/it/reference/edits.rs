//! The newest edit wins, and nothing comes after a final.

use tidegate_core::Span;
use tidegate_core::governor::Class;

use super::Judge;
use super::write::Write;

impl Judge {
    /// An older edit is never sent after a newer, nor beside one in flight.
    pub(super) fn newest_wins(&self, write: &Write) {
        let Some(key) = write.edit_key() else { return };
        for other in self.writes.values().filter(|other| other.ticket != write.ticket) {
            if other.edit_key().as_ref() != Some(&key) {
                continue;
            }
            let left = !other.releases.is_empty();
            assert!(!(left && other.ticket > write.ticket), "{write:?} left after the newer {other:?}");
            let paced = [write, other].iter().all(|write| write.releases.iter().all(|release| release.paced));
            assert!(!(paced && other.blocks(self.now)), "{write:?} left beside {other:?}");
        }
    }

    /// At most one edit of a message is held: the newest.
    pub(super) fn one_held_edit_a_message(&self) {
        let held: Vec<&Write> =
            self.writes.values().filter(|write| write.is_held() && write.edit_key().is_some()).collect();
        for (at, write) in held.iter().enumerate() {
            let other = held[..at].iter().find(|other| other.edit_key() == write.edit_key());
            assert!(other.is_none(), "{write:?} is held beside {other:?}");
        }
    }

    /// Chrome gives way to a named final that is held, in flight, or delivered less than two seconds ago.
    pub(super) fn finals_are_guarded(&self, write: &Write) {
        if !write.class.is_chrome() || write.surface != super::Surface::Edit {
            return;
        }
        for other in self.writes.values() {
            let named_final = other.surface == super::Surface::Edit && other.named && other.class == Class::Final;
            let same = other.peer == write.peer && other.message == write.message;
            let paced = other.releases.iter().all(|release| release.paced);
            let fresh = other.delivered.is_some_and(|at| self.now.since(at) < Span::from_secs(2));
            assert!(
                !(named_final && same && paced && (fresh || other.end.is_none())),
                "{write:?} left beside {other:?}"
            );
        }
    }
}
