//! The identify queue in random worlds, before a judge that keeps all that ever happened and looks through it.

mod judge;
mod restarts;

use proptest::prelude::*;
use tidegate_core::identify_queue::{GrantId, IdentifyQueue, Input, Output, SessionStartLimit, Settings, Shard};
use tidegate_core::{Gate, Span, Time};

use self::judge::Judge;

/// Something that happens. Whoever holds a grant behaves: IDENTIFY is written only while the grant lives.
#[derive(Clone, Debug)]
enum Act {
    Request(Shard),
    Release { shard: Shard, numbered: bool, unused: bool },
    ReleaseOld { shard: Shard, grant: u64 },
    Identify(Shard),
    WrittenLate(Shard),
    Defer { shard: Shard, ms: u64 },
    Refresh { max_concurrency: i64, remaining: i64, reset_in_ms: u64 },
    Tick,
}

fn acts() -> impl Strategy<Value = Vec<(u64, u64, Act)>> {
    let shard = || -2_i64..9;
    let act = prop_oneof![
        10 => shard().prop_map(Act::Request),
        5 => (shard(), any::<bool>(), any::<bool>())
            .prop_map(|(shard, numbered, unused)| Act::Release { shard, numbered, unused }),
        2 => (shard(), 0_u64..60).prop_map(|(shard, grant)| Act::ReleaseOld { shard, grant }),
        6 => shard().prop_map(Act::Identify),
        1 => shard().prop_map(Act::WrittenLate),
        2 => (shard(), 0_u64..20_000).prop_map(|(shard, ms)| Act::Defer { shard, ms }),
        2 => (-1_i64..6, -1_i64..40, 0_u64..90_000_000)
            .prop_map(|(max_concurrency, remaining, reset_in_ms)| Act::Refresh { max_concurrency, remaining, reset_in_ms }),
        3 => Just(Act::Tick),
    ];
    let gap = prop_oneof![6 => 0_u64..300, 6 => 0_u64..6_000, 2 => 0_u64..40_000, 1 => 0_u64..20_000_000];
    // What the clock shows may lie before what it showed last.
    let back = prop_oneof![6 => Just(0_u64), 1 => 0_u64..10_000];
    prop::collection::vec((gap, back, act), 1..150)
}

struct World {
    gate: IdentifyQueue,
    judge: Judge,
    now: u64,
}

impl World {
    fn tell(&mut self, at: u64, input: &Input) {
        self.now = self.now.max(at);
        self.judge.before(self.now, input);
        self.gate.handle(Time::from_millis(at), input.clone());
        let mut outputs = Vec::new();
        while let Some(output) = self.gate.poll_output() {
            outputs.push(output);
        }
        self.judge.after(self.now, input, &outputs, self.gate.remaining());
    }

    fn run_until(&mut self, end: u64) {
        while let Some((due, _)) = self.gate.poll_timeout()
            && due.as_millis_ceil() <= end
        {
            self.tell(due.as_millis_ceil(), &Input::Tick);
        }
    }

