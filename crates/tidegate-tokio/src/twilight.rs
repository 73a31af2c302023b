//! The identify queue as twilight-gateway's `Queue`.
//!
//! ```
//! use std::time::Duration;
//!
//! use tidegate_core::identify_queue::Settings;
//! use tidegate_tokio::Clock;
//! use tidegate_tokio::twilight::{IdentifyGate, SessionStarts};
//! use twilight_gateway_queue::Queue as _;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // As `GET /gateway/bot` says, in `session_start_limit` and `shards`.
//! let starts = SessionStarts { total: 1_000, remaining: 988, reset_after: Duration::from_secs(3_600), max_concurrency: 1 };
//! let settings = Settings { shards: 1, ..Settings::default() };
//! let queue = IdentifyGate::new(settings, &starts, Clock::new(1.0));
//! // In a bot: `twilight_gateway::ConfigBuilder::new(token, intents).queue(queue.clone())`.
//! queue.enqueue(0).await.expect("the budget is not gone, and nobody is before it");
//! assert_eq!(queue.remaining(), 987);
//! # }
//! ```
//!
//! # What it adds to twilight's own `InMemoryQueue`
//!
//! - Each bucket has its own five seconds. There one timer serves all buckets, so that the first shard of a bucket that was
//!   free for long may wait for it too.
//! - A newer `GET /gateway/bot` is heard while the budget is gone. There the queue sleeps until the day's reset.
//! - Never more starts in any rolling 24 h than [`Settings::rolling_limit`], whatever Discord's day has left: the loop that
//!   resets a token is stopped half-way.
//! - A shard that starts often is held back before it takes what is left from the others.
//! - Starts can be kept over a restart of the process ([`IdentifyGate::with_store`]).
//!
//! (Read in twilight-gateway-queue 0.18.0. Both pass over a shard that went away while it waited.)
//!
//! # What twilight's trait cannot say
//!
//! `Queue::enqueue(shard) -> oneshot::Receiver<()>` tells when a shard wants to IDENTIFY, and takes one word back. So this
//! cannot know
//!
//! - *when IDENTIFY was written, or whether it was.* It is taken for written when the word was delivered; twilight writes it on
//!   its next poll. A task that is not polled for long writes late, and two IDENTIFYs may come closer than 5 s:
//!   [`Settings::spacing_margin`] covers that, 100 ms by default here. A receiver that is dropped after the word was put
//!   into it, unread, leaves one start counted too many.
//! - *when READY came.* A grant is given back once it was delivered, not on READY; the spacing alone keeps the next one away.
//! - *that nothing is left.* Closing the channel makes a shard ask again at once. So a shard that is denied waits here until
//!   the budget allows, and never in a loop.
//! - *of how many shards it is one.* While two sets of shards run side by side (resharding), equal ids share a place: they are
//!   served one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidegate_core::identify_queue::{
    Change, IdentifyQueue, InMemoryStarts, Input, Output, SessionStartLimit, Settings, Shard, StartStore,
};
use tidegate_core::{Gate, Span, Time};
use tokio::sync::oneshot;
use twilight_gateway_queue::Queue;

use crate::clock::Clock;
use crate::gate_driver::GateDriver;

#[cfg(test)]
mod tests;

/// Between two IDENTIFYs of one bucket, beside the spacing: from the word to the frame.
const MARGIN: Span = Span::from_millis(100);

/// What `GET /gateway/bot` says of session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStarts {
    /// Starts of a day.
    pub total: u64,
    /// Starts left of it.
    pub remaining: u64,
    /// When they are all there again, from now and in platform time.
    pub reset_after: Duration,
    /// How many shards may IDENTIFY at once, each in a bucket of its own.
    pub max_concurrency: u64,
}

/// An identify queue that twilight's shards wait in. Cheap to clone; all of a bot's shards share one.
#[derive(Clone)]
pub struct IdentifyGate {
    driver: Arc<GateDriver<PatientQueue>>,
}

impl IdentifyGate {
    /// A queue whose starts are counted for as long as the process lives. Its timer runs on the current tokio runtime.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn new(settings: Settings, starts: &SessionStarts, clock: Clock) -> Self {
        Self::with_store(settings, starts, clock, InMemoryStarts::default())
    }

    /// A queue whose starts are kept by `store`, which is asked once for what it kept and told every change before the
    /// shard is. It is called with the queue locked.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn with_store(
        mut settings: Settings,
        starts: &SessionStarts,
        clock: Clock,
        mut store: impl StartStore + Send + 'static,
    ) -> Self {
        let now = clock.now();
        settings.total = starts.total;
        if settings.spacing_margin.is_zero() {
            settings.spacing_margin = MARGIN;
        }
        let queue = IdentifyQueue::new(settings, starts.limit(now), store.kept(now));
        let mut waiting = Waiting::default();
        let driver = GateDriver::new(PatientQueue::new(queue), clock, move |queue: &mut PatientQueue, now| {
            if let Some(shard) = queue.arrived.take() {
                waiting.join(shard);
            }
            loop {
                let output = queue.poll_output();
                // Kept before the shard is told: killed in between, one start too many is counted, never one too few.
                for change in queue.changes.drain(..) {
                    store.apply(now, change);
                }
                let Some(output) = output else { return };
                waiting.carry_out(queue, now, output);
            }
        });
        driver.spawn_timer();
        Self { driver }
    }

    /// A newer answer of `GET /gateway/bot`, and how many shards the bot has, where that changed.
    pub fn refresh(&self, starts: &SessionStarts, shards: Option<u64>) {
        let limit = starts.limit(self.driver.clock().now());
        self.driver.tell(Told::Queue(Input::Refresh { limit, total: Some(starts.total), shards }));
    }

    /// Session starts left of the day, by the last answer and our own count.
    pub fn remaining(&self) -> u64 {
        self.driver.with(|queue| queue.queue.remaining())
    }

    /// Session starts counted in the last 24 h.
    pub fn counted(&self) -> u64 {
        self.driver.with(|queue| queue.queue.counted())
    }
}

