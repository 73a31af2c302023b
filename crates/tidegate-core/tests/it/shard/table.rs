//! Rows of the table that no case of others covers: rate limits, replacements, stops, re-arming.

use expect_test::expect;
use tidegate_core::shard::{OnBudgetGone, Settings};

use super::timeline::{check, check_with, plain};
use super::world::stored;

/// Behind the proxy, with a session that a bot asked for.
const BOT: &str = "0 start
    0 fresh
    0 granted 1
    200 opened
    200 hello
    300 ready s";

fn proxy() -> Settings {
    Settings { autonomous: false, ..plain() }
}

#[test]
fn stable_after_61_s_with_acks_the_backoff_starts_over() {
    let closes = "0 start
        100 hello
        200 resumed
        300 closed
        5400 hello
        5500 resumed
        46000 ack";
    let stable = format!("{closes}\n66500 closed\n72000 tick");
    check_with(
        plain(),
        Some(stored()),
        &stable,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 save s 1 step 1
            300 waiting 5300 Backoff
            5300 connect 2 wss://r
            5400 resume 2 s 1
            66500 save s 1 step 1
            66500 waiting 71500 Backoff
            71500 connect 3 wss://r
        "#]],
    );
    let young = format!("{closes}\n65499 closed\n76000 tick");
    check_with(
        plain(),
        Some(stored()),
        &young,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 save s 1 step 1
            300 waiting 5300 Backoff
            5300 connect 2 wss://r
            5400 resume 2 s 1
            65499 save s 1 step 2
            65499 waiting 70499 Backoff
            70499 connect 3 wss://r
        "#]],
    );
}

#[test]
fn sixty_seconds_without_an_ack_are_not_stable() {
    let trace = "0 start\n100 hello 600000\n200 resumed\n100000 closed\n105100 hello\n105200 resumed\n105300 closed";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            100000 save s 1 step 1
            100000 waiting 105000 Backoff
            105000 connect 2 wss://r
            105100 resume 2 s 1
            105300 save s 1 step 2
            105300 waiting 115300 Backoff
        "#]],
    );
}

#[test]
fn the_first_4008_in_an_hour_resumes_after_a_fresh_minute_the_second_cools() {
    let trace = "0 start
        100 hello
        200 resumed
        300 closed 4008
        90300 opened
        90300 hello
        90400 resumed
        91000 closed 4008
        91001 restart
        1891000 opened
        1891000 hello
        1892000 closed
        1960000 opened
        1960001 closed
        2030000 opened
        2030001 closed
        3000000 tick";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 save s 1 step 0
            300 waiting 90300 Cooldown
            90300 connect 2 wss://r
            90300 resume 2 s 1
            91000 save s 1 step 8
            91000 waiting 1891000 Cooldown
            91001 note not yet 1891000 Cooldown
            1891000 connect 3 wss://r
            1891000 resume 3 s 1
            1892000 save s 1 step 8
            1892000 waiting 1952000 Backoff
            1952000 connect 4 wss://r
            1960001 save s 1 step 8
            1960001 waiting 2020001 Backoff
            2020001 connect 5 wss://r
            2030001 save nothing
            2030001 lost
            2030001 waiting 2930001 Backoff
            2930001 request
        "#]],
    );
}

#[test]
fn without_grace_the_first_4008_cools_and_no_start_or_stop_shortens_it() {
    let none = Settings { rate_limited_grace: 0, ..plain() };
    let trace =
        "0 start\n100 hello\n200 resumed\n300 closed 4008\n400 stop\n500 start\n1800300 hello\n1800400 op9 false";
    check_with(
        none,
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 save s 1 step 8
            300 waiting 1800300 Cooldown
            500 waiting 1800300 Cooldown
            1800300 connect 2 wss://r
            1800300 resume 2 s 1
            1800400 close 2 4000
            1800400 save nothing
            1800400 lost
            1800400 waiting 1803400 InvalidSession
        "#]],
    );
}

#[test]
fn fatal_closes_stop_until_a_person_or_another_identify() {
    let trace = format!(
        "{BOT}\n400 closed 4014\n500 start\n600 fresh\n5400 granted 2\n5500 hello\n5600 closed 4014\n5700 fresh differs\n5700 granted 3"
    );
    check_with(
        proxy(),
        None,
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            400 save nothing
            400 stopped Fatal(DisallowedIntents)
            500 stopped Fatal(DisallowedIntents)
            600 waiting 5400 Backoff
            5400 request
            5400 connect 2 wss://main
            5500 identify 2
            5600 release 2
            5600 stopped Fatal(DisallowedIntents)
            5700 request
            5700 connect 3 wss://main
        "#]],
    );
    check(
        "0 start\n0 granted 1\n100 hello\n200 closed 4004\n9000 restart\n9000 granted 2",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            200 release 1
            200 stopped Fatal(AuthenticationFailed)
            9000 request
            9000 connect 2 wss://main
        "#]],
    );
    check(
        "0 start\n0 granted 1\n100 hello\n200 ready s\n300 unauthorized\n301 @1 closed 4004",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            200 release 1
            200 save s 1 step 0
            300 close 1 4000
            300 save nothing
            300 stopped Fatal(AuthenticationFailed)
            301 note stale 1
        "#]],
    );
}

