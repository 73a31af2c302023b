//! The governor: decides for every write of one bot whether it goes now, later, merged, dropped or refused.
//!
//! ```text
//! write ─▶ free? ─▶ cooling? ─▶ paced? ─▶ line of its peer ─▶ peer's buckets ─▶ ring ─▶ bot's bucket ─▶ send
//!            │         │                     │    ▲                                                  │
//!          bypass   hold, drop,          merge, refuse (place booked)              refused, deferred, │
//!                   refuse               drop, pass, fail open                     transient ◀────────┘
//! ```
//!
//! What it keeps: no window exceeded in any alignment (but where a row says `pass` or `admit`); within a class first in,
//! first out; a newer edit never overtaken by an older; `accepted` = all ends + held + in flight, at every moment.
//!
//! # Example
//!
//! Telegram tolerates a burst of 3 messages into one chat and then one a second. The fourth is held:
//!
//! ```
//! use std::sync::Arc;
//!
//! use tidegate_core::governor::{Answer, Governor, Input, Outcome, Output, Ticket, Write};
//! use tidegate_core::policy::{Call, Policy};
//! use tidegate_core::{Gate, MethodKey, Peer, Span, Time};
//!
//! let policy = Arc::new(Policy::load("telegram", &[])?);
//! let row = policy.row_of(&Call { method: "sendMessage", has_chat: true, rich: false, paid: false });
//! let mut governor = Governor::new(policy, false);
//!
//! let now = Time::ZERO;
//! for number in 1..=4 {
//!     let write = Write::new(Ticket(number), row, MethodKey::of("sendMessage")).peer(Peer::Id(5));
//!     governor.handle(now, Input::Write(write));
//!     while let Some(output) = governor.poll_output() {
//!         let at_once = Output::Send { ticket: Ticket(number), outcome: Outcome::Admitted, held: Span::ZERO };
//!         assert_eq!(output, at_once);
//!         // Here a program sends the message. The platform's answer goes back in:
//!         governor.handle(now, Input::Done { ticket: Ticket(number), result: Answer::Ok });
//!     }
//! }
//! assert_eq!(governor.held(), 1);
//!
//! // Nothing more to do before this moment.
//! let (at, _reason) = governor.poll_timeout().expect("one is held");
//! assert_eq!(at, Time::from_millis(1_000));
//! governor.handle(at, Governor::tick());
//! let held = Output::Send { ticket: Ticket(4), outcome: Outcome::Held, held: Span::from_secs(1) };
//! assert_eq!(governor.poll_output(), Some(held));
//! # Ok::<(), tidegate_core::policy::PolicyError>(())
//! ```
//!
//! # What comes back
//!
//! Tell the governor what became of every ticket that it released, else its peer waits for it:
//!
//! | the platform said | input |
//! |---|---|
//! | yes | [`Input::Done`] with [`Answer::Ok`] |
//! | no, and it always will | [`Input::Done`] with [`Answer::Permanent`] |
//! | nothing, or that it failed, and the call may be repeated | [`Input::Done`] with [`Answer::Transient`] |
//! | 429 | [`Input::Refused`] |
//!
//! After the last two an output follows: the ticket is held, released again, or [`Output::Failed`].
//!
//! # Matching
//!
//! [`Input`], [`Output`] and their reasons are not `#[non_exhaustive]`: a driver must carry out every output and a recorder
//! must have a word for every reason, and the compiler tells both when there is a new one. A new variant is a new major
//! version. [`Write`] gains fields; build it with [`Write::new`].

mod admit;
mod answer;
mod arrive;
mod builder;
mod chain;
mod charge;
mod consider;
mod cooling;
mod counters;
mod forecast;
mod forget;
mod io;
mod keep;
mod memory;
mod merge;
mod migrate;
mod order;
mod peer;
mod peers;
mod plan;
mod pump;
mod purse;
mod refuse;
mod rings;
mod state;
mod store;
mod tally;
mod tickets;
mod turns;
mod weigh;
mod write;

#[cfg(test)]
mod tests;

use alloc::sync::Arc;

pub use self::counters::Counted;
pub use self::io::{
    Answer, Class, Count, DropReason, Input, Outcome, Output, Reason, RefuseReason, RefusedScope, Scope, Summary,
    Ticket, Write,
};
use self::plan::Rules;
use self::state::State;
use crate::gate::Gate;
use crate::policy::Policy;
use crate::time::Time;

