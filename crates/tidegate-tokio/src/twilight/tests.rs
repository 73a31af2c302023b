use std::sync::{Arc, Mutex};
use std::time::Duration;

use tidegate_core::identify_queue::{Change, InMemoryStarts, Settings, Start, StartStore};
use tidegate_core::{Span, Time};
use tokio::sync::oneshot;
use twilight_gateway_queue::Queue as _;

use super::{IdentifyGate, SessionStarts};
use crate::Clock;

/// Ten times faster than real time: 5 s are half a second, which no busy machine takes for two lines of a test.
const SCALE: f64 = 0.1;

fn gate(settings: Settings, remaining: u64, max_concurrency: u64) -> IdentifyGate {
    let reset_after = Duration::from_secs(86_400);
    let starts = SessionStarts { total: 1_000, remaining, reset_after, max_concurrency };
    IdentifyGate::new(settings, &starts, Clock::new(SCALE))
}

fn is_granted(receiver: &mut oneshot::Receiver<()>) -> bool {
    receiver.try_recv().is_ok()
}

#[tokio::test]
async fn shards_of_one_bucket_are_spaced_and_those_of_others_are_not() {
    let gate = gate(Settings::default(), 1_000, 2);
    let clock = Clock::new(SCALE);
    let (mut first, mut other, second) = (gate.enqueue(0), gate.enqueue(1), gate.enqueue(2));
    assert!(is_granted(&mut first) && is_granted(&mut other), "each is the first of its bucket");
    second.await.unwrap();
    assert!(clock.now() >= Time::ZERO + Span::from_secs(5), "{:?}", clock.now());
    assert_eq!(gate.counted(), 3);
}

#[tokio::test]
async fn who_left_while_waiting_costs_nothing() {
    let gate = gate(Settings::default(), 1_000, 1);
    gate.enqueue(0).await.unwrap();
    drop(gate.enqueue(1));
    gate.enqueue(2).await.unwrap();
    assert_eq!((gate.counted(), gate.remaining()), (2, 998));
}

#[tokio::test]
async fn equal_ids_are_served_one_after_the_other() {
    let gate = gate(Settings::default(), 1_000, 1);
    let (mut old, mut new) = (gate.enqueue(0), gate.enqueue(0));
    assert!(is_granted(&mut old));
    assert_eq!(
        new.try_recv(),
        Err(oneshot::error::TryRecvError::Empty),
        "it is not closed, which would make it ask again"
    );
    new.await.unwrap();
    assert_eq!(gate.counted(), 2);
}

#[tokio::test]
async fn a_budget_that_is_gone_is_waited_for() {
    let gate = gate(Settings::default(), 1, 1);
    gate.enqueue(0).await.unwrap();
    let mut denied = gate.enqueue(1);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(denied.try_recv(), Err(oneshot::error::TryRecvError::Empty), "it waits, and its channel is open");
    let starts =
        SessionStarts { total: 1_000, remaining: 1_000, reset_after: Duration::from_secs(90_000), max_concurrency: 1 };
    gate.refresh(&starts, None);
    denied.await.unwrap();
    assert_eq!(gate.counted(), 2);
}

/// Shares what is kept with the test.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<InMemoryStarts>>);

impl StartStore for Kept {
    fn kept(&self, now: Time) -> Vec<Start> {
        self.0.lock().unwrap().kept(now)
    }

    fn apply(&mut self, now: Time, change: Change) {
        self.0.lock().unwrap().apply(now, change);
    }
}

#[tokio::test]
async fn what_is_kept_is_what_was_told() {
    let kept = Kept::default();
    let clock = Clock::new(SCALE);
    let starts =
        SessionStarts { total: 1_000, remaining: 1_000, reset_after: Duration::from_secs(86_400), max_concurrency: 3 };
    let gate = IdentifyGate::with_store(Settings::default(), &starts, clock, kept.clone());
    gate.enqueue(0).await.unwrap();
    drop(gate.enqueue(3));
    gate.enqueue(1).await.unwrap();
    gate.enqueue(6).await.unwrap();
    assert_eq!(kept.kept(clock.now()).len(), 3);
    let next = IdentifyGate::with_store(Settings::default(), &starts, clock, kept);
    assert_eq!(next.counted(), 3);
}

#[tokio::test]
async fn the_rolling_limit_holds_whatever_the_day_has_left() {
    let settings = Settings { rolling_limit: 2, ..Settings::default() };
    let gate = gate(settings, 1_000, 1);
    for shard in 0..2 {
        gate.enqueue(shard).await.unwrap();
    }
    let mut third = gate.enqueue(2);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!is_granted(&mut third));
    assert_eq!((gate.counted(), gate.remaining()), (2, 998));
}