impl Queue for IdentifyGate {
    fn enqueue(&self, id: u32) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        self.driver.tell(Told::Shard(id.into(), sender));
        receiver
    }
}

impl fmt::Debug for IdentifyGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentifyGate").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}

impl SessionStarts {
    fn limit(&self, now: Time) -> SessionStartLimit {
        let held = |number| i64::try_from(number).unwrap_or(i64::MAX);
        SessionStartLimit {
            max_concurrency: held(self.max_concurrency),
            remaining: held(self.remaining),
            reset_at: now + self.reset_after.into(),
        }
    }
}

type Sender = oneshot::Sender<()>;

/// The shards that wait for a word.
#[derive(Default)]
struct Waiting(BTreeMap<Shard, VecDeque<Sender>>);

impl Waiting {
    fn join(&mut self, (shard, sender): (Shard, Sender)) {
        let same = self.0.entry(shard).or_default();
        // So there are never more than there are shards that wait.
        same.retain(|older| !older.is_closed());
        same.push_back(sender);
    }

    fn carry_out(&mut self, queue: &mut PatientQueue, now: Time, output: Output) {
        let Output::Grant { shard, grant } = output else { return };
        let told = self.tell(shard);
        if told {
            queue.handle(now, Told::Queue(Input::Identified { shard, grant: Some(grant) }));
        }
        queue.handle(now, Told::Queue(Input::Release { shard, grant: Some(grant), unused: !told }));
        if self.0.contains_key(&shard) {
            queue.handle(now, Told::Queue(Input::Request { shard, http: false }));
        }
    }

    /// Gives the word to the one of these that came first and is still there; whether there was one.
    fn tell(&mut self, shard: Shard) -> bool {
        let Some(same) = self.0.get_mut(&shard) else { return false };
        let mut told = false;
        while let Some(sender) = same.pop_front() {
            told = sender.send(()).is_ok();
            if told {
                break;
            }
        }
        same.retain(|sender| !sender.is_closed());
        if same.is_empty() {
            self.0.remove(&shard);
        }
        told
    }
}

/// An identify queue that asks again for whoever it denied, when that may help.
struct PatientQueue {
    queue: IdentifyQueue,
    now: Time,
    /// Who was denied, and when to ask again.
    denied: BTreeMap<Shard, Time>,
    /// Who came with the last input.
    arrived: Option<(Shard, Sender)>,
    changes: Vec<Change>,
}

/// What a patient queue is told.
enum Told {
    Shard(Shard, Sender),
    Queue(Input),
}

impl PatientQueue {
    fn new(queue: IdentifyQueue) -> Self {
        Self { queue, now: Time::ZERO, denied: BTreeMap::new(), arrived: None, changes: Vec::new() }
    }

    fn tell(&mut self, input: Input) {
        let renewed = matches!(input, Input::Refresh { .. });
        self.queue.handle(self.now, input);
        self.changes.append(&mut self.queue.take_changes());
        if renewed {
            self.denied.values_mut().for_each(|at| *at = self.now);
        }
    }

    fn next_retry(&self) -> Option<(Shard, Time)> {
        self.denied.iter().map(|(shard, at)| (*shard, *at)).min_by_key(|(_, at)| *at)
    }
}

impl Gate for PatientQueue {
    type Input = Told;
    type Output = Output;
    type Reason = ();

    fn tick() -> Told {
        Told::Queue(Input::Tick)
    }

    fn handle(&mut self, now: Time, input: Told) {
        self.now = self.now.max(now);
        match input {
            Told::Shard(shard, sender) => {
                self.arrived = Some((shard, sender));
                if !self.denied.contains_key(&shard) {
                    self.tell(Input::Request { shard, http: false });
                }
            }
            Told::Queue(input) => self.tell(input),
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        loop {
            if let Some(output) = self.queue.poll_output() {
                if let Output::Deny { shard, refresh_at } = output {
                    self.denied.insert(shard, refresh_at.max(self.now + Span::from_millis(1)));
                }
                return Some(output);
            }
            let (shard, _) = self.next_retry().filter(|(_, at)| *at <= self.now)?;
            self.denied.remove(&shard);
            self.tell(Input::Request { shard, http: false });
        }
    }

    fn poll_timeout(&self) -> Option<(Time, ())> {
        let queue = self.queue.poll_timeout().map(|(at, _)| at);
        let retry = self.next_retry().map(|(_, at)| at);
        queue.into_iter().chain(retry).min().map(|at| (at, ()))
    }

    fn check_invariants(&self) {
        self.queue.check_invariants();
    }
}