/// Writes that one governor holds at most.
pub const HELD_MAX: usize = 8_192;
/// Writes that one governor holds at most for one peer.
pub const HELD_PER_PEER_MAX: u32 = 256;
/// Places that one governor keeps at most for one peer's refused writes.
pub const BOOKED_PER_PEER_MAX: u32 = 64;
/// Peers that one governor knows at most.
pub const PEERS_MAX: usize = 200_000;

/// The governor of one bot.
#[derive(Debug)]
pub struct Governor {
    /// Governors of one policy share what follows from it: it is larger than all that one of them remembers at rest.
    rules: Arc<Rules>,
    state: State,
}

impl Governor {
    /// A governor with full buckets. `instant` answers every released write at once with ok, for replays.
    pub fn new(policy: Arc<Policy>, instant: bool) -> Self {
        let rules = Arc::new(Rules::new(policy));
        let state = State::new(&rules, instant);
        Self { rules, state }
    }

    /// A governor of another bot by the same policy, with full buckets.
    #[must_use]
    pub fn sibling(&self) -> Self {
        let rules = Arc::clone(&self.rules);
        let state = State::new(&rules, self.state.instant);
        Self { rules, state }
    }

    /// The policy in force.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.rules.policy
    }

    /// Writes that are held now.
    pub fn held(&self) -> usize {
        self.state.held
    }

    /// Writes that it has looked at so far to tell when held ones would go: what the largest of its steps cost.
    pub fn looked(&self) -> u64 {
        self.state.looked
    }

    /// Whether this ticket's write is held or in flight: until it is neither, no other may have its number.
    pub fn knows(&self, ticket: Ticket) -> bool {
        self.state.tickets.get(ticket).is_some()
    }

    /// Peers that are known now, some of which may be as good as new.
    pub fn peers(&self) -> usize {
        self.state.peers.len()
    }

    /// Whether nothing is held or in flight and nothing cools.
    pub fn at_rest(&self) -> bool {
        self.state.at_rest()
    }

    /// The end of the bot's own cooldown, where one runs.
    pub fn bot_cooldown(&self) -> Option<Time> {
        self.state.bot_cooldown.and_then(super::cooldown::Cooldown::until).filter(|until| *until > self.state.now)
    }

    /// Peers that cool now.
    pub fn cooling_peers(&self) -> usize {
        self.state.cooling_peers()
    }

    /// All counters that are not zero, in table order.
    pub fn counters(&self) -> alloc::vec::Vec<Count> {
        self.state.tally.counters.list(&self.rules.policy)
    }
}

impl Gate for Governor {
    type Input = Input;
    type Output = Output;
    type Reason = Reason;

    fn tick() -> Input {
        Input::Tick
    }

    fn handle(&mut self, now: Time, mut input: Input) {
        let Self { rules, state } = self;
        state.now = state.now.max(now);
        state.moves += 1;
        match &mut input {
            // What is due at this moment comes before a new write, and after anything else.
            Input::Write(write) => {
                state.run_due(rules);
                if state.arrive(rules, write) {
                    // What was due is done, and this made nothing due.
                    if cfg!(debug_assertions) {
                        self.check_invariants();
                    }
                    return;
                }
            }
            Input::Done { ticket, result } => state.done(rules, *ticket, *result),
            Input::Refused { ticket, retry_after, scope } => state.refused(rules, *ticket, *retry_after, *scope),
            Input::Deferred { ticket, bucket, until } => state.deferred(rules, *ticket, bucket, *until),
            Input::Learned { ticket, headers } => state.learn(rules, *ticket, *headers),
            Input::Cancel { ticket } => state.cancel(rules, *ticket),
            Input::HoldUntil { ticket, until } => state.hold_until(*ticket, *until),
            Input::Cooldown { scope, duration } => {
                let until = state.now + *duration;
                state.cool(rules, scope, until);
            }
            Input::Migrate { from, to } => state.migrate(rules, from, to),
            Input::Policy(policy) => {
                let new = Rules::new(Arc::clone(policy));
                state.change_rules(rules, &new);
                *rules = Arc::new(new);
            }
            Input::Tick => {}
            Input::QueryPeers => {
                state.run_due(rules);
                state.forget_all(rules);
                let peers = state.peers.len();
                state.outputs.push_back(Output::Peers(peers));
            }
            Input::QueryCounters => {
                let list = state.tally.counters.list(&rules.policy);
                state.outputs.push_back(Output::Counters(list));
            }
        }
        state.run_due(rules);
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.state.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        self.state.next_timeout()
    }

    fn check_invariants(&self) {
        self.state.check(&self.rules);
    }
}
