//! What is told from the texts sent to a chat: whether they come in order, how often, and by which number each is known.

use std::collections::VecDeque;

use serde::Serialize;

/// Markers of one chat that are remembered to tell a message sent twice.
const MARKERS_MAX: usize = 256;
/// Characters of a text that a log keeps.
const TEXT_MAX: usize = 96;

/// What came through to one chat.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) units: u64,
    pub(crate) order: Order,
    pub(crate) edit_inversions: u64,
    pub(crate) gap: Gaps,
}

impl Flow {
    pub(crate) fn summary(&self) -> FlowStats {
        FlowStats {
            units: self.units,
            inversions: self.order.inversions,
            duplicates: self.order.duplicates,
            edit_inversions: self.edit_inversions,
            gap: self.gap.summary(),
        }
    }
}

/// Figures of what came through to one chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlowStats {
    /// Messages sent and edits made.
    pub units: u64,
    /// Accepted sends whose marker (`#12`) is lower than one accepted before.
    pub inversions: u64,
    /// Accepted sends whose marker was accepted before (of the last 256 markers).
    pub duplicates: u64,
    /// Accepted edits whose marker is lower than the one that stood in that message.
    pub edit_inversions: u64,
    /// Delays between accepted sends and edits.
    pub gap: GapStats,
}

/// Whether the markers (`#12`) of what was sent to a chat come in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    highest: Option<u64>,
    seen: VecDeque<u64>,
    pub(crate) inversions: u64,
    pub(crate) duplicates: u64,
}

impl Order {
    pub(crate) fn see(&mut self, marker: u64) {
        if self.seen.contains(&marker) {
            self.duplicates += 1;
            return;
        }
        if self.highest.is_some_and(|highest| marker < highest) {
            self.inversions += 1;
        }
        self.highest = self.highest.max(Some(marker));
        if self.seen.len() >= MARKERS_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back(marker);
    }
}

/// Time between two accepted sends or edits of a chat.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    first_us: Option<u64>,
    last_us: u64,
    count: u64,
    min_us: u64,
    max_us: u64,
}

impl Gaps {
    pub(crate) fn see(&mut self, now_us: u64) {
        if self.first_us.is_some() {
            let gap_us = now_us.saturating_sub(self.last_us);
            self.min_us = if self.count == 0 { gap_us } else { self.min_us.min(gap_us) };
            self.max_us = self.max_us.max(gap_us);
            self.count += 1;
        } else {
            self.first_us = Some(now_us);
        }
        self.last_us = now_us;
    }

    pub(crate) fn summary(&self) -> GapStats {
        let whole_us = self.last_us.saturating_sub(self.first_us.unwrap_or(self.last_us));
        GapStats {
            count: self.count,
            min_ms: self.min_us / 1000,
            mean_ms: whole_us.checked_div(self.count).unwrap_or(0) / 1000,
            max_ms: self.max_us / 1000,
        }
    }
}

/// Delays from one accepted send or edit of a chat to the next, platform time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GapStats {
    /// Gaps seen: one less than the accepted calls.
    pub count: u64,
    /// Shortest.
    pub min_ms: u64,
    /// Mean.
    pub mean_ms: u64,
    /// Longest.
    pub max_ms: u64,
}

/// The beginning of a text, cut at a character.
pub(crate) fn beginning(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// The number of the first `#123` in a text.
pub(crate) fn marker(text: &str) -> Option<u64> {
    text.split('#').skip(1).find_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest.get(..digits)?.parse().ok()
    })
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
