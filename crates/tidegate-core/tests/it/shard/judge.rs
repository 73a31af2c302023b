//! Random traces: a plain second opinion on every backoff step, by going through all that happened from the start.

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_core::shard::{Event, Generation, Grant, Input, Output, Shard, Status};
use tidegate_core::{Gate, Span, Time};

use super::timeline::plain;
use super::watch::Watched;
use super::world::{closed, ready, stored};

#[derive(Clone, Debug)]
enum Seen {
    In(Input),
    Out(Output),
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    None,
    Dialing,
    Open,
    Identifying,
    Resuming,
    Live,
}

/// The steps taken since the backoff started over, 8 at most.
fn steps(history: &[(u64, Seen)]) -> u32 {
    let (mut stage, mut living, mut steps, mut op7) = (Stage::None, 0, 0_u32, false);
    let (mut live_ms, mut acked, mut limited_ms) = (0, false, None);
    let mut tick = false;
    for (at_ms, seen) in history {
        let stable = stage == Stage::Live && acked && *at_ms >= live_ms + 60_000;
        if stable {
            (steps, op7) = (0, false);
        }
        match seen {
            Seen::Out(Output::Connect { generation, .. }) => (stage, living) = (Stage::Dialing, generation.0),
            Seen::Out(Output::Identify { .. }) => stage = Stage::Identifying,
            Seen::Out(Output::Resume { .. }) => stage = Stage::Resuming,
            Seen::Out(Output::Close { .. }) if tick && stage != Stage::None => {
                (stage, steps) = (Stage::None, steps + 1);
            }
            Seen::Out(_) => {}
            Seen::In(Input::Socket { generation, event }) if generation.0 == living && stage != Stage::None => {
                tick = false;
                let more = match event {
                    Event::Opened | Event::Hello { .. } => {
                        stage = if stage == Stage::Dialing { Stage::Open } else { stage };
                        continue;
                    }
                    Event::Ready { .. } | Event::Resumed => {
                        let answers = stage == Stage::Resuming
                            || (stage == Stage::Identifying && matches!(event, Event::Ready { .. }));
                        if answers {
                            (stage, live_ms, acked) = (Stage::Live, *at_ms, false);
                        }
                        continue;
                    }
                    Event::Ack => {
                        acked = true;
                        if stage == Stage::Live && *at_ms >= live_ms + 60_000 {
                            (steps, op7) = (0, false);
                        }
                        continue;
                    }
                    Event::Dispatch { .. } | Event::BeatAsked | Event::Sent { .. } => continue,
                    Event::Reconnect => u32::from(std::mem::replace(&mut op7, true)),
                    Event::InvalidSession { resumable } => match stage {
                        Stage::Resuming => u32::from(*resumable),
                        Stage::Live => u32::from(!stable),
                        Stage::None | Stage::Dialing | Stage::Open | Stage::Identifying => 1,
                    },
                    Event::Closed { code: Some(4008) } => {
                        let last_ms = limited_ms.replace(*at_ms);
                        if last_ms.is_none_or(|last_ms| last_ms + 3_600_000 <= *at_ms) { 0 } else { 8 }
                    }
                    Event::Closed { .. } | Event::Error => 1,
                };
                (stage, steps) = (Stage::None, steps + more);
            }
            Seen::In(Input::Tick) => tick = true,
            Seen::In(_) => tick = false,
        }
        steps = steps.min(8);
    }
    steps
}

fn event() -> impl Strategy<Value = Event> {
    let ends = prop_oneof![
        Just(Event::Reconnect),
        any::<bool>().prop_map(|resumable| Event::InvalidSession { resumable }),
        Just(Event::Error),
        Just(Event::Closed { code: None }),
        prop::sample::select(vec![1000, 1006, 4000, 4003, 4007, 4008, 4009]).prop_map(closed),
    ];
    prop_oneof![
        4 => Just(Event::Opened),
        6 => Just(Event::Hello { interval: Span::from_secs(41) }),
        6 => prop_oneof![Just(ready()), Just(Event::Resumed)],
        4 => Just(Event::Ack),
        1 => any::<u64>().prop_map(|seq| Event::Dispatch { seq }),
        1 => Just(Event::BeatAsked),
        3 => ends,
    ]
}

#[derive(Clone, Debug)]
enum Move {
    /// So many connections ago.
    Socket(u64, Event),
    Grant,
    Wait,
}

fn moves() -> impl Strategy<Value = Vec<(u64, Move)>> {
    let gap = prop_oneof![4 => 0..2_000_u64, 2 => 0..70_000_u64, 1 => 0..2_000_000_u64];
    let one = prop_oneof![
        8 => (prop_oneof![6 => Just(0), 1 => 1..3_u64], event()).prop_map(|(ago, event)| Move::Socket(ago, event)),
        2 => Just(Move::Grant),
        1 => Just(Move::Wait),
    ];
    vec((gap, one), 1..120)
}

fn judge(moves: &[(u64, Move)], with_session: bool) {
    let shard = Shard::new(plain(), with_session.then(stored));
    let mut watched = Watched::new(shard);
    let mut history = Vec::new();
    let mut now_ms = 0;
    let mut tell = |watched: &mut Watched, at_ms: u64, input: Input| {
        let outputs = watched.tell(Time::from_millis(at_ms), &input);
        history.push((at_ms, Seen::In(input)));
        history.extend(outputs.into_iter().map(|output| (at_ms, Seen::Out(output))));
        assert_eq!(watched.shard.backoff_step(), steps(&history), "after {:?}", history.last());
    };
    tell(&mut watched, 0, Input::Start);
    for (grant, (gap_ms, what)) in (1..).zip(moves) {
        now_ms += gap_ms;
        while let Some((at, _)) = watched.shard.poll_timeout()
            && at.as_millis_ceil() <= now_ms
        {
            tell(&mut watched, at.as_millis_ceil(), Input::Tick);
        }
        let input = match what {
            Move::Socket(ago, event) => {
                let generation = Generation(watched.generation().0.saturating_sub(*ago));
                Input::Socket { generation, event: event.clone() }
            }
            Move::Grant => Input::Granted { grant: Grant(grant) },
            Move::Wait => Input::Tick,
        };
        tell(&mut watched, now_ms, input);
        assert!(!matches!(watched.shard.status(), Status::Stopped(_)));
    }
}

proptest! {
    #[test]
    fn every_step_is_the_one_that_the_whole_history_gives(moves in moves(), with_session: bool) {
        judge(&moves, with_session);
    }
}