#[test]
fn behind_the_proxy_nothing_is_asked_for_until_a_bot_identifies() {
    let trace = "0 start
        5 granted 9
        10 fresh
        10 granted 1
        100 hello
        200 op9 false
        5200 granted 2
        5300 hello
        5400 ready s
        5500 closed 4009
        9000 fresh
        15500 granted 3";
    check_with(
        proxy(),
        None,
        trace,
        &expect![[r#"
            5 release 9 unused
            10 request
            10 connect 1 wss://main
            100 identify 1
            200 close 1 4000
            200 release 1
            200 waiting 5200 InvalidSession
            5200 request
            5200 connect 2 wss://main
            5300 identify 2
            5400 release 2
            5400 save s 1 step 1
            5500 save nothing
            5500 lost
            9000 waiting 15500 Backoff
            15500 request
            15500 connect 3 wss://main
        "#]],
    );
}

#[test]
fn a_stable_session_is_replaced_when_the_grant_arrives() {
    let trace = format!(
        "{BOT}\n41000 ack\n90000 fresh differs\n90000 next 91000\n95000 granted 2\n95100 opened\n95100 hello\n95200 ready t"
    );
    check_with(
        proxy(),
        None,
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            90000 request
            95000 close 1 4000
            95000 save nothing
            95000 connect 2 wss://main
            95100 identify 2
            95200 release 2
            95200 save t 1 step 0
        "#]],
    );
}

#[test]
fn a_young_session_is_replaced_after_the_backoff_and_earns_nothing_meanwhile() {
    let trace = format!(
        "{BOT}
        1000 fresh differs
        1001 fresh differs
        1001 fresh
        6000 granted 2
        6100 hello
        6200 ready t
        30000 fresh differs
        41000 dispatch 2
        42000 granted 3
        42100 hello
        42200 ready u
        83000 ack
        110000 fresh differs"
    );
    check_with(
        proxy(),
        None,
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 waiting 6000 Backoff
            6000 request
            6000 close 1 4000
            6000 save nothing
            6000 connect 2 wss://main
            6100 identify 2
            6200 release 2
            6200 save t 1 step 1
            30000 waiting 40000 Backoff
            40000 request
            42000 close 2 4000
            42000 save nothing
            42000 connect 3 wss://main
            42100 identify 3
            42200 release 3
            42200 save u 1 step 2
            110000 waiting 130000 Backoff
        "#]],
    );
}

#[test]
fn an_old_session_that_ends_while_it_waits_to_be_replaced_is_not_resumed() {
    let trace = format!("{BOT}\n1000 fresh differs\n2000 closed 1006\n14000 granted 2");
    check_with(
        proxy(),
        None,
        &trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 identify 1
            300 release 1
            300 save s 1 step 0
            1000 waiting 6000 Backoff
            2000 save nothing
            2000 waiting 12000 Backoff
            12000 request
            14000 connect 2 wss://main
        "#]],
    );
}

#[test]
fn another_identify_while_one_is_on_its_way_follows_it() {
    let trace = "0 start\n0 fresh\n0 granted 1\n100 hello\n150 fresh differs\n200 ready s\n6000 granted 2";
    check_with(
        proxy(),
        None,
        trace,
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            200 release 1
            200 save s 1 step 0
            200 waiting 5200 Backoff
            5200 request
            6000 close 1 4000
            6000 save nothing
            6000 connect 2 wss://main
        "#]],
    );
}

#[test]
fn stop_and_logout_close_as_they_mean() {
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 hello\n200 resumed\n300 stop\n400 start",
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 close 1 4000
            300 save s 1 step 0
            400 connect 2 wss://r
        "#]],
    );
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 hello\n200 resumed\n300 logout\n400 start",
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 close 1 1000
            300 save nothing
            400 request
        "#]],
    );
    // A request in line stands; its grant goes back unused.
    check(
        "0 start\n100 stop\n200 granted 1\n300 start\n300 granted 2\n400 stop",
        &expect![[r#"
            0 request
            200 release 1 unused
            300 request
            300 connect 1 wss://main
            400 close 1 4000
            400 release 2 unused
        "#]],
    );
}

#[test]
fn op_7_again_before_stability_waits_and_in_place_of_hello_gives_the_grant_back() {
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 hello\n200 resumed\n300 op7\n400 op7\n5400 op7",
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            300 close 1 4000
            300 save s 1 step 0
            300 connect 2 wss://r
            400 close 2 4000
            400 save s 1 step 1
            400 waiting 5400 Backoff
            5400 connect 3 wss://r
            5400 close 3 4000
            5400 save s 1 step 2
            5400 waiting 15400 Backoff
        "#]],
    );
    check(
        "0 start\n0 granted 1\n100 opened\n200 op7\n300 granted 2\n400 op7",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            200 close 1 4000
            200 release 1 unused
            200 request
            300 connect 2 wss://main
            400 close 2 4000
            400 release 2 unused
            400 waiting 5400 Backoff
        "#]],
    );
}

#[test]
fn restart_skips_the_backoff_of_the_identify_too() {
    check(
        "0 start\n0 granted 1\n100 hello\n200 op9 false\n300 restart\n300 granted 2\n350 restart",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            100 identify 1
            200 close 1 4000
            200 release 1
            200 waiting 5200 InvalidSession
            300 request
            300 connect 2 wss://main
        "#]],
    );
    check_with(
        plain(),
        Some(stored()),
        "0 start\n100 opened\n200 closed\n300 restart",
        &expect![[r#"
            0 connect 1 wss://r
            200 save s 1 step 1
            200 waiting 5200 Backoff
            300 connect 2 wss://r
        "#]],
    );
}

#[test]
fn the_budget_parks_and_a_refresh_wakes() {
    check(
        "0 start\n0 denied 3600000\n1000 restart\n2000 budget\n2000 granted 1",
        &expect![[r#"
            0 request
            0 waiting 3600000 Budget
            1000 note not yet 3600000 Budget
            2000 request
            2000 connect 1 wss://main
        "#]],
    );
    // A connection that dialled early is not kept for a day.
    check(
        "0 start\n0 next 3000\n100 opened\n100 hello\n3000 denied 9000\n9000 tick",
        &expect![[r#"
            0 request
            0 connect 1 wss://main
            3000 close 1 4000
            3000 waiting 9000 Budget
            9000 request
        "#]],
    );
    let stops = Settings { on_budget_gone: OnBudgetGone::Stop, ..plain() };
    check_with(
        stops,
        None,
        "0 start\n0 denied 3600000\n10 budget\n20 restart",
        &expect![[r#"
            0 request
            0 stopped Budget
            20 request
        "#]],
    );
}

#[test]
fn a_stored_backoff_goes_on_where_it_was() {
    let mut loops = stored();
    loops.backoff_step = 4;
    check_with(
        plain(),
        Some(loops.clone()),
        "1000 start\n1100 hello\n1200 op9 false\n40000 granted 1",
        &expect![[r#"
            1000 connect 1 wss://r
            1100 resume 1 s 1
            1200 close 1 4000
            1200 save nothing
            1200 lost
            1200 waiting 40000 InvalidSession
            40000 request
            40000 connect 2 wss://main
        "#]],
    );
    check_with(
        plain(),
        Some(loops),
        "1000 start\n1100 error",
        &expect![[r#"
            1000 connect 1 wss://r
            1100 save s 1 step 5
            1100 waiting 61100 Backoff
    "#]],
    );
}

#[test]
fn after_4002_the_op_sent_last_is_named() {
    let trace =
        "0 start\n100 hello 600000\n200 resumed\n300 sent 8\n400 closed 4002\n5400 hello 600000\n5500 closed 4002";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            400 note undecodable Some(8)
            400 save s 1 step 1
            400 waiting 5400 Backoff
            5400 connect 2 wss://r
            5400 resume 2 s 1
            5500 note undecodable Some(6)
            5500 save s 1 step 2
            5500 waiting 15500 Backoff
        "#]],
    );
}

#[test]
fn a_second_hello_and_answers_to_nothing_are_ignored() {
    let trace = "0 start\n0 resumed\n0 ready x\n100 opened\n100 ready x\n100 hello\n150 hello\n200 resumed\n250 opened\n300 ready x\n400 resumed";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
        "#]],
    );
}

/// A session that was up for a while, again and again, waits for the rest of its minute and at least the first step; a
/// RESUME that fails waits the whole step.
#[test]
fn e12_a_resume_waits_for_what_is_left_of_the_cycle() {
    let trace = "0 start
        100 hello 600000
        200 resumed
        30200 closed
        35300 hello 600000
        35400 resumed
        75400 closed
        85500 hello 600000
        85600 resumed
        135600 closed
        145700 hello 600000
        145800 resumed
        203800 closed
        208900 hello 600000
        209000 resumed
        210000 closed
        269100 hello 600000
        269200 closed
        329300 tick";
    check_with(
        plain(),
        Some(stored()),
        trace,
        &expect![[r#"
            0 connect 1 wss://r
            100 resume 1 s 1
            30200 save s 1 step 1
            30200 waiting 35200 Backoff
            35200 connect 2 wss://r
            35300 resume 2 s 1
            75400 save s 1 step 2
            75400 waiting 85400 Backoff
            85400 connect 3 wss://r
            85500 resume 3 s 1
            135600 note unstable [(Closed(None), 3)]
            135600 save s 1 step 3
            135600 waiting 145600 Backoff
            145600 connect 4 wss://r
            145700 resume 4 s 1
            203800 save s 1 step 4
            203800 waiting 208800 Backoff
            208800 connect 5 wss://r
            208900 resume 5 s 1
            210000 save s 1 step 5
            210000 waiting 269000 Backoff
            269000 connect 6 wss://r
            269100 resume 6 s 1
            269200 save s 1 step 6
            269200 waiting 329200 Backoff
            329200 connect 7 wss://r
        "#]],
    );
}
