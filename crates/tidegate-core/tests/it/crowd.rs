//! As many writes held as may be: no step looks at all of them again and again.

use std::sync::Arc;
use std::time::Duration;

use tidegate_core::governor::{Answer, Class, Governor, HELD_MAX, Input, Output, Scope, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};

/// Enough to see that no step looks at all of them for each of them.
const WRITES: u64 = 800;

/// What is asked for: the number of the write decides.
struct Crowd {
    policy: &'static str,
    method: fn(u64) -> String,
    peer: fn(u64) -> i64,
    class: fn(u64) -> Option<Class>,
    weight: fn(u64) -> u32,
    hold_ms: fn(u64) -> u64,
    /// The bot cools for so long once all have come.
    cools_ms: u64,
}

const PLAIN: Crowd = Crowd {
    policy: "telegram",
    method: |_| "sendMessage".to_owned(),
    peer: |at| 1_000 + at.cast_signed(),
    class: |_| None,
    weight: |_| 1,
    hold_ms: |_| 600_000,
    cools_ms: 0,
};

/// The most that one step looked at, and the longest that one took.
#[derive(Clone, Copy, Debug, Default)]
struct Worst {
    looked: u64,
    took: Duration,
    held: usize,
    ended: u64,
}

/// What this thread has had of a processor so far, where the system tells.
fn on_cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

fn run(crowd: &Crowd, writes: u64) -> Worst {
    let policy = Arc::new(Policy::load(crowd.policy, &[]).unwrap());
    let mut gate = Governor::new(Arc::clone(&policy), false);
    let mut worst = Worst::default();
    let mut tell = |gate: &mut Governor, at: Time, input: Input| {
        let (before, started) = (gate.looked(), on_cpu());
        gate.handle(at, input);
        worst.took = worst.took.max(on_cpu().saturating_sub(started));
        worst.looked = worst.looked.max(gate.looked() - before);
        worst.held = worst.held.max(gate.held());
        let mut sent = Vec::new();
        while let Some(output) = gate.poll_output() {
            match output {
                Output::Send { ticket, .. } => sent.push(ticket),
                Output::Refuse { .. } | Output::Drop { .. } => worst.ended += 1,
                _ => {}
            }
        }
        worst.ended += sent.len() as u64;
        sent
    };
    let mut flying = Vec::new();
    for at in 0..writes {
        let method = (crowd.method)(at);
        let write = Write {
            ticket: Ticket(at + 1),
            row: policy.row_of(&Call { method: &method, has_chat: true, rich: false, paid: false }),
            method: MethodKey::of(&method),
            peer: Some(Peer::Id((crowd.peer)(at))),
            wider: None,
            thread: None,
            message: None,
            class: (crowd.class)(at),
            weight: (crowd.weight)(at),
            fields: Box::default(),
            max_hold: Some(Span::from_millis((crowd.hold_ms)(at))),
            auto_hold: None,
        };
        flying.extend(tell(&mut gate, Time::ZERO, Input::Write(write)));
    }
    if crowd.cools_ms > 0 {
        let duration = Span::from_millis(crowd.cools_ms);
        tell(&mut gate, Time::ZERO, Input::Cooldown { scope: Scope::Bot, duration });
    }
    let mut now = Time::ZERO;
    while gate.held() > 0 && now < Time::from_millis(700_000) {
        now = gate.poll_timeout().unwrap().0.max(now);
        flying.extend(tell(&mut gate, now, Input::Tick));
        for ticket in std::mem::take(&mut flying) {
            flying.extend(tell(&mut gate, now, Input::Done { ticket, result: Answer::Ok }));
        }
    }
    worst
}

/// However they wait, a step looks at each held write a few times at most.
fn looks_at_each_a_few_times(name: &str, crowd: &Crowd) {
    let worst = run(crowd, WRITES);
    assert!(worst.held as u64 > WRITES / 2, "{name}: only {} were held", worst.held);
    assert_eq!(worst.ended, WRITES, "{name}");
    assert!(worst.looked <= 4 * WRITES, "{name}: a step looked at {} writes", worst.looked);
}

#[test]
fn of_many_chats() {
    looks_at_each_a_few_times("no hurry", &PLAIN);
    // All are told at once that they are late, and all holds end as the bot may write again.
    for cools_ms in [550_000, 600_000] {
        looks_at_each_a_few_times("cooled", &Crowd { cools_ms, ..PLAIN });
        let two_each = |at: u64| 1_000 + (at % (WRITES / 2)).cast_signed();
        looks_at_each_a_few_times("two each", &Crowd { peer: two_each, cools_ms, ..PLAIN });
        let (method, weight) =
            ((|_| "sendMediaGroup".to_owned()) as fn(u64) -> String, |at| if at % 3 == 0 { 10 } else { 1 });
        looks_at_each_a_few_times("albums", &Crowd { method, weight, cools_ms, ..PLAIN });
    }
    let hold_ms = |at| if at < WRITES / 2 { 600_000 } else { 300_000 };
    looks_at_each_a_few_times("half of them wait on", &Crowd { hold_ms, cools_ms: 300_000, ..PLAIN });
}

#[test]
fn of_few_chats() {
    for cools_ms in [300_000, 600_000] {
        let peer = |at: u64| 1_000 + (at % 8).cast_signed();
        looks_at_each_a_few_times("chats", &Crowd { peer, cools_ms, ..PLAIN });
        let class = |at: u64| Some(Class::ALL[usize::try_from(at % 7).unwrap()]);
        looks_at_each_a_few_times("classes", &Crowd { peer, class, cools_ms, ..PLAIN });
    }
}

#[test]
fn of_many_routes() {
    let method = |at| format!("PUT /channels/{{channel}}/things{}", at % 256);
    for cools_ms in [300_000, 600_000] {
        for peer in [(|at| 1 + (at / 256).cast_signed()) as fn(u64) -> i64, |at| 1_000 + at.cast_signed()] {
            looks_at_each_a_few_times("routes", &Crowd { policy: "discord", method, peer, cools_ms, ..PLAIN });
        }
    }
}

/// The longest step with as many held as may be: `TIDEGATE_TIME=1 cargo test --release … crowd -- --nocapture`.
#[test]
fn the_longest_step() {
    if std::env::var_os("TIDEGATE_TIME").is_none() {
        return;
    }
    let routes = |at| format!("PUT /channels/{{channel}}/things{}", at % 256);
    for (name, crowd) in [
        ("chats", PLAIN),
        ("cooled", Crowd { cools_ms: 500_000, ..PLAIN }),
        ("cooled to the end", Crowd { cools_ms: 600_000, ..PLAIN }),
        (
            "routes",
            Crowd {
                policy: "discord",
                method: routes,
                peer: |at| 1 + (at / 256).cast_signed(),
                cools_ms: 500_000,
                ..PLAIN
            },
        ),
        (
            "routes to the end",
            Crowd {
                policy: "discord",
                method: routes,
                peer: |at| 1 + (at / 256).cast_signed(),
                cools_ms: 600_000,
                ..PLAIN
            },
        ),
    ] {
        println!("{name}: {:?}", run(&crowd, HELD_MAX as u64 - 100));
    }
}
