//! One gate, many callers, one timer.

mod ticket;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tidegate_core::Time;
use tidegate_core::governor::Ticket;

pub use self::ticket::{Call, Effect, Event, TicketGate};
use crate::clock::Clock;
use crate::timer::{Looked, Timed, Timer};

/// Runs a gate: hands inputs in, outputs to the tasks that wait for them, and calls it when its deadline has come.
///
/// `A` is what callers of superseded tickets are given in the end: the answer to the newer one.
pub struct Driver<G: TicketGate, A> {
    inner: Mutex<Inner<G, A>>,
    clock: Clock,
    timer: Timer,
    /// Takes outputs that concern no ticket and that nobody asked for.
    notes: Box<dyn Fn(G::Output) + Send + Sync>,
}

pub(crate) struct Inner<G: TicketGate, A> {
    pub(crate) gate: G,
    last_ticket: u64,
    pub(crate) waiting: HashMap<Ticket, Waiter<G::Output, A>>,
    /// Who is answered together with a ticket. A ticket with an entry is not cancelled.
    pub(crate) followers: HashMap<Ticket, Vec<Ticket>>,
    /// What the timer sleeps for.
    armed: Time,
}

pub(crate) struct Waiter<O, A> {
    pub(crate) events: VecDeque<Event<O, A>>,
    pub(crate) waker: Option<Waker>,
}

impl<O, A> Default for Waiter<O, A> {
    fn default() -> Self {
        Self { events: VecDeque::new(), waker: None }
    }
}

impl<G: TicketGate, A: Clone> Driver<G, A> {
    /// Takes a gate over; `notes` is given what it says of itself. Its timer runs once [`Driver::spawn_timer`] was called.
    pub fn new(gate: G, clock: Clock, notes: impl Fn(G::Output) + Send + Sync + 'static) -> Arc<Self> {
        let inner =
            Inner { gate, last_ticket: 0, waiting: HashMap::new(), followers: HashMap::new(), armed: Time::NEVER };
        Arc::new(Self { inner: Mutex::new(inner), clock, timer: Timer::new(), notes: Box::new(notes) })
    }

    /// The clock that the gate is told the time by.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Tells the gate something that concerns no ticket.
    pub fn tell(&self, input: G::Input) {
        let after = {
            let mut inner = self.lock();
            self.feed(&mut inner, input, None).1
        };
        self.carry_out(after);
    }

    /// Tells the gate something and takes what it answers to no ticket in particular.
    pub fn ask(&self, input: G::Input) -> Vec<G::Output> {
        let mut after = {
            let mut inner = self.lock();
            self.feed(&mut inner, input, None).1
        };
        let answers = std::mem::take(&mut after.loose);
        self.carry_out(after);
        answers
    }

    /// Brings a new ticket before the gate. Where the gate decides at once nothing is allocated.
    pub fn enter(self: &Arc<Self>, input: impl FnOnce(Ticket) -> G::Input) -> Call<G, A> {
        let (ticket, first, after) = {
            let mut inner = self.lock();
            inner.last_ticket += 1;
            let ticket = Ticket(inner.last_ticket);
            let (first, after) = self.feed(&mut inner, input(ticket), Some(ticket));
            (ticket, first, after)
        };
        self.carry_out(after);
        Call::new(Arc::clone(self), ticket, first)
    }

    /// How many tickets wait.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// When the gate wants to be called next.
    pub fn deadline(&self) -> Option<Time> {
        self.lock().gate.poll_timeout().map(|(at, _)| at)
    }

