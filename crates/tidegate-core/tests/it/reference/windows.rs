//! No window is exceeded, whichever way it is laid.

use tidegate_core::governor::{Class, Outcome};
use tidegate_core::{Span, Time};

use super::Judge;
use super::limits::{Window, windows};
use super::write::{Release, Write};

impl Judge {
    /// A unit stands from its release until a period after its answer. A release that never exceeds what stands then
    /// exceeds no window of that length, wherever between release and answer each write reached the platform.
    pub(super) fn windows_hold(&self, write: &Write) {
        for window in windows(self.table, write) {
            let reserve = if write.class == Class::Interactive { window.reserve } else { 0 };
            let standing = self.standing(&window, write, self.now, Span::ZERO);
            assert!(
                standing <= window.units + reserve,
                "{standing} units stand in {} at {:?} with {write:?}",
                window.name,
                self.now
            );
        }
    }

    /// All units that stand in the window that this write takes from, each `longer` than it must.
    pub(super) fn standing(&self, window: &Window, like: &Write, now: Time, longer: Span) -> u32 {
        let same = |other: &&Write| {
            let takes = windows(self.table, other).iter().any(|of| of.name == window.name);
            takes && (!window.of_peer || other.peer == like.peer)
        };
        let of = |other: &Write| other.releases.iter().map(|one| units(window, other, one, now, longer)).sum::<u32>();
        self.writes.values().filter(same).map(of).sum()
    }
}

/// What one release has standing: of a weight over the limit, a limit's worth a period.
fn units(window: &Window, write: &Write, release: &Release, now: Time, longer: Span) -> u32 {
    if release.taken_back || release.outcome == Outcome::Bypass || release.at > now {
        return 0;
    }
    // What is not answered counts as though it was after 60 s.
    let answered = release.answered.unwrap_or(release.at + Span::from_secs(60));
    let mut end = answered.min(now) + window.period + longer;
    let mut left = write.weight;
    while left > window.units && now >= end {
        left -= window.units;
        end += window.period;
    }
    if now < end { left.min(window.units) } else { 0 }
}
