//! The rows of the specification's table that one trace can show.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};

use super::{check, run, whole_steps};

fn new(change: &Value) -> Value {
    let mut new = whole_steps();
    new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    new
}

fn dials(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains(" connect ")).count()
}

#[test]
fn op_7_then_a_close_of_the_same_socket_10_ms_later_dials_once() {
    let trace = "0 start\n200 opened gen=1\n200 hello gen=1 interval_ms=41250\n300 resumed gen=1
        1000 op7 gen=1\n1010 closed gen=1 code=1000\n1500 tick";
    check(
        &whole_steps(),
        trace,
        &expect![[r#"
        0 connect gen=1 url=wss://r
        200 resume gen=1 seq=1 session=s
        1000 close code=4000 gen=1
        1000 save_session at=1000 backoff_step=0 id=s resume_url=wss://r seq=1
        1000 connect gen=2 url=wss://r
        1010 note stale={gen:1}
    "#]],
    );
}

#[test]
fn a_close_of_generation_1_after_generation_2_is_open() {
    let trace = "0 start\n200 hello gen=1 interval_ms=1000\n300 resumed gen=1\n400 op7 gen=1
        500 opened gen=2\n500 hello gen=2 interval_ms=1000\n600 resumed gen=2
        700 closed gen=1 code=1006\n2000 ack gen=2\n3000 ack gen=2\n3500 dispatch gen=2 seq=9\n4000 tick";
    check(
        &whole_steps(),
        trace,
        &expect![[r#"
        0 connect gen=1 url=wss://r
        200 resume gen=1 seq=1 session=s
        400 close code=4000 gen=1
        400 save_session at=400 backoff_step=0 id=s resume_url=wss://r seq=1
        400 connect gen=2 url=wss://r
        500 resume gen=2 seq=1 session=s
        700 note stale={gen:1}
        1270 beat gen=2 seq=1
        2270 beat gen=2 seq=1
        3270 beat gen=2 seq=1
    "#]],
    );
}

#[test]
fn two_closes_an_error_and_a_watchdog_for_one_generation() {
    let trace = "0 start\n200 opened gen=1\n300 closed gen=1 code=1006\n300 closed gen=1 code=1000\n301 error gen=1\n62000 tick";
    let new = new(&json!({ "connect_watchdog_ms": 60000 }));
    check(
        &new,
        trace,
        &expect![[r#"
        0 connect gen=1 url=wss://r
        300 save_session at=300 backoff_step=1 id=s resume_url=wss://r seq=1
        300 waiting until_ms=5300 why=backoff
        300 note stale={gen:1}
        301 note stale={gen:1}
        5300 connect gen=2 url=wss://r
    "#]],
    );
}

#[test]
fn stable_61_s_then_a_close_waits_2500_to_5000_ms() {
    for seed in 0..40 {
        let trace = "0 start\n100 hello gen=1 interval_ms=20000\n200 resumed gen=1\n21000 ack gen=1\n41000 ack gen=1
            60500 ack gen=1\n61200 closed gen=1 code=1006\n70000 tick";
        let lines = run(&new(&json!({ "seed": seed, "jitter": [0.5, 1] })), trace);
        let again = lines.iter().find(|line| line.contains("connect gen=2")).unwrap();
        let at: u64 = again.split_once(' ').unwrap().0.parse().unwrap();
        assert!((61200 + 2500..=61200 + 5000).contains(&at), "{again}");
    }
}

#[test]
fn closed_59_s_after_each_ready_the_waits_grow() {
    let trace = "0 start
        0 granted grant=1\n100 hello gen=1 interval_ms=60000\n100 ready gen=1 session=a resume_url=u seq=1
        100 ack gen=1\n59100 closed gen=1 code=4009
        64100 granted grant=2\n64200 hello gen=2 interval_ms=60000\n64200 ready gen=2 session=a resume_url=u seq=1
        64200 ack gen=2\n123200 closed gen=2 code=4009
        133200 granted grant=3\n133300 hello gen=3 interval_ms=60000\n133300 ready gen=3 session=a resume_url=u seq=1
        133300 ack gen=3\n192300 closed gen=3 code=4009
        212300 granted grant=4\n212400 hello gen=4 interval_ms=60000\n212400 ready gen=4 session=a resume_url=u seq=1
        212400 ack gen=4\n271400 closed gen=4 code=4009";
    let lines = run(&new(&json!({ "session": null })), trace);
    let waits: Vec<&String> = lines.iter().filter(|line| line.contains(" waiting ")).collect();
    assert_eq!(
        waits,
        [
            "59100 waiting until_ms=64100 why=backoff",
            "123200 waiting until_ms=133200 why=backoff",
            "192300 waiting until_ms=212300 why=backoff",
            "271400 waiting until_ms=311400 why=backoff"
        ]
    );
    let told = lines.iter().find(|line| line.contains(" note ")).unwrap();
    assert_eq!(told, "192300 note unstable={reasons:{closed_4009:3}}");
}

#[test]
fn close_4008_without_grace_dials_no_sooner_than_30_min() {
    let trace = "0 start\n100 hello gen=1 interval_ms=41250\n200 resumed gen=1\n300 closed gen=1 code=4008
        1800400 opened gen=2\n1800500 closed gen=2 code=1006\n1860600 opened gen=3\n1860700 closed gen=3 code=1006
        1920800 opened gen=4\n1920900 closed gen=4 code=1006\n2900000 tick";
    check(
        &new(&json!({ "rate_limited_grace": 0 })),
        trace,
        &expect![[r#"
        0 connect gen=1 url=wss://r
        100 resume gen=1 seq=1 session=s
        300 save_session at=300 backoff_step=8 id=s resume_url=wss://r seq=1
        300 waiting until_ms=1800300 why=cooldown
        1800300 connect gen=2 url=wss://r
        1800500 save_session at=1800500 backoff_step=8 id=s resume_url=wss://r seq=1
        1800500 waiting until_ms=1860500 why=backoff
        1860500 connect gen=3 url=wss://r
        1860700 save_session at=1860700 backoff_step=8 id=s resume_url=wss://r seq=1
        1860700 waiting until_ms=1920700 why=backoff
        1920700 connect gen=4 url=wss://r
        1920900 save_session null
        1920900 lost
        1920900 waiting until_ms=2820900 why=backoff
        2820900 request_grant
    "#]],
    );
}

#[test]
fn dials_refused_at_once_are_at_most_5_in_a_minute_and_at_least_4() {
    for seed in 0..40 {
        let settings = new(&json!({ "seed": seed, "jitter": [0.5, 1], "run_until": 60000 }));
        // The refusal is told as soon as each dial is.
        let mut trace = String::from("0 start\n");
        for generation in 1..=8 {
            let lines = run(&settings, &trace);
            let Some(dial) = lines.iter().find(|line| line.contains(&format!("connect gen={generation} "))) else {
                break;
            };
            let at = dial.split_once(' ').unwrap().0;
            writeln!(trace, "{at} error gen={generation}").unwrap();
        }
        let dials = dials(&run(&settings, &trace));
        assert!((4..=5).contains(&dials), "{dials} dials, seed {seed}");
    }
}

#[test]
fn silence_after_the_websocket_is_open_is_torn_down_at_60_s() {
    check(
        &whole_steps(),
        "0 start\n200 opened gen=1\n66000 tick",
        &expect![[r#"
        0 connect gen=1 url=wss://r
        60000 close code=4000 gen=1
        60000 save_session at=60000 backoff_step=1 id=s resume_url=wss://r seq=1
        60000 waiting until_ms=65000 why=backoff
        65000 connect gen=2 url=wss://r
    "#]],
    );
}

#[test]
fn the_first_connection_resumes_with_the_query_of_the_main_address() {
    let new = new(&json!({ "url": "wss://main/?v=10&encoding=json" }));
    check(
        &new,
        "0 start\n50 error gen=1\n6000 tick",
        &expect![[r#"
        0 connect gen=1 url=wss://r/?v=10&encoding=json
        50 save_session at=50 backoff_step=1 id=s resume_url=wss://r seq=1
        50 waiting until_ms=5050 why=backoff
        5050 connect gen=2 url=wss://main/?v=10&encoding=json
    "#]],
    );
}

#[test]
fn a_grant_that_nobody_wants_goes_back_at_once() {
    check(
        &whole_steps(),
        "0 start\n10 granted grant=7\n20 stop\n30 granted grant=8",
        &expect![[r#"
        0 connect gen=1 url=wss://r
        10 release_grant grant=7 unused=true
        20 close code=4000 gen=1
        20 save_session at=20 backoff_step=0 id=s resume_url=wss://r seq=1
        30 release_grant grant=8 unused=true
    "#]],
    );
}
