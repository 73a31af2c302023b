//! Any gate behind a lock and a timer, without tickets.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::{Gate, Time};

use crate::clock::Clock;
use crate::timer::{Looked, Timed, Timer};

/// Runs any gate: hands inputs in, has its outputs carried out, and calls it when its deadline has come.
///
/// [`Driver`](crate::Driver) is the one for a governor, where each caller waits for its own ticket. This one is for gates
/// whose outputs concern no caller in particular: an identify queue, a send queue, a shard.
///
/// ```
/// use tidegate_core::Gate as _;
/// use tidegate_core::send_queue::{Frame, Input, Output, SendQueue, Settings};
/// use tidegate_tokio::{Clock, GateDriver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (frames, mut socket) = tokio::sync::mpsc::unbounded_channel();
/// let queue = SendQueue::<()>::new(Settings::default());
/// let driver = GateDriver::new(queue, Clock::new(1.0), move |queue, _now| {
///     while let Some(output) = queue.poll_output() {
///         if let Output::Send(Frame::Command { id }) = output {
///             let _ = frames.send(id);
///         }
///     }
/// });
/// driver.spawn_timer();
///
/// driver.tell(Input::Command { id: 7, op: 4, guild: None, bytes: 90 });
/// assert_eq!(socket.recv().await, Some(7));
/// # }
/// ```
pub struct GateDriver<G: Gate> {
    inner: Mutex<Inner<G>>,
    clock: Clock,
    timer: Timer,
}

type CarryOut<G> = Box<dyn FnMut(&mut G, Time) + Send>;

struct Inner<G> {
    gate: G,
    carry_out: CarryOut<G>,
    /// What the timer sleeps for.
    armed: Time,
}

impl<G: Gate> GateDriver<G> {
    /// Takes a gate over. `carry_out` is called after every input, with the gate locked: it must drain
    /// [`Gate::poll_output`] to `None` and must not wait. It may tell the gate more; what must be kept before outputs leave
    /// (an identify queue's changes) it takes first.
    ///
    /// The timer runs once [`GateDriver::spawn_timer`] was called.
    pub fn new(gate: G, clock: Clock, carry_out: impl FnMut(&mut G, Time) + Send + 'static) -> Arc<Self> {
        let inner = Inner { gate, carry_out: Box::new(carry_out), armed: Time::NEVER };
        Arc::new(Self { inner: Mutex::new(inner), clock, timer: Timer::new() })
    }

    /// The clock that the gate is told the time by.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Tells the gate something, and has carried out what it asks for when this returns.
    pub fn tell(&self, input: G::Input) {
        let mut inner = self.lock();
        self.feed(&mut inner, input);
        let next = inner.next();
        if next < inner.armed {
            inner.armed = next;
            self.timer.earlier();
        }
    }

    /// Looks at the gate.
    pub fn with<T>(&self, look: impl FnOnce(&G) -> T) -> T {
        look(&self.lock().gate)
    }

    /// Runs the timer on the current runtime until the driver is dropped.
    pub fn spawn_timer(self: &Arc<Self>)
    where
        G: Send + 'static,
    {
        self.timer.spawn(self);
    }

    fn lock(&self) -> MutexGuard<'_, Inner<G>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn feed(&self, inner: &mut Inner<G>, input: G::Input) {
        let now = self.clock.now();
        inner.gate.handle(now, input);
        (inner.carry_out)(&mut inner.gate, now);
    }
}

impl<G: Gate + Send + 'static> Timed for GateDriver<G> {
    fn clock(&self) -> Clock {
        self.clock
    }

    /// Calls the gate if it is due.
    fn look(self: Arc<Self>) -> Looked {
        let mut inner = self.lock();
        let acted = inner.next() <= self.clock.now();
        if acted {
            self.feed(&mut inner, G::tick());
        }
        inner.armed = inner.next();
        Looked { next: inner.armed, acted }
    }
}

impl<G: Gate> Inner<G> {
    fn next(&self) -> Time {
        self.gate.poll_timeout().map_or(Time::NEVER, |(at, _)| at)
    }
}

impl<G: Gate> fmt::Debug for GateDriver<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateDriver").field("clock", &self.clock).finish_non_exhaustive()
    }
}
