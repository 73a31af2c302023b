//! A day of each failure: how many session starts it spends.

use tidegate_core::shard::{Event, Input, Note, Output};

use super::queue::HOLD_MS;
use super::world::{Act, Dice, World, closed, healthy, open, ready, settings, stored};

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
const SEEDS: u64 = 8;

const fn invalid(resumable: bool) -> Event {
    Event::InvalidSession { resumable }
}

/// A day of one shard, for some seeds.
fn days(script: impl Fn(Act) -> Vec<(u64, Event)> + Copy + 'static, judge: impl Fn(&World)) {
    for seed in 0..SEEDS {
        let mut world = World::with(1, 1, |settings| settings.seed = seed, None, move |_, act| script(act)).start();
        world.run_until(DAY_MS);
        judge(&world);
    }
}

#[test]
fn d2_d3_closed_after_50_s_and_no_resume() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (50_100, closed(1000))],
        Act::Resume => vec![(100, invalid(false))],
        _ => healthy(act),
    };
    days(script, |world| {
        let identifies = world.identifies();
        assert!((110..=180).contains(&identifies), "{identifies} identifies");
        assert!(world.dials() <= 360, "{} dials", world.dials());
        let waits: Vec<u64> = world.seats[0].identifies_ms.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(waits.first() < waits.last(), "the waits grow");
    });
}

#[test]
fn closed_after_50_s_and_every_resume_works() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (50_100, closed(1000))],
        Act::Resume => vec![(100, Event::Resumed), (50_100, closed(1000))],
        _ => healthy(act),
    };
    days(script, |world| {
        assert_eq!(world.identifies(), 1);
        assert!(world.dials() <= 1_440, "{} dials", world.dials());
    });
}

/// How long the one shard had no session, where each ends `up_ms` after its READY or RESUMED.
fn away_ms(world: &World, up_ms: u64) -> u64 {
    DAY_MS - up_ms * (world.identifies() + world.seats[0].resumes_ms.len()) as u64
}

/// Whatever the sessions' length: the wait fills up the minute, and is no longer than that or the first step.
#[test]
fn e12_sessions_that_are_cut_and_can_be_resumed_are_away_for_the_rest_of_each_minute() {
    for up_ms in [1_000, 10_000, 30_000, 50_000, 55_000, 57_500, 59_900] {
        let script = move |act| match act {
            Act::Identify => vec![(100, ready()), (100 + up_ms, closed(4000))],
            Act::Resume => vec![(100, Event::Resumed), (100 + up_ms, closed(4000))],
            _ => healthy(act),
        };
        days(script, |world| {
            assert_eq!(world.identifies(), 1);
            let resumes = world.seats[0].resumes_ms.len() as u64;
            assert!(resumes <= 1_440, "{resumes} RESUMEs of sessions of {up_ms} ms");
            let (away, handshake) = (away_ms(world, up_ms), 300);
            let most = ((60_000 - up_ms).max(5_000) + handshake) * resumes + up_ms;
            assert!(away <= most, "{away} ms away, sessions of {up_ms} ms");
        });
    }
}

#[test]
fn e12_d2_closed_after_55_s_is_away_for_two_hours_of_the_day() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (55_100, closed(1000))],
        Act::Resume => vec![(100, Event::Resumed), (55_100, closed(1000))],
        _ => healthy(act),
    };
    days(script, |world| {
        let (away, resumes) = (away_ms(world, 55_000), world.seats[0].resumes_ms.len());
        assert!(away <= 22 * HOUR_MS / 10 && resumes <= 1_440, "{away} ms away, {resumes} RESUMEs");
    });
}

#[test]
fn d1_every_resume_refused_and_every_session_dropped_after_3_s() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (3_100, closed(1006))],
        Act::Resume => vec![(100, invalid(false))],
        _ => healthy(act),
    };
    days(script, |world| assert!(world.identifies() <= 200, "{} identifies", world.identifies()));
}

#[test]
fn d14_op_9_false_after_each_ready_or_in_answer_to_each_identify() {
    let after_ready = |act| match act {
        Act::Identify => vec![(100, ready()), (1_100, invalid(false))],
        _ => healthy(act),
    };
    let instead = |act| match act {
        Act::Identify => vec![(100, invalid(false))],
        _ => healthy(act),
    };
    days(after_ready, |world| assert!(world.identifies() <= 200, "{} identifies", world.identifies()));
    days(instead, |world| assert!(world.identifies() <= 200, "{} identifies", world.identifies()));
}

