//! What went wrong for others, by the number in docs/cases.md.

use expect_test::expect;
use tidegate_core::Span;
use tidegate_core::shard::{Input, OnBudgetGone, Output, Settings, Status};

use super::timeline::{Timeline, check, check_with, plain};
use super::world::{Act, World, healthy, open, ready, settings, stored};

const LIVE: &str = "0 start
    0 granted 1
    200 opened
    200 hello
    300 ready s";

#[test]
fn d4_every_identify_and_every_wait_is_told() {
    check(
        &format!("{LIVE}\n50300 closed 4009\n70000 tick"),
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            50300 save nothing
            50300 lost
            50300 waiting 55300 Backoff
            55300 request
        "#]],
    );
}

#[test]
fn d6_d36_a_resume_takes_no_grant_and_waits_in_no_line() {
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 opened\n100 hello\n200 resumed",
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
        "#]],
    );
}

#[test]
fn d7_no_start_left_is_told_and_ends_by_itself() {
    check(
        "0 start\n0 denied 86400000\n86400000 granted 7",
        &expect![[r#"
            0 request
            0 waiting 86400000 Budget
            86400000 request
            86400000 connect 1 wss://main
        "#]],
    );
    let stops = Settings { on_budget_gone: OnBudgetGone::Stop, ..plain() };
    check_with(
        stops,
        None,
        "0 start\n0 denied 86400000\n5000 restart\n86400000 restart",
        &expect![[r#"
            0 request
            0 stopped Budget
            5000 note not yet 86400000 Budget
            86400000 request
        "#]],
    );
}

#[test]
fn d9_the_grant_is_held_until_ready_and_the_connection_beats_meanwhile() {
    let mut timeline = Timeline::new(plain(), None);
    let trace = "0 start
        0 next 5000
        2100 opened
        2100 hello 1000
        3100 ack
        4100 ack
        5000 granted 1
        5100 ack
        6100 ack
        6500 ready s
        6600 tick";
    expect![[r#"
        0 request
        2000 connect 1 wss://main
        3015 beat 1 None
        4015 beat 1 None
        5000 identify 1
        5015 beat 1 None
        6015 beat 1 None
        6500 release 1
        6500 save s 1 step 0
    "#]]
    .assert_eq(&timeline.with_beats().tell(trace).shown());
}

#[test]
fn d9_a_grant_that_is_too_old_is_asked_for_anew() {
    check(
        "0 start\n0 granted 1\n29999 opened\n29999 hello\n29999 tick",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            29999 identify 1
        "#]],
    );
    check(
        "0 start\n0 granted 1\n29999 opened\n30000 hello\n36000 granted 2\n36100 ready s",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            30000 release 1 unused
            30000 request
            36000 identify 1
            36100 release 2
            36100 save s 1 step 0
        "#]],
    );
}

#[test]
fn d11_an_error_while_the_grant_is_held_gives_it_back_and_tries_again() {
    check(
        "0 start\n0 granted 1\n100 opened\n100 hello\n150 error\n5200 granted 2",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            150 close 1 4000
            150 release 1
            150 waiting 5150 Backoff
            5150 request
            5200 connect 2 wss://main
        "#]],
    );
    check(
        "0 start\n0 next 5000\n2100 opened\n2100 hello\n2200 error\n5000 granted 1\n8000 tick",
        &expect![[r#"
            0 request
            2000 connect 1 wss://main
            2200 close 1 4000
            2200 waiting 7200 Backoff
            5000 release 1 unused
            7200 request
        "#]],
    );
}

#[test]
fn d14_op_9_in_answer_to_identify_waits_the_longer_and_takes_a_step() {
    check(
        "0 start\n0 granted 1\n100 hello\n200 op9 false\n5300 granted 2\n5400 hello\n5500 op9 true",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            200 close 1 4000
            200 release 1
            200 waiting 5200 InvalidSession
            5200 request
            5300 connect 2 wss://main
            5400 identify 2
            5500 close 2 4000
            5500 release 2
            5500 waiting 15500 InvalidSession
        "#]],
    );
}

#[test]
fn d15_d21_d32_three_failed_resumes_drop_the_session() {
    let trace = "0 start
        100 opened
        200 closed 1005
        5300 opened
        5400 closed 1005
        15500 opened
        15600 closed 1005
        40000 granted 1";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            200 save s 1 step 1
            200 waiting 5200 Backoff
            5200 connect 2 wss://r
            5400 save s 1 step 2
            5400 waiting 15400 Backoff
            15400 connect 3 wss://r
            15600 save nothing
            15600 lost
            15600 waiting 35600 Backoff
            35600 request
            40000 connect 4 wss://main
        "#]],
    );
}

#[test]
fn d18_d19_after_a_failed_dial_the_main_address_until_ready() {
    let trace = "0 start
        10 error
        5100 error
        15200 opened
        15200 hello
        15300 resumed
        15400 closed 4000
        56000 opened
        56000 hello
        56100 op9 false
        97000 granted 1
        97100 hello
        97200 ready t
        97300 closed";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            10 save s 1 step 1
            10 waiting 5010 Backoff
            5010 connect 2 wss://main
            5100 save s 1 step 2
            5100 waiting 15100 Backoff
            15100 connect 3 wss://main
            15200 resume 3 s 1
            15400 save s 1 step 3
            15400 waiting 35400 Backoff
            35400 connect 4 wss://main
            56000 resume 4 s 1
            56100 close 4 4000
            56100 save nothing
            56100 lost
            56100 waiting 59100 InvalidSession
            59100 request
            97000 connect 5 wss://main
            97100 identify 5
            97200 release 1
            97200 save t 1 step 3
            97300 save t 1 step 4
            97300 waiting 137300 Backoff
        "#]],
    );
}

#[test]
fn d20_d23_a_late_close_of_the_old_connection_leaves_the_new_one_alone() {
    let mut timeline = Timeline::new(plain(), Some(stored()));
    let trace = "0 start
        100 opened
        100 hello 1000
        200 resumed
        300 op7
        400 opened
        400 hello 1000
        450 @1 closed 1000
        500 resumed
        600 @1 error
        700 @1 op9 false
        800 @1 ready x
        900 @1 dispatch 99
        1300 ack
        2300 ack
        3000 dispatch 5
        3300 ack
        4300 tick";
    expect![[r#"
        0 connect 1 wss://r
        100 resume 1 s 1
        300 close 1 4000
        300 save s 1 step 0
        300 connect 2 wss://r
        400 resume 2 s 1
        450 note stale 1
        600 note stale 1
        700 note stale 1
        800 note stale 1
        900 note stale 1
        1170 beat 2 Some(1)
        2170 beat 2 Some(1)
        3170 beat 2 Some(5)
        4170 beat 2 Some(5)
    "#]]
    .assert_eq(&timeline.with_beats().tell(trace).shown());
}

#[test]
fn d22_d25_two_closes_an_error_and_a_watchdog_make_one_reconnect() {
    let trace = format!("{LIVE}\n1000 closed 1006\n1000 closed 1000\n1001 error\n61000 tick");
    check(
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 save s 1 step 1
            1000 waiting 6000 Backoff
            1000 note stale 1
            1001 note stale 1
            6000 connect 2 wss://s
        "#]],
    );
}

#[test]
fn d24_op_7_and_the_close_that_follows_dial_once() {
    check(
        &format!("{LIVE}\n1000 op7\n1010 @1 closed 1000\n1500 tick"),
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 close 1 4000
            1000 save s 1 step 0
            1000 connect 2 wss://s
            1010 note stale 1
        "#]],
    );
}

#[test]
fn d26_d28_no_end_before_hello_is_swallowed() {
    for end in ["closed", "closed 1000", "closed 1006", "error", "op7", "op9 true", "op9 false"] {
        let mut timeline = Timeline::new(plain(), Some(stored()));
        let shown = timeline.tell(&format!("0 start\n10 op7\n20 {end}\n10000 tick")).shown();
        assert!(shown.contains("connect 3"), "{end}: {shown}");
    }
}

#[test]
fn d27_an_hour_offline_is_not_a_storm() {
    let script = |_, act| match act {
        Act::Dial { .. } => vec![(0, tidegate_core::shard::Event::Error)],
        _ => healthy(act),
    };
    for first in [None, Some(stored())] {
        let mut world = World::with(1, 1, |_| {}, first.as_ref(), script).start();
        world.run_until(60_000);
        assert!((4..=5).contains(&world.dials()), "{} dials in a minute", world.dials());
        world.run_until(3_600_000);
        assert!((60..=125).contains(&world.dials()), "{} dials in an hour", world.dials());
    }
}

#[test]
fn d30_silence_is_torn_down_at_every_stage() {
    check_with(
        plain(),
        Some(stored()),
        "0 start\n60000 tick",
        &expect![[r#"
            0 connect 1 wss://r
            60000 close 1 4000
            60000 save s 1 step 1
            60000 waiting 65000 Backoff
        "#]],
    );
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 opened\n60000 tick",
        &expect![[r#"
            0 connect 1 wss://r
            60000 close 1 4000
            60000 save s 1 step 1
            60000 waiting 65000 Backoff
        "#]],
    );
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 opened\n100 hello 600000\n60100 tick",
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            60100 close 1 4000
            60100 save s 1 step 1
            60100 waiting 65100 Backoff
        "#]],
    );
    check(
        "0 start\n0 granted 1\n100 opened\n100 hello 600000\n60100 tick",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            60100 close 1 4000
            60100 release 1
            60100 waiting 65100 Backoff
        "#]],
    );
}

#[test]
fn a_slow_discord_is_waited_for_up_to_ten_minutes() {
    let signs = (0..30).fold(String::new(), |text, sign| text + &format!("{} ack\n", 100 + sign * 20_000));
    check(
        &format!("0 start\n0 granted 1\n100 opened\n100 hello 600000\n{signs}\n700000 tick"),
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            600100 close 1 4000
            600100 release 1
            600100 waiting 605100 Backoff
            605100 request
        "#]],
    );
}

#[test]
fn d33_d34_only_closes_of_ours_with_1000_or_1001_end_a_session() {
    for code in ["", " 1000", " 1001", " 1005", " 1006", " 1011", " 1012", " 4000", " 4001", " 4002", " 4321"] {
        let shown = Timeline::new(plain(), None).tell(&format!("{LIVE}\n400 closed{code}\n5400 hello")).shown();
        assert!(shown.contains("resume 2 s 1"), "{code}: {shown}");
        let before = "0 start\n0 granted 1\n100 opened\n150 closed";
        let shown = Timeline::new(plain(), None).tell(&format!("{before}{code}\n5150 tick")).shown();
        assert!(shown.ends_with("5150 request\n"), "{code}: {shown}");
    }
    for code in [4003, 4005, 4006, 4007, 4009] {
        let shown = Timeline::new(plain(), None).tell(&format!("{LIVE}\n400 closed {code}\n5400 tick")).shown();
        assert!(shown.contains("save nothing\n400 lost\n400 waiting 5400"), "{code}: {shown}");
        assert!(shown.ends_with("5400 request\n"), "{code}: {shown}");
    }
}

#[test]
fn d38_op_9_true_reconnects_and_resumes() {
    check(
        &format!("{LIVE}\n1000 op9 true\n6000 opened\n6000 hello\n6100 op9 true\n16100 hello"),
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 close 1 4000
            1000 save s 1 step 1
            1000 waiting 6000 InvalidSession
            6000 connect 2 wss://s
            6000 resume 2 s 1
            6100 close 2 4000
            6100 save s 1 step 2
            6100 waiting 16100 Backoff
            16100 connect 3 wss://s
            16100 resume 3 s 1
        "#]],
    );
}

#[test]
fn d39_a_deploy_leaves_the_session_resumable() {
    let mut first = Timeline::new(plain(), None);
    expect![[r#"
        0 request
        0 connect 1 wss://main
        200 identify 1
        300 release 1
        300 save s 1 step 0
        500 close 1 4000
        500 save s 7 step 0
    "#]]
    .assert_eq(&first.tell(&format!("{LIVE}\n400 dispatch 7\n500 stop")).shown());
    let mut stored = stored();
    stored.seq = 7;
    let mut second = Timeline::new(plain(), Some(stored));
    expect![[r#"
        900 connect 1 wss://r
        1000 resume 1 s 7
    "#]]
    .assert_eq(&second.tell("900 start\n1000 opened\n1000 hello\n1100 resumed").shown());
}

#[test]
fn d40_a_close_on_top_of_op_9_is_no_second_failure() {
    let trace = format!("{LIVE}\n60000 ack\n61000 op9 false\n61001 @1 closed 4003\n64000 granted 2");
    check(
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            61000 close 1 4000
            61000 save nothing
            61000 lost
            61000 waiting 64000 InvalidSession
            61001 note stale 1
            64000 request
            64000 connect 2 wss://main
        "#]],
    );
}

#[test]
fn d41_a_beat_without_its_ack_is_a_zombie_at_the_next() {
    let mut timeline = Timeline::new(plain(), Some(stored()));
    let trace = "0 start\n0 opened\n0 hello 1000\n100 resumed\n1100 ack\n1500 asked\n3000 dispatch 2\n8500 tick";
    expect![[r#"
        0 connect 1 wss://r
        0 resume 1 s 1
        915 beat 1 Some(1)
        1500 beat 1 Some(1)
        1915 beat 1 Some(1)
        2915 close 1 4000
        2915 save s 1 step 1
        2915 waiting 7915 Backoff
        3000 note stale 1
        7915 connect 2 wss://r
    "#]]
    .assert_eq(&timeline.with_beats().tell(trace).shown());
}

#[test]
fn d44_a_busy_shard_whose_acks_are_late_may_live_a_silent_one_never() {
    let busy = Settings { dispatch_is_ack: true, ..plain() };
    let events = (1..60).fold(String::new(), |text, event| text + &format!("{} dispatch {event}\n", event * 500));
    let trace = format!("0 start\n0 opened\n0 hello 1000\n100 resumed\n{events}");
    let shown = Timeline::new(busy.clone(), Some(stored())).tell(&trace).shown();
    assert!(!shown.contains("close"), "{shown}");
    let shown = Timeline::new(plain(), Some(stored())).tell(&trace).shown();
    assert!(shown.contains("close 1 4000"), "{shown}");
    let shown = Timeline::new(busy, Some(stored())).tell("0 start\n0 hello 1000\n100 resumed\n3000 tick").shown();
    assert!(shown.contains("close 1 4000"), "{shown}");
}

#[test]
fn d45_beats_go_on_whatever_is_waited_for() {
    // A bot's IDENTIFY waits for the budget; the old session beats on.
    let script = |_, act| healthy(act);
    let mut world = World::with(1, 1, |settings| settings.autonomous = false, Some(&stored()), script).start();
    (world.queue.remaining, world.queue.refresh_at_ms) = (0, 3_600_000);
    world.at(1_000, 0, Input::Fresh { differs: true });
    world.run_until(3_600_000);
    assert!(world.seats[0].beats >= 3_600 / 42, "{} beats", world.seats[0].beats);
    assert_eq!((world.live(), world.identifies(), world.dials()), (1, 0, 1));
    assert!(matches!(world.seats[0].shard.status(), Status::Live));
}

#[test]
fn handshakes_that_fail_without_a_close_are_tried_again() {
    let script = |_, act| match act {
        Act::Dial { .. } => vec![(1_000, tidegate_core::shard::Event::Error)],
        _ => healthy(act),
    };
    let mut world = World::new(1, 1, script).start();
    world.run_until(60_000);
    assert!(world.dials() >= 4, "{} dials", world.dials());
}

#[test]
fn waits_stay_within_half_and_all_of_their_step_for_every_seed() {
    for seed in 0..200 {
        let script = |_, act| match act {
            Act::Dial { .. } => open(0),
            Act::Identify => vec![(0, ready()), (59_000, super::world::closed(4009))],
            _ => healthy(act),
        };
        let mut world = World::with(1, 1, |settings| settings.seed = seed, None, script).start();
        world.run_until(600_000);
        let waits = world.seats[0].outputs.iter().filter_map(|(at_ms, output)| match output {
            Output::Waiting { until, .. } => Some(until.as_millis_ceil() - at_ms),
            _ => None,
        });
        for (wait_ms, step_ms) in waits.zip([5_000, 10_000, 20_000, 40_000]) {
            assert!((step_ms / 2..=step_ms).contains(&wait_ms), "{wait_ms} of {step_ms}, seed {seed}");
        }
    }
    assert_eq!(settings().backoff_min, Span::from_secs(5));
}

#[test]
fn a_bot_that_resumes_further_back_again_and_again_is_no_loop_of_dials() {
    check(
        &format!(
            "{LIVE}\n400 dispatch 9\n1000 rewind 5\n1100 opened\n1100 hello\n1200 resumed\n1300 rewind 4\n1400 rewind 3\n9000 tick"
        ),
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 close 1 4000
            1000 save s 5 step 0
            1000 connect 2 wss://s
            1100 resume 2 s 5
            1300 close 2 4000
            1300 save s 4 step 1
            1300 waiting 6300 Backoff
            6300 connect 3 wss://s
        "#]],
    );
    // One that is off, or waits, goes when it may, and from there.
    check(
        &format!("{LIVE}\n400 dispatch 9\n500 stop\n600 rewind 7\n700 opened\n700 hello"),
        &expect![[r#"
        0 request
        0 connect 1 wss://main
        200 identify 1
        300 release 1
        300 save s 1 step 0
        500 close 1 4000
        500 save s 9 step 0
        600 connect 2 wss://s
        700 resume 2 s 7
    "#]],
    );
}