    fn act(&mut self, at: u64, act: &Act) {
        let input = match *act {
            Act::Request(shard) => Input::Request { shard, http: false },
            Act::Release { shard, numbered, unused } => {
                let grant = self.judge.living(self.now, shard).filter(|_| numbered);
                Input::Release { shard, grant: grant.map(GrantId), unused }
            }
            Act::ReleaseOld { shard, grant } => Input::Release { shard, grant: Some(GrantId(grant)), unused: true },
            Act::Identify(shard) => match self.judge.living(self.now.max(at), shard) {
                Some(grant) => Input::Identified { shard, grant: Some(GrantId(grant)) },
                None => Input::Tick,
            },
            Act::WrittenLate(shard) => Input::Identified { shard, grant: Some(GrantId(u64::MAX)) },
            Act::Defer { shard, ms } => match self.judge.living(self.now.max(at), shard) {
                Some(grant) => {
                    Input::Deferred { shard, grant: GrantId(grant), until: Time::from_millis(self.now.max(at) + ms) }
                }
                None => Input::Tick,
            },
            Act::Refresh { max_concurrency, remaining, reset_in_ms } => Input::Refresh {
                limit: SessionStartLimit { max_concurrency, remaining, reset_at: Time::from_millis(at + reset_in_ms) },
                total: None,
                shards: None,
            },
            Act::Tick => Input::Tick,
        };
        self.tell(at, &input);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_starts_within_the_spacing_no_budget_exceeded_nobody_forgotten(
        acts in acts(), max_concurrency in 1_i64..5, rolling_limit in 1_u64..40, shards in 1_u64..3, auto in any::<bool>(),
    ) {
        let settings = Settings { rolling_limit, shards, ..Settings::default() };
        let limit = SessionStartLimit { max_concurrency, remaining: 30, reset_at: Time::from_millis(80_000_000) };
        let judge = Judge::new(&settings, &limit);
        let mut world = World { gate: IdentifyQueue::new(settings, limit, []), judge, now: 0 };
        let mut now = 0;
        for (gap, back, act) in acts {
            now += gap;
            if auto {
                world.run_until(now);
            }
            world.act(now.saturating_sub(back), &act);
        }
        // Whoever still waits is served or told within a hold and a spacing for each, and what stores deferred.
        world.run_until(now + 12 * 35_000 + 20_000);
        prop_assert_eq!(world.judge.waiting(), 0);
    }
}

#[test]
fn those_who_wait_are_bounded_and_the_old_are_kept() {
    let limit = SessionStartLimit { max_concurrency: 1, remaining: 9, reset_at: Time::ZERO };
    let mut gate = IdentifyQueue::new(Settings { waiting_bound: 2, ..Settings::default() }, limit, []);
    for shard in [0, 1, 2, 3, 1] {
        gate.handle(Time::ZERO, Input::Request { shard, http: false });
    }
    let outputs: Vec<Output> = std::iter::from_fn(|| gate.poll_output()).collect();
    let denied = Output::Deny { shard: 3, refresh_at: Time::from_millis(5_000) };
    assert_eq!(outputs.iter().filter(|output| matches!(output, Output::Deny { .. })).collect::<Vec<_>>(), [&denied]);
    assert_eq!(gate.next_in_line(Time::ZERO), [(1, Time::from_millis(5_000))]);
}

#[test]
fn the_rolling_limit_is_half_unless_the_shards_need_more() {
    let limit = |total, shards| Settings { total, shards, ..Settings::default() }.rolling_limit();
    assert_eq!([limit(1_000, 1), limit(1_000, 64), limit(1_000, 600), limit(2_000, 2_048)], [500, 500, 750, 1_900]);
    assert_eq!([limit(0, 0), limit(1, 1), limit(u64::MAX, u64::MAX)], [1, 1, u64::MAX / 100 * 95 + 14]);
    assert_eq!(Settings { rolling_limit: 7, ..Settings::default() }.rolling_limit(), 7);
}

#[test]
fn it_lives_with_any_numbers() {
    for number in [i64::MIN, -1, 0, 1, i64::MAX] {
        let at = Time::from_millis(number.unsigned_abs());
        let limit = SessionStartLimit { max_concurrency: number, remaining: number, reset_at: at };
        let settings = Settings {
            spacing: Span::from_millis(number.unsigned_abs()),
            hold: Span::from_millis(number.unsigned_abs()),
            rolling_limit: number.unsigned_abs(),
            ..Settings::default()
        };
        let mut gate = IdentifyQueue::new(settings, limit, []);
        for (at, shard) in [(0, number), (1, 3), (9, number), (5, 0)] {
            let now = Time::from_millis(at);
            gate.handle(now, Input::Request { shard, http: shard == 0 });
            gate.handle(now, Input::Refresh { limit, total: Some(0), shards: Some(9) });
            gate.handle(now, Input::Identified { shard, grant: None });
            gate.handle(now, Input::Release { shard, grant: None, unused: true });
        }
    }
}
