//! The one shape of every gate.

use crate::time::Time;

/// A pure machine that decides when things may leave.
///
/// Its four kinds of methods, in the order a driver calls them: [`handle`](Gate::handle) one input;
/// [`poll_output`](Gate::poll_output) until it answers `None`; [`poll_timeout`](Gate::poll_timeout) to learn when to
/// call again with [`Gate::tick`]; `check_invariants` by itself at the end of every `handle` in debug builds.
///
/// `now` never goes back: a smaller one is held to the last.
pub trait Gate {
    /// What the world tells it.
    type Input;
    /// What it asks of the world.
    type Output;
    /// Why it wants to be called again.
    type Reason;

    /// The input that says nothing but that time has passed.
    fn tick() -> Self::Input;
    /// The world told us something at `now`.
    fn handle(&mut self, now: Time, input: Self::Input);
    /// The next thing to do; drain to `None` after every `handle`.
    fn poll_output(&mut self) -> Option<Self::Output>;
    /// When to call again, and why.
    fn poll_timeout(&self) -> Option<(Time, Self::Reason)>;
    /// Panics where the gate contradicts itself. Debug builds call it after every `handle`.
    fn check_invariants(&self);
}