#[test]
fn op_9_true_in_answer_to_everything() {
    let to_all = |act| match act {
        Act::Identify | Act::Resume => vec![(100, invalid(true))],
        _ => healthy(act),
    };
    let after_all = |act| match act {
        Act::Identify => vec![(100, ready()), (200, invalid(true))],
        Act::Resume => vec![(100, invalid(true))],
        _ => healthy(act),
    };
    let after_resumed = |act| match act {
        Act::Resume => vec![(100, Event::Resumed), (1_100, invalid(true))],
        Act::Identify => vec![(100, ready()), (1_100, invalid(true))],
        _ => healthy(act),
    };
    days(to_all, |world| assert!(world.identifies() <= 170, "{} identifies", world.identifies()));
    days(after_all, |world| assert!(world.identifies() <= 170, "{} identifies", world.identifies()));
    days(after_resumed, |world| assert_eq!(world.identifies(), 1));
}

#[test]
fn op_7_ten_seconds_after_every_ready() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (10_100, Event::Reconnect)],
        Act::Resume => vec![(100, Event::Resumed), (10_100, Event::Reconnect)],
        _ => healthy(act),
    };
    days(script, |world| {
        assert_eq!(world.identifies(), 1);
        assert!(world.dials() <= 2_300, "{} dials", world.dials());
    });
}

#[test]
fn op_7_in_answer_to_every_identify_and_in_place_of_every_hello() {
    let to_identify = |act| match act {
        Act::Identify => vec![(100, Event::Reconnect)],
        _ => healthy(act),
    };
    let for_hello = |act| match act {
        Act::Dial { .. } => vec![(100, Event::Opened), (200, Event::Reconnect)],
        _ => healthy(act),
    };
    days(to_identify, |world| assert!(world.identifies() <= 200, "{} identifies", world.identifies()));
    days(for_hello, |world| {
        assert_eq!(world.identifies(), 0);
        assert!(world.dials() <= 200, "{} dials", world.dials());
    });
}

#[test]
fn a_bot_that_crashes_and_identifies_anew_for_ever() {
    // From a crash every 7 s, before anything is stable, to one every 10 min, long after.
    for crash_ms in [7_000, 30_000, 61_000, 70_000, 100_000, 600_000] {
        for differs in [false, true] {
            let autonomous = |settings: &mut tidegate_core::shard::Settings| settings.autonomous = false;
            let mut world = World::with(1, 1, autonomous, None, |_, act| healthy(act)).start();
            for at_ms in (0..DAY_MS).step_by(crash_ms) {
                world.at(at_ms, 0, Input::Fresh { differs });
            }
            world.run_until(DAY_MS);
            let identifies = world.identifies();
            assert!((1..=200).contains(&identifies), "{identifies} identifies at a crash every {crash_ms} ms");
        }
    }
}

#[test]
fn d5_300_process_starts_in_a_day() {
    for (resumes, most) in [(true, 1), (false, 300)] {
        let (mut saved, mut identifies, mut dials) = (None::<tidegate_core::shard::StoredSession>, 0, 0);
        for start in 0..300_u64 {
            let script = move |_, act| match act {
                Act::Resume if !resumes => vec![(100, invalid(false))],
                _ => healthy(act),
            };
            let mut world = World::with(1, 1, |settings| settings.seed = start, saved.as_ref(), script);
            world.now_ms = start * 288_000;
            let mut world = world.start();
            world.run_until((start + 1) * 288_000 - 1);
            assert_eq!(world.live(), 1);
            identifies += world.identifies();
            dials += world.dials();
            saved = world.seats[0].saved.take();
        }
        assert!(identifies <= most, "{identifies} identifies");
        assert!(dials <= 600, "{dials} dials");
    }
}

#[test]
fn sixteen_shards_whose_network_is_away_for_six_hours() {
    for seed in 0..SEEDS {
        for (hangs, sessions) in [(false, false), (true, false), (false, true), (true, true)] {
            let (gone_ms, back_ms) = (HOUR_MS, 7 * HOUR_MS);
            let script = move |by: super::world::By, act| {
                let away = (if sessions { gone_ms } else { 0 }..back_ms).contains(&by.now_ms);
                match act {
                    Act::Dial { .. } if away && hangs => vec![],
                    Act::Dial { .. } if away => vec![(5, Event::Error)],
                    Act::Beat if away => vec![],
                    Act::Resume if by.now_ms >= back_ms => vec![(100, invalid(false))],
                    _ => healthy(act),
                }
            };
            let mut world = World::with(16, 1, |settings| settings.seed = seed, None, script).start();
            world.run_until(back_ms - 1);
            let before = if sessions { 16 } else { 0 };
            assert_eq!(world.identifies(), before, "no start is spent while it is away");
            world.run_until(back_ms + 150_000);
            assert_eq!(world.live(), 16, "hangs {hangs}, sessions {sessions}, seed {seed}: up within 2.5 min");
            assert_eq!(world.identifies(), before + 16);
            assert_eq!(u64::MAX - world.queue.remaining, before as u64 + 16, "every unused start went back");
        }
    }
}

