//! Every order of events of any generation, to a bounded depth.

use std::collections::BTreeSet;

use tidegate_core::shard::{Event, Generation, Grant, Input, OnBudgetGone, Settings, Shard, StoredSession};
use tidegate_core::{Gate, Span, Time};

use super::watch::Watched;
use super::world::{ready, settings, stored};

/// `TIDEGATE_DEPTH` goes deeper.
fn depth() -> usize {
    std::env::var("TIDEGATE_DEPTH").ok().and_then(|depth| depth.parse().ok()).unwrap_or(6)
}

fn events() -> Vec<Event> {
    let closed = |code| Event::Closed { code };
    vec![
        Event::Opened,
        Event::Hello { interval: Span::from_secs(41) },
        ready(),
        Event::Resumed,
        Event::Ack,
        Event::BeatAsked,
        Event::Reconnect,
        Event::InvalidSession { resumable: false },
        Event::InvalidSession { resumable: true },
        closed(None),
        closed(Some(4008)),
        closed(Some(4009)),
        closed(Some(4014)),
        Event::Error,
    ]
}

/// All that may happen next: at once, or at the moment the shard asked for.
fn next(state: &Watched, grant: u64) -> Vec<(Time, Input)> {
    let now = state.now;
    let mut inputs = vec![
        (now, Input::Start),
        (now, Input::Fresh { differs: false }),
        (now, Input::Fresh { differs: true }),
        (now, Input::Budget),
        (now, Input::NextInLine { due: now + Span::from_secs(5) }),
        (now, Input::Granted { grant: Grant(grant) }),
        (now, Input::Denied { refresh_at: now + Span::from_secs(60) }),
        (now, Input::Unauthorized),
        (now, Input::Stop),
        (now, Input::Logout),
        (now, Input::Rewind { seq: 0 }),
        (now, Input::Restart),
        (now + Span::from_secs(61), Input::Tick),
    ];
    if let Some((at, _)) = state.shard.poll_timeout() {
        inputs.push((at, Input::Tick));
    }
    let Generation(living) = state.generation();
    for generation in [Generation(living), Generation(living.saturating_sub(1))] {
        inputs.extend(events().into_iter().map(|event| (now, Input::Socket { generation, event })));
    }
    inputs
}

/// Two states that differ in nothing but the draws to come are one where every draw is the same.
fn key(state: &Watched) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let text = format!("{state:?}");
    let (before, rest) = text.split_once("Jitter(").unwrap();
    let (_, after) = rest.split_once(')').unwrap();
    let mut hasher = DefaultHasher::new();
    (before, after).hash(&mut hasher);
    hasher.finish()
}

/// One whose every draw is the same.
fn fixed(settings: Settings, stored: Option<StoredSession>) -> Watched {
    let second = Span::from_secs;
    let fixed = Settings {
        jitter_ppm: (1_000_000, 1_000_000),
        invalid_session_wait: (second(3), second(3)),
        grace_wait: (second(90), second(90)),
        spacing: Span::ZERO,
        ..settings
    };
    Watched::new(Shard::new(fixed, stored))
}

/// How many states there are within `depth` inputs.
fn explore(first: Watched, depth: usize) -> usize {
    let mut seen = BTreeSet::from([key(&first)]);
    let mut edge = vec![first];
    for level in 0..depth {
        let mut further = Vec::new();
        for state in &edge {
            for (at, input) in next(state, level as u64 + 1) {
                let mut state = state.clone();
                state.tell(at, &input);
                if seen.insert(key(&state)) {
                    further.push(state);
                }
            }
        }
        edge = further;
    }
    seen.len()
}

#[test]
fn d20_d22_d25_no_order_of_events_makes_two_connections_or_forgets_the_shard() {
    assert!(explore(fixed(settings(), None), depth()) > 1_000);
}

#[test]
fn nor_with_a_stored_session() {
    assert!(explore(fixed(settings(), Some(stored())), depth()) > 1_000);
}

#[test]
fn nor_behind_the_proxy() {
    let settings = Settings { autonomous: false, on_budget_gone: OnBudgetGone::Stop, ..settings() };
    assert!(explore(fixed(settings, None), depth()) > 1_000);
}

/// From where most of what went wrong elsewhere began.
#[test]
fn nor_from_a_live_session() {
    for autonomous in [true, false] {
        let settings = Settings { autonomous, resume_attempts: 1, ..settings() };
        let mut state = fixed(settings, Some(stored()));
        let socket = |event| Input::Socket { generation: Generation(1), event };
        let hello = Event::Hello { interval: Span::from_secs(41) };
        for input in [Input::Start, socket(Event::Opened), socket(hello), socket(Event::Resumed)] {
            state.tell(Time::ZERO, &input);
        }
        assert!(explore(state, depth() - 1) > 1_000);
    }
}
