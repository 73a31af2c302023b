//! The way from a bot's session to the task that holds its socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::task::AtomicWaker;

use super::close::Close;
use super::ring::{Position, Ring};

/// What the task of a bot's socket is told.
#[derive(Clone, Debug)]
pub(crate) enum Tell {
    /// Hand on what is in the ring from there on. `begins`: READY is the first of it.
    Follow { ring: Arc<Ring>, from: Position, begins: bool },
    /// Say RESUMED once all that has come so far was handed on. `seq` is the last one's number.
    Resumed { at: Position, seq: u64 },
    /// Say that the session is gone: op 9 false.
    Invalid,
    /// Close, once all that was told before is written.
    Close(Close),
}

/// One bot's connection, as its session knows it.
#[derive(Debug)]
pub(crate) struct Link {
    /// No two of one bot have the same.
    pub(crate) number: u64,
    told: Mutex<VecDeque<Tell>>,
    waker: Arc<AtomicWaker>,
}

impl Link {
    pub(crate) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, told: Mutex::default(), waker: Arc::default() })
    }

    pub(crate) fn tell(&self, tell: Tell) {
        self.told().push_back(tell);
        self.waker.wake();
    }

    /// The next thing that was told.
    pub(crate) fn next(&self) -> Option<Tell> {
        self.told().pop_front()
    }

    /// What wakes the task of the socket.
    pub(crate) fn waker(&self) -> &Arc<AtomicWaker> {
        &self.waker
    }

    /// Wakes `waker` from now on.
    pub(crate) fn register(&self, waker: &std::task::Waker) {
        self.waker.register(waker);
    }

    fn told(&self) -> MutexGuard<'_, VecDeque<Tell>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
