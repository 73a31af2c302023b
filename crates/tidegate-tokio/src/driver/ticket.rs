//! One ticket's way through a gate.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tidegate_core::Gate;
use tidegate_core::governor::Ticket;

use super::{After, Driver};

/// A gate whose outputs concern tickets.
pub trait TicketGate: Gate {
    /// Which ticket an output is about, and what it means for it.
    fn concerns(output: &Self::Output) -> Option<(Ticket, Effect)>;
    /// The input that says that a ticket's caller left while it was held, or was released and not yet answered.
    fn cancel(ticket: Ticket) -> Self::Input;
    /// The input that says that a released ticket will never be answered.
    fn lost(ticket: Ticket) -> Self::Input;
}

/// What an output means for its ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It may go; its end is told to the gate.
    Released,
    /// It ends with the answer to a newer one.
    Joins(Ticket),
    /// It is over.
    Over,
}

/// What comes to a waiting ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<O, A> {
    /// The gate's own word.
    Output(O),
    /// The answer to the ticket that superseded it.
    Answer(A),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Held,
    Released,
    Over,
}

/// A ticket in a gate. Dropped while held it is cancelled; dropped while released the gate is told that no answer comes.
pub struct Call<G: TicketGate, A: Clone> {
    driver: Arc<Driver<G, A>>,
    ticket: Ticket,
    /// What the gate said at once.
    first: Option<G::Output>,
    state: State,
    /// Whether it may have a place among those that wait.
    waited: bool,
}

impl<G: TicketGate, A: Clone> Call<G, A> {
    pub(crate) fn new(driver: Arc<Driver<G, A>>, ticket: Ticket, first: Option<G::Output>) -> Self {
        let waited = first.as_ref().and_then(G::concerns).is_none_or(|(_, effect)| matches!(effect, Effect::Joins(_)));
        Self { driver, ticket, first, state: State::Held, waited }
    }

    /// Its number.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The next event, if it is there already.
    pub fn now(&mut self) -> Option<Event<G::Output, A>> {
        match self.poll(None) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        }
    }

    /// Waits for the next event. Cancel-safe.
    pub async fn next(&mut self) -> Event<G::Output, A> {
        poll_fn(|cx| self.poll(Some(cx))).await
    }

    fn poll(&mut self, cx: Option<&mut Context<'_>>) -> Poll<Event<G::Output, A>> {
        let event = match self.first.take() {
            Some(output) => Event::Output(output),
            None => match self.take(cx) {
                Some(event) => event,
                None => return Poll::Pending,
            },
        };
        self.state = match &event {
            Event::Answer(_) => State::Over,
            Event::Output(output) => match G::concerns(output) {
                Some((_, Effect::Released)) => State::Released,
                Some((_, Effect::Joins(_) | Effect::Over)) | None => State::Over,
            },
        };
        Poll::Ready(event)
    }

    fn take(&self, cx: Option<&mut Context<'_>>) -> Option<Event<G::Output, A>> {
        let mut inner = self.driver.lock();
        let waiter = inner.waiting.get_mut(&self.ticket)?;
        let Some(event) = waiter.events.pop_front() else {
            if let Some(cx) = cx {
                match &mut waiter.waker {
                    Some(waker) => waker.clone_from(cx.waker()),
                    none => *none = Some(cx.waker().clone()),
                }
            }
            return None;
        };
        let joins = matches!(&event, Event::Output(output)
            if matches!(G::concerns(output), Some((_, Effect::Joins(_)))));
        if waiter.events.is_empty() && !joins {
            inner.waiting.remove(&self.ticket);
        }
        Some(event)
    }

    /// Tells the gate how the released ticket fared where the gate may want it tried again; [`Call::next`] tells.
    pub fn again(&mut self, input: G::Input) {
        self.state = State::Held;
        self.waited = true;
        let (first, after) = {
            let mut inner = self.driver.lock();
            self.driver.feed(&mut inner, input, Some(self.ticket))
        };
        self.first = first;
        self.driver.carry_out(after);
    }

    /// Whether others are answered together with it.
    pub fn is_followed(&self) -> bool {
        self.driver.lock().followers.contains_key(&self.ticket)
    }

    /// Ends a released one with a last input, and gives its followers their answer.
    pub fn finish(mut self, last: impl FnOnce(Ticket) -> G::Input, answer: impl Fn() -> A) {
        self.state = State::Over;
        let after = {
            let mut inner = self.driver.lock();
            let mut after = self.driver.feed(&mut inner, last(self.ticket), None).1;
            inner.settle(self.ticket, answer, &mut after);
            after
        };
        self.driver.carry_out(after);
    }

    /// Gives it up, or takes note that the gate ended it, and gives its followers their answer.
    pub fn close(self, answer: impl Fn() -> A) {
        let mut after = After::default();
        self.driver.lock().settle(self.ticket, answer, &mut after);
        self.driver.carry_out(after);
    }

    /// Its caller left: cancels it unless others are to be answered with it. Whether it is over: one that was released
    /// still waits for its end, but the gate knows.
    pub fn leave(&mut self) -> bool {
        if self.state == State::Over {
            return true;
        }
        let released = self.state == State::Released;
        let after = {
            let mut inner = self.driver.lock();
            if released {
                if !inner.followers.contains_key(&self.ticket) {
                    let after = self.driver.feed(&mut inner, G::cancel(self.ticket), None).1;
                    drop(inner);
                    self.driver.carry_out(after);
                }
                return false;
            }
            // An output that is on its way decides: it may have been released already.
            let decided = inner.waiting.get(&self.ticket).is_some_and(|waiter| !waiter.events.is_empty());
            if decided || self.first.is_some() || inner.followers.contains_key(&self.ticket) {
                return false;
            }
            inner.waiting.remove(&self.ticket);
            self.driver.feed(&mut inner, G::cancel(self.ticket), None).1
        };
        self.state = State::Over;
        self.driver.carry_out(after);
        true
    }
}

impl<G: TicketGate, A: Clone> Drop for Call<G, A> {
    fn drop(&mut self) {
        if self.state == State::Over && !self.waited {
            return;
        }
        let input = match self.state {
            State::Over => None,
            State::Released => Some(G::lost(self.ticket)),
            State::Held => Some(G::cancel(self.ticket)),
        };
        let after = {
            let mut inner = self.driver.lock();
            // Released unseen: it counts as lost, not as cancelled.
            let unseen =
                self.first.take().or_else(|| match inner.waiting.remove(&self.ticket)?.events.pop_front()? {
                    Event::Output(output) => Some(output),
                    Event::Answer(_) => None,
                });
            let released = unseen.as_ref().and_then(G::concerns).is_some_and(|(_, effect)| effect == Effect::Released);
            match input {
                Some(_) if released => Some(self.driver.feed(&mut inner, G::lost(self.ticket), None).1),
                Some(input) => Some(self.driver.feed(&mut inner, input, None).1),
                None => None,
            }
        };
        if let Some(after) = after {
            self.driver.carry_out(after);
        }
    }
}

impl<G: TicketGate, A: Clone> fmt::Debug for Call<G, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("ticket", &self.ticket).field("state", &self.state).finish_non_exhaustive()
    }
}
