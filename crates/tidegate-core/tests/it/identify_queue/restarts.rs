//! The budget is kept over restarts.

use tidegate_core::identify_queue::{
    IdentifyQueue, InMemoryStarts, Input, Output, SessionStartLimit, Settings, Shard, Start, StartStore,
};
use tidegate_core::{Gate, Time};

fn limit() -> SessionStartLimit {
    SessionStartLimit { max_concurrency: 1, remaining: 1_000, reset_at: Time::ZERO }
}

/// One life of a process: it asks for one start and is gone.
fn live(starts: &mut InMemoryStarts, at_ms: u64, shard: Shard) -> Output {
    let now = Time::from_millis(at_ms);
    let mut gate = IdentifyQueue::new(Settings::default(), limit(), starts.kept(now));
    gate.handle(now, Input::Request { shard, http: false });
    for change in gate.take_changes() {
        starts.apply(now, change);
    }
    gate.poll_output().unwrap()
}

/// D5: a program that starts every few minutes spends its starts, but never all of them.
#[test]
fn d5_a_start_every_two_minutes_stops_at_half_of_what_resets_the_token() {
    let mut starts = InMemoryStarts::default();
    let lives: Vec<Output> = (0..720).map(|life| live(&mut starts, life * 120_000, 0)).collect();
    let granted = lives.iter().filter(|output| matches!(output, Output::Grant { .. })).count();
    assert_eq!(granted, 500);
    assert_eq!(lives[600], Output::Deny { shard: 0, refresh_at: Time::from_millis(86_400_000) });
    assert!(matches!(live(&mut starts, 86_400_000, 0), Output::Grant { .. }));
}

#[test]
fn three_hundred_lives_in_a_day_are_three_hundred_starts() {
    let mut starts = InMemoryStarts::default();
    let granted = (0..300).filter(|life| matches!(live(&mut starts, life * 288_000, 0), Output::Grant { .. })).count();
    assert_eq!((granted, starts.kept(Time::from_millis(86_399_999)).len()), (300, 300));
}

#[test]
fn what_is_undone_is_undone_in_the_store_too() {
    let mut starts = InMemoryStarts::with(vec![Start { lapses_at: Time::from_millis(5), shard: None }]);
    let mut gate = IdentifyQueue::new(Settings::default(), limit(), starts.kept(Time::ZERO));
    for (input, kept) in [
        (Input::Request { shard: 3, http: false }, 2),
        (Input::Release { shard: 3, grant: None, unused: true }, 1),
        (Input::Request { shard: 3, http: false }, 2),
    ] {
        gate.handle(Time::ZERO, input);
        gate.take_changes().into_iter().for_each(|change| starts.apply(Time::ZERO, change));
        assert_eq!(starts.kept(Time::ZERO).len(), kept);
        assert_eq!(gate.counted(), kept as u64);
    }
    assert_eq!(starts.kept(Time::from_millis(5)).len(), 1);
}
