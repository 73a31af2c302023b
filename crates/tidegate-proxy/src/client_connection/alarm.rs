//! The HTTP server's timer. It sets a new one for every request, which nearly never goes off: here a connection has one
//! alarm, and it is moved only where it goes off too early.

#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// One connection's.
#[derive(Clone, Default)]
pub(super) struct Alarm(Arc<Mutex<Set>>);

#[derive(Default)]
struct Set {
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
    /// Who is woken when it goes off.
    waker: Option<Waker>,
}

/// A wait for a moment.
struct Due {
    alarm: Alarm,
    at: Instant,
}

impl Timer for Alarm {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, at: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Due { alarm: self.clone(), at })
    }
}

impl Sleep for Due {}

impl Future for Due {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut set = self.alarm.0.lock().unwrap_or_else(PoisonError::into_inner);
        set.poll(self.at, cx)
    }
}

impl Set {
    fn poll(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at.into())));
        loop {
            if sleep.deadline() > at.into() {
                sleep.as_mut().reset(at.into());
                self.waker = None;
            }
            let asked = self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            if asked && !sleep.is_elapsed() {
                return Poll::Pending;
            }
            if sleep.as_mut().poll(cx).is_pending() {
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            self.waker = None;
            if sleep.deadline() >= at.into() {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(at.into());
        }
    }
}
