//! The governor: decides for every write of one bot whether it goes now, later, merged, dropped or refused.

mod counters;
mod io;

pub use self::counters::Counted;
pub use self::io::{
    Answer, Class, Count, DropReason, Input, Outcome, Output, Reason, RefuseReason, RefusedScope, Scope, Ticket, Write,
};
use crate::gate::Gate;
use crate::policy::Policy;
use crate::time::{Span, Time};
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// The governor of one bot.
#[derive(Debug)]
pub struct Governor {
    outputs: VecDeque<Output>,
}

impl Governor {
    /// A governor with full buckets. `instant` answers every released write at once with ok, for replays.
    pub fn new(_policy: Arc<Policy>, _instant: bool) -> Self {
        Self { outputs: VecDeque::new() }
    }
}

impl Gate for Governor {
    type Input = Input;
    type Output = Output;
    type Reason = Reason;
    fn tick() -> Input {
        Input::Tick
    }
    fn handle(&mut self, _now: Time, input: Input) {
        if let Input::Write(write) = input {
            self.outputs.push_back(Output::Send { ticket: write.ticket, outcome: Outcome::Admitted, held: Span::ZERO });
        }
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        None
    }
    fn check_invariants(&self) {}
}
