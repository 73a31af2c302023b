//! Connections that reach READY or RESUMED and end before they are stable.

use alloc::vec::Vec;

use super::io::End;

/// So many in a row are told.
const TOLD_AFTER: usize = 3;

#[derive(Clone, Debug, Default)]
pub(super) struct Instability {
    /// Fewer than [`TOLD_AFTER`].
    ends: Vec<End>,
}

impl Instability {
    /// One more; the ends so far, counted, where they are enough to be told.
    pub(super) fn ended(&mut self, end: End) -> Option<Vec<(End, u32)>> {
        self.ends.push(end);
        if self.ends.len() < TOLD_AFTER {
            return None;
        }
        let mut counted: Vec<(End, u32)> = Vec::new();
        for end in self.ends.drain(..) {
            match counted.iter_mut().find(|(known, _)| *known == end) {
                Some((_, count)) => *count += 1,
                None => counted.push((end, 1)),
            }
        }
        Some(counted)
    }

    pub(super) fn reset(&mut self) {
        self.ends.clear();
    }

    pub(super) fn is_bounded(&self) -> bool {
        self.ends.len() < TOLD_AFTER
    }
}
