//! Keeping a new write.
#![expect(clippy::inline_always, reason = "every write takes this path, once")]

use super::io::{Class, Write};
use super::plan::Reach;
use super::state::State;
use super::write::{NONE, Paced, Stage, WriteState};
use crate::policy::{MaxHold, PastHold, Row};
use crate::time::{Span, Time};

/// No client may ask to be held for longer.
const MAX_HOLD: Span = Span::from_secs(600);
/// A write that makes more messages counts as this many.
const WEIGHT_MAX: u32 = 10_000;

impl State {
    /// Keeps a write without its peer.
    #[inline(never)]
    pub(super) fn store_apart(&mut self, row: &Row, write: &mut Write, paced: Paced) -> u32 {
        self.store(row, write, NONE, paced, Reach::Loose)
    }

    /// Keeps a write, held for now.
    #[inline(always)]
    pub(super) fn store(&mut self, row: &Row, write: &mut Write, peer: u32, paced: Paced, reach: Reach) -> u32 {
        let class = write.class.unwrap_or(row.default_class);
        let (limit, past) = hold_limit(row, class, write);
        self.seq += 1;
        let ticket = write.ticket;
        let id = self.writes.insert(WriteState {
            ticket,
            origin: write.row,
            row: write.row,
            class,
            rank: class.rank(),
            named: write.class.is_some(),
            paced,
            reach,
            method: write.method,
            peer,
            loose: None,
            wider: write.wider,
            thread: write.thread,
            message: write.message,
            weight: if row.weight_items { write.weight.clamp(1, WEIGHT_MAX) } else { 1 },
            fields: core::mem::take(&mut write.fields),
            arrived: self.now,
            limit,
            past,
            seq: self.seq,
            stage: Stage::Held,
            superseded: false,
            left: false,
            chained: false,
            older: NONE,
            newer: NONE,
            settles_at: None,
            staged: false,
            shadowed: false,
            waited: false,
            bot_since: None,
            retry_at: Time::ZERO,
            overtaken: false,
            gave_back: false,
            refusals: 0,
            failures: 0,
            charged: 0,
            stamped: 0,
            next: NONE,
            previous: NONE,
        });
        self.tickets.add(ticket, id);
        id
    }
}

/// How long a write may be held, and what happens then.
fn hold_limit(row: &Row, class: Class, write: &Write) -> (Span, PastHold) {
    let cell = row.cell(class);
    let rows = match cell.max_hold {
        MaxHold::Auto => write.auto_hold.unwrap_or(row.auto_hold),
        MaxHold::For(span) => span,
        MaxHold::Unlimited => Span::MAX,
    };
    match write.max_hold.map(|own| own.min(MAX_HOLD)) {
        None => (rows, cell.past_hold),
        Some(own) if own < rows => (own, PastHold::Refuse),
        Some(own) => (own, cell.past_hold),
    }
}