    /// Runs the timer on the current runtime until the driver is dropped.
    pub fn spawn_timer(self: &Arc<Self>)
    where
        G: Send + 'static,
        G::Input: Send,
        G::Output: Send,
        A: Send + 'static,
    {
        self.timer.spawn(self);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner<G, A>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was left to do until the lock was released.
    pub(crate) fn carry_out(&self, after: After<G::Output>) {
        after.wakers.into_iter().for_each(Waker::wake);
        after.loose.into_iter().for_each(|output| (self.notes)(output));
    }

    /// Gives the gate one input and sorts what it puts out. What is for `mine` is returned; without such an output, `mine`
    /// is made to wait.
    pub(crate) fn feed(
        &self,
        inner: &mut Inner<G, A>,
        input: G::Input,
        mine: Option<Ticket>,
    ) -> (Option<G::Output>, After<G::Output>) {
        inner.gate.handle(self.clock.now(), input);
        let mut after = After::default();
        let mut first = None;
        let mut orphans = Vec::new();
        Self::sort(inner, mine, &mut first, &mut after, &mut orphans);
        // Released though nobody waits for it: it will never be sent, so the gate is told.
        while let Some(orphan) = orphans.pop() {
            inner.gate.handle(self.clock.now(), G::lost(orphan));
            Self::sort(inner, mine, &mut first, &mut after, &mut orphans);
        }
        if let (Some(ticket), None) = (mine, &first) {
            inner.waiting.entry(ticket).or_default();
        }
        let next = inner.gate.poll_timeout().map_or(Time::NEVER, |(at, _)| at);
        if next < inner.armed {
            inner.armed = next;
            self.timer.earlier();
        }
        (first, after)
    }

    /// Hands out what the gate puts out.
    fn sort(
        inner: &mut Inner<G, A>,
        mine: Option<Ticket>,
        first: &mut Option<G::Output>,
        after: &mut After<G::Output>,
        orphans: &mut Vec<Ticket>,
    ) {
        while let Some(output) = inner.gate.poll_output() {
            let Some((ticket, effect)) = G::concerns(&output) else {
                after.loose.push(output);
                continue;
            };
            let own = mine == Some(ticket) && first.is_none();
            if let Effect::Joins(newer) = effect {
                inner.join(ticket, newer, own);
            }
            if own {
                *first = Some(output);
            } else if let Some(waiter) = inner.waiting.get_mut(&ticket) {
                waiter.events.push_back(Event::Output(output));
                after.wake(waiter.waker.take());
            } else if effect == Effect::Released {
                orphans.push(ticket);
            }
        }
    }
}

impl<G: TicketGate, A: Clone> Timed for Driver<G, A>
where
    G: Send + 'static,
    G::Input: Send,
    G::Output: Send,
    A: Send + 'static,
{
    fn clock(&self) -> Clock {
        self.clock
    }

    /// Calls the gate if it is due.
    fn look(self: Arc<Self>) -> Looked {
        let (looked, after) = {
            let mut inner = self.lock();
            let mut after = After::default();
            let acted = inner.gate.poll_timeout().is_some_and(|(at, _)| at <= self.clock.now());
            if acted {
                after = self.feed(&mut inner, G::tick(), None).1;
            }
            inner.armed = inner.gate.poll_timeout().map_or(Time::NEVER, |(at, _)| at);
            (Looked { next: inner.armed, acted }, after)
        };
        self.carry_out(after);
        looked
    }
}

impl<G: TicketGate, A> Inner<G, A> {
    /// `older` is answered together with `newer` from now on, and so is who followed it.
    fn join(&mut self, older: Ticket, newer: Ticket, own: bool) {
        let mut moved = self.followers.remove(&older).unwrap_or_default();
        if own {
            self.waiting.entry(older).or_default();
        }
        if self.waiting.contains_key(&older) {
            moved.push(older);
        }
        self.followers.entry(newer).or_default().append(&mut moved);
    }

    /// Ends a ticket: its followers are given its answer.
    pub(crate) fn settle(&mut self, ticket: Ticket, answer: impl Fn() -> A, after: &mut After<G::Output>) {
        // Mostly there are none at all.
        if self.followers.is_empty() {
            return;
        }
        for follower in self.followers.remove(&ticket).unwrap_or_default() {
            if let Some(waiter) = self.waiting.get_mut(&follower) {
                waiter.events.push_back(Event::Answer(answer()));
                after.wake(waiter.waker.take());
            }
        }
    }
}

impl<G: TicketGate, A> fmt::Debug for Driver<G, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("clock", &self.clock).finish_non_exhaustive()
    }
}

/// What is done once the lock is released.
pub(crate) struct After<O> {
    wakers: Vec<Waker>,
    /// Outputs without a ticket.
    loose: Vec<O>,
}

impl<O> Default for After<O> {
    fn default() -> Self {
        Self { wakers: Vec::new(), loose: Vec::new() }
    }
}

impl<O> After<O> {
    fn wake(&mut self, waker: Option<Waker>) {
        self.wakers.extend(waker);
    }
}