#[test]
fn ready_takes_90_s_for_three_hours() {
    let script = |act| match act {
        Act::Identify => vec![(90_000, ready())],
        _ => healthy(act),
    };
    let mut world = World::new(16, 1, move |_, act| script(act)).start();
    world.run_until(3 * HOUR_MS);
    assert_eq!((world.identifies(), world.live()), (16, 16));
}

#[test]
fn hello_takes_36_s_in_half_of_all_dials() {
    for seed in 0..SEEDS {
        let mut dice = Dice::new(seed);
        let script = move |_, act| match act {
            Act::Dial { .. } => open(if dice.roll(2) == 0 { 36_000 } else { 200 }),
            Act::Identify => vec![(100, ready()), (20_000, closed(4009))],
            _ => healthy(act),
        };
        // The judge of spacing stands in the world.
        let mut world = World::with(8, 2, |settings| settings.seed = seed, None, script).start();
        world.run_until(HOUR_MS);
        assert!(world.identifies() >= 8);
        let late = world.seats.iter().flat_map(|seat| &seat.dials_ms).count();
        assert!(late > 8 && HOLD_MS < 36_000);
    }
}

#[test]
fn network_away_for_120_s_while_a_session_is_held() {
    for hangs in [false, true] {
        let script = move |by: super::world::By, act| match act {
            Act::Dial { .. } if by.now_ms < 120_000 && hangs => vec![],
            Act::Dial { .. } if by.now_ms < 120_000 => vec![(5, Event::Closed { code: None })],
            _ => healthy(act),
        };
        let mut world = World::with(1, 1, |_| {}, Some(&stored()), script).start();
        world.run_until(300_000);
        assert_eq!((world.identifies(), world.live()), (0, 1));
    }
}

#[test]
fn d7_the_store_is_away_for_two_hours() {
    let script = |by: super::world::By, act| match act {
        Act::Identify | Act::Resume if by.now_ms < 2 * HOUR_MS => {
            let mut answers = healthy(act);
            answers.push((100_000, closed(1001)));
            answers
        }
        _ => healthy(act),
    };
    let mut world = World::with(1, 1, |_| {}, Some(&stored()), script).start();
    world.queue.away = true;
    let mut other = World::new(1, 1, |_, act| healthy(act));
    other.queue.away = true;
    let mut other = other.start();
    world.run_until(2 * HOUR_MS);
    other.run_until(2 * HOUR_MS);
    assert!(world.seats[0].resumes_ms.len() > 40, "RESUMEs go on");
    assert_eq!((world.identifies(), other.identifies(), other.dials()), (0, 0, 0));
    other.queue.away = false;
    other.at(2 * HOUR_MS, 0, Input::Tick);
    other.run_until(2 * HOUR_MS + 1_000);
    assert_eq!(other.live(), 1);
}

#[test]
fn d9_2048_shards_start_as_fast_as_discord_lets_them() {
    let mut world = World::new(2_048, 16, |_, act| healthy(act)).start();
    world.run_until((2_048 / 16 - 1) * 5_000 + 300);
    assert_eq!(world.live(), 2_048);
    assert_eq!(world.identifies(), 2_048);
}

#[test]
fn ends_before_stability_are_told_long_before_the_budget_is_gone() {
    let script = |act| match act {
        Act::Identify => vec![(100, ready()), (3_100, closed(4009))],
        _ => healthy(act),
    };
    let mut world = World::new(1, 1, move |_, act| script(act)).start();
    world.run_until(HOUR_MS);
    let told = world.seats[0].outputs.iter().find_map(|(at_ms, output)| match output {
        Output::Note(Note::Unstable { reasons }) => Some((*at_ms, reasons.clone())),
        _ => None,
    });
    let (at_ms, reasons) = told.unwrap();
    assert_eq!(reasons, [(tidegate_core::shard::End::Closed(Some(4009)), 3)]);
    assert!(at_ms < 60_000 && settings().backoff_min.as_secs_ceil() == 5);
}
