//! Nothing is lost: every write that was taken in is somewhere.

use std::collections::BTreeMap;

use tidegate_core::governor::{Class, Count, Counted};

use super::Judge;
use super::write::{End, State, Write};

/// The parts whose sum is what was accepted, and that sum.
const COMPARED: [Counted; 9] = [
    Counted::Accepted,
    Counted::Delivered,
    Counted::Failed,
    Counted::Superseded,
    Counted::Dropped,
    Counted::Refused,
    Counted::Cancelled,
    Counted::Held,
    Counted::InFlight,
];

impl Judge {
    /// The governor's counters say what happened, write by write.
    pub(crate) fn counters_match(&self, counts: &[Count]) {
        let key = |surface: &str, class: Class, what: Counted| format!("{surface}/{}/{}", class.name(), what.name());
        let mut own: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for write in self.writes.values().filter(|write| !write.uncounted) {
            for what in [Counted::Accepted, now(write)] {
                let (least, most) = own.entry(key(write.surface.name(), write.class, what)).or_default();
                *least += u64::from(!write.maybe_uncounted);
                *most += 1;
            }
        }
        for count in counts.iter().filter(|count| COMPARED.contains(&count.what)) {
            let (least, most) = own.remove(&key(&count.surface, count.class, count.what)).unwrap_or_default();
            assert!((least..=most).contains(&count.count), "{count:?} at {:?}, where {least} to {most} were", self.now);
        }
        own.retain(|_, (least, _)| *least > 0);
        assert!(own.is_empty(), "not counted at {:?}: {own:?}", self.now);
    }
}

/// Where a write is.
fn now(write: &Write) -> Counted {
    match (write.end, write.state) {
        (Some(End::Delivered), _) => Counted::Delivered,
        (Some(End::Failed), _) => Counted::Failed,
        (Some(End::Superseded), _) => Counted::Superseded,
        (Some(End::Dropped), _) => Counted::Dropped,
        (Some(End::Refused), _) => Counted::Refused,
        (Some(End::Cancelled), _) => Counted::Cancelled,
        (None, State::Held) => Counted::Held,
        (None, State::InFlight) => Counted::InFlight,
    }
}
