//! The one shape of every gate.

use crate::time::Time;

/// A pure machine that decides when things may leave.
///
/// Its four kinds of methods, in the order a driver calls them: [`handle`](Gate::handle) one input;
/// [`poll_output`](Gate::poll_output) until it answers `None`; [`poll_timeout`](Gate::poll_timeout) to learn when to
/// call again with [`Gate::tick`]; `check_invariants` by itself at the end of every `handle` in debug builds.
///
/// `now` never goes back: a smaller one is held to the last.
///
/// Whatever the gate, a loop in virtual time looks the same:
///
/// ```
/// use tidegate_core::{Gate, Time};
///
/// /// Runs a gate to the end of what it waits for, or to `end`.
/// fn run<G: Gate>(gate: &mut G, end: Time, mut carry_out: impl FnMut(Time, G::Output)) {
///     while let Some((at, _reason)) = gate.poll_timeout().filter(|(at, _)| *at <= end) {
///         gate.handle(at, G::tick());
///         while let Some(output) = gate.poll_output() {
///             carry_out(at, output);
///         }
///     }
/// }
/// # let mut queue = tidegate_core::send_queue::SendQueue::<()>::new(Default::default());
/// # run(&mut queue, Time::NEVER, |_, _| {});
/// ```
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
