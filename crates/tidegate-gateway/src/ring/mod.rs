//! The last dispatches of one session, as Discord sent them, so that a bot can be given again what it lost.

mod total;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::task::AtomicWaker;

pub use self::total::Total;

/// The bounds of one ring.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Events that are kept.
    pub events: usize,
    /// Bytes of the events that are kept.
    pub bytes: usize,
}

/// The place between two events, counted over all that a ring ever held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(u64);

impl Position {
    /// How many events are between this and a later place.
    pub fn until(self, later: Self) -> usize {
        usize::try_from(later.0.saturating_sub(self.0)).unwrap_or(usize::MAX)
    }
}

/// What a bot's RESUME asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// It is all here.
    From(Position),
    /// Some of it is not kept any more.
    TooOld,
    /// There was no such dispatch yet.
    Above,
}

/// The reader wants what is not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overtaken;

/// One shard's.
#[derive(Debug)]
pub struct Ring {
    bounds: Bounds,
    total: Arc<Total>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    events: VecDeque<Event>,
    bytes: usize,
    /// How many events came before the first that is kept.
    base: u64,
    /// The number of the last dispatch before the first that is kept.
    before: u64,
    /// Whether it holds everything since READY.
    complete: bool,
    /// Who is woken when something comes.
    reader: Option<Arc<AtomicWaker>>,
    /// Bytes that ever came.
    came: u64,
}

#[derive(Debug)]
struct Event {
    seq: u64,
    json: Bytes,
}

impl Ring {
    /// An empty one, which counts towards `total`.
    pub fn new(bounds: Bounds, total: &Arc<Total>) -> Arc<Self> {
        let ring = Arc::new(Self { bounds, total: Arc::clone(total), inner: Mutex::default() });
        total.enrol(&ring);
        ring
    }

    /// A new session: READY is the first that is kept.
    pub fn begin(&self, seq: u64, ready: Bytes) {
        let mut inner = self.inner();
        self.clear(&mut inner, seq.saturating_sub(1));
        inner.complete = true;
        drop(inner);
        self.append([(seq, ready)]);
    }

    /// Nothing is kept; what comes next follows on `seq`.
    pub fn reset(&self, seq: u64) {
        self.clear(&mut self.inner(), seq);
    }

    fn clear(&self, inner: &mut Inner, seq: u64) {
        self.total.give_back(inner.bytes);
        inner.base += inner.events.len() as u64;
        inner.events.clear();
        (inner.bytes, inner.before, inner.complete) = (0, seq, false);
    }

    /// Dispatches that came. Those that are here already are replayed ones.
    pub fn append(&self, dispatches: impl IntoIterator<Item = (u64, Bytes)>) {
        let mut inner = self.inner();
        let before = inner.bytes;
        let mut grown = 0;
        for (seq, json) in dispatches {
            if seq <= inner.last() {
                continue;
            }
            grown += json.len();
            inner.events.push_back(Event { seq, json });
        }
        inner.bytes += grown;
        inner.came += grown as u64;
        while (inner.events.len() > self.bounds.events || inner.bytes > self.bounds.bytes) && inner.events.len() > 1 {
            inner.forget_first();
        }
        let reader = if grown > 0 { inner.reader.clone() } else { None };
        let after = inner.bytes;
        drop(inner);
        if let Some(reader) = reader {
            reader.wake();
        }
        if self.total.changed(before, after) {
            self.total.trim();
        }
    }

    /// Who is woken from now on; with nobody the ring counts as detached.
    pub fn read_by(&self, reader: Option<Arc<AtomicWaker>>) {
        self.inner().reader = reader;
    }

    /// Whether it holds READY and everything since.
    pub fn is_complete(&self) -> bool {
        self.inner().complete
    }

    /// The place of the first that is kept, and the number of the dispatch before it.
    pub fn start(&self) -> Position {
        Position(self.inner().base)
    }

    /// The place behind the last, and the number of the last dispatch.
    pub fn head(&self) -> (Position, u64) {
        let inner = self.inner();
        (Position(inner.head()), inner.last())
    }

    /// Where a bot goes on that has had all up to `seq`.
    pub fn replay(&self, seq: u64) -> Replay {
        let inner = self.inner();
        if seq > inner.last() {
            return Replay::Above;
        }
        if seq < inner.before {
            return Replay::TooOld;
        }
        let index = inner.events.partition_point(|event| event.seq <= seq);
        Replay::From(Position(inner.base + index as u64))
    }

    /// Takes what stands behind `position`, at most so many events and, but for the first, so many bytes.
    pub fn read(
        &self,
        position: &mut Position,
        (events, bytes): (usize, usize),
        into: &mut impl Extend<Bytes>,
    ) -> Result<(), Overtaken> {
        let inner = self.inner();
        let index = position.0.checked_sub(inner.base).ok_or(Overtaken)?;
        let index = usize::try_from(index).unwrap_or(usize::MAX).min(inner.events.len());
        let mut taken = 0;
        for event in inner.events.range(index..).take(events) {
            if taken > 0 && taken + event.json.len() > bytes {
                break;
            }
            taken += event.json.len();
            into.extend([event.json.clone()]);
            position.0 += 1;
        }
        Ok(())
    }

    /// Bytes that ever came, to be compared.
    pub fn came(&self) -> u64 {
        self.inner().came
    }

    /// Events and bytes that are kept.
    pub fn size(&self) -> (usize, usize) {
        let inner = self.inner();
        (inner.events.len(), inner.bytes)
    }

    /// Whether no bot reads it, and its bytes.
    fn standing(&self) -> (bool, usize) {
        let inner = self.inner();
        (inner.reader.is_none(), inner.bytes)
    }

    /// Gives so many bytes back, but for the newest event's.
    fn shrink(&self, bytes: usize) {
        let mut inner = self.inner();
        let before = inner.bytes;
        while inner.bytes + bytes > before && inner.events.len() > 1 {
            inner.forget_first();
        }
        let freed = before - inner.bytes;
        drop(inner);
        self.total.give_back(freed);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn head(&self) -> u64 {
        self.base + self.events.len() as u64
    }

    fn last(&self) -> u64 {
        self.events.back().map_or(self.before, |event| event.seq)
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.events.pop_front() {
            self.bytes -= first.json.len();
            self.before = first.seq;
            self.base += 1;
            self.complete = false;
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let bytes = self.inner().bytes;
        self.total.give_back(bytes);
    }
}
