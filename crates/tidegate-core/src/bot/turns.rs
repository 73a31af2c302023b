//! Whose request the identify queue holds. It knows shards by their id alone, and two shards may have the same: of two
//! counts while a bot is resharded, or one of ours and one that asks over HTTP. They take turns.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

use super::io::ShardKey;
use crate::identify_queue::{GrantId, Shard};
use crate::time::Time;

/// Somebody who asks for an id's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claimant {
    /// A shard of ours.
    Ours(ShardKey),
    /// Somebody who asks over HTTP.
    Outside,
}

/// A grant that lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub(super) id: GrantId,
    lapses_at: Time,
}

/// From a request to the end of its grant, or of the request.
#[derive(Debug)]
struct Turn {
    holder: Claimant,
    loan: Option<Loan>,
    next: VecDeque<Claimant>,
}

/// The turns of all ids that are asked for. Each claimant stands in one of them once.
#[derive(Debug, Default)]
pub(super) struct Turns {
    by_id: BTreeMap<Shard, Turn>,
    lapses: BTreeSet<(Time, Shard)>,
}

impl Turns {
    /// Whether it is this claimant's turn: it asks, or asks again. Otherwise it is remembered.
    pub(super) fn claim(&mut self, id: Shard, claimant: Claimant) -> bool {
        let turn = self.by_id.entry(id).or_insert(Turn { holder: claimant, loan: None, next: VecDeque::new() });
        if turn.holder != claimant {
            if !turn.next.contains(&claimant) {
                turn.next.push_back(claimant);
            }
            return false;
        }
        if let Some(loan) = turn.loan.take() {
            self.lapses.remove(&(loan.lapses_at, id));
        }
        true
    }

    pub(super) fn holder(&self, id: Shard) -> Option<Claimant> {
        self.by_id.get(&id).map(|turn| turn.holder)
    }

    pub(super) fn loan(&self, id: Shard) -> Option<Loan> {
        self.by_id.get(&id)?.loan
    }

    /// The holder's request was granted.
    pub(super) fn granted(&mut self, id: Shard, grant: GrantId, lapses_at: Time) -> Claimant {
        let outside = Turn { holder: Claimant::Outside, loan: None, next: VecDeque::new() };
        let turn = self.by_id.entry(id).or_insert(outside);
        if let Some(old) = turn.loan.replace(Loan { id: grant, lapses_at }) {
            self.lapses.remove(&(old.lapses_at, id));
        }
        self.lapses.insert((lapses_at, id));
        turn.holder
    }

    /// The turn is over; whose turn it is now is to ask.
    pub(super) fn end(&mut self, id: Shard) -> Option<Claimant> {
        let turn = self.by_id.get_mut(&id)?;
        if let Some(loan) = turn.loan.take() {
            self.lapses.remove(&(loan.lapses_at, id));
        }
        if let Some(next) = turn.next.pop_front() {
            turn.holder = next;
            return Some(next);
        }
        self.by_id.remove(&id);
        None
    }

    /// The grant never left: the holder's request is in line again.
    pub(super) fn deferred(&mut self, id: Shard) {
        if let Some(turn) = self.by_id.get_mut(&id)
            && let Some(loan) = turn.loan.take()
        {
            self.lapses.remove(&(loan.lapses_at, id));
        }
    }

    /// Asks no more, where its turn had not come.
    pub(super) fn leave(&mut self, id: Shard, claimant: Claimant) {
        if let Some(turn) = self.by_id.get_mut(&id) {
            turn.next.retain(|next| *next != claimant);
        }
    }

    /// The grant that lapses first.
    pub(super) fn first_lapse(&self) -> Option<(Time, Shard)> {
        self.lapses.first().copied()
    }

    /// Whether this claimant stands in the id's line, holding no grant.
    pub(super) fn waits(&self, id: Shard, claimant: Claimant) -> bool {
        self.by_id.get(&id).is_some_and(|turn| {
            if turn.holder == claimant { turn.loan.is_none() } else { turn.next.contains(&claimant) }
        })
    }

    pub(super) fn check(&self, now: Time, in_line: impl Fn(Shard) -> bool) {
        let mut loans = 0;
        for (id, turn) in &self.by_id {
            assert!(!turn.next.contains(&turn.holder), "one request each");
            assert_eq!(turn.loan.is_none(), in_line(*id), "one request for each id: its holder's");
            if let Some(loan) = turn.loan {
                loans += 1;
                assert!(loan.lapses_at > now && self.lapses.contains(&(loan.lapses_at, *id)), "grants lapse");
            }
        }
        assert_eq!(loans, self.lapses.len(), "nothing else lapses");
    }
}
