//! What went wrong for users of other software, where the identify queue is what prevents it.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::json;

use super::{check, check_grants, run};
use crate::timeline::replay;

/// A loop that identifies as soon as it may, for a day: half of what resets the token is left.
#[test]
fn d1_d2_d3_a_loop_for_a_day_is_stopped_long_before_the_token_is_reset() {
    let mut trace = String::new();
    for start in 0..24 * 3_600 / 10 {
        writeln!(trace, "{} request 0\n{} identified 0", start * 10_000, start * 10_000).unwrap();
    }
    let lines = run(&json!({ "run_until": 86_400_000 }), &trace);
    assert_eq!(lines.iter().filter(|line| line.contains(" grant ")).count(), 500);
    assert_eq!(lines.last().unwrap(), "86390000 deny 0 until 86400000");
}

#[test]
fn d4_every_start_can_be_seen_and_the_last_fifty_are_announced() {
    let trace = (0..500).fold(String::new(), |text, shard| format!("{text}{} request {shard}\n", shard * 31_000));
    let lines = run(&json!({ "remaining": 500 }), &trace);
    let seen = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!((seen("grant"), seen("budget_low")), (500, 51));
}

#[test]
fn d7_a_depleted_budget_is_told_at_once_with_its_time() {
    check(
        &json!({ "remaining": 0, "reset_at_ms": 86_400_000 }),
        "0 request 0",
        &expect![[r#"
            0 deny 0 until 86400000
        "#]],
    );
}

#[test]
fn d9_the_place_is_held_until_the_handshake_is_over_and_spacing_counts_from_the_write() {
    check_grants(
        &json!({ "run_until": 60000 }),
        "0 request 0
         0 request 1
         4000 identified 0
         8000 release 0",
        &expect![[r#"
            0 grant 0 #1
            9000 grant 1 #2
        "#]],
    );
}

#[test]
fn d11_a_shard_that_died_gives_its_place_to_the_next() {
    check_grants(
        &json!({ "run_until": 60000 }),
        "0 request 0
         0 request 1
         0 request 2
         100 release 1
         200 release 0 unused",
        &expect![[r#"
            0 grant 0 #1
            200 grant 2 #2
        "#]],
    );
}

#[test]
fn d12_all_shards_share_one_budget() {
    let lines =
        run(&json!({ "max_concurrency": 8, "remaining": 3 }), "0 request 0\n0 request 1\n0 request 2\n0 request 3");
    assert_eq!(lines.iter().filter(|line| line.contains(" grant ")).count(), 3);
    assert_eq!(lines.last().unwrap(), "0 deny 3 until 5000");
}

#[test]
fn d14_an_identify_that_failed_waits_out_its_spacing_and_stays_spent() {
    check(
        &json!({ "remaining": 2, "run_until": 60000, "low_water": 2 }),
        "0 request 0
         100 identified 0
         200 release 0
         300 request 0",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 1
            300 waiting 0 behind 0
            300 wake 4800
            5100 grant 0 #2
            5100 budget_low 0
        "#]],
    );
}

#[test]
fn the_lines_letter_by_letter() {
    let input = [
        r#"{"new":{"max_concurrency":1,"remaining":51,"reset_at_ms":0,"total":1000,"shards":1,"rolling_limit":0,"spacing_ms":5000,"hold_ms":30000,"low_water":50,"starts":[1,[2,3]],"auto":true}}"#,
        r#"{"at":0,"input":{"request":{"shard":0}}}"#,
        r#"{"at":0,"input":{"request":{"shard":1}}}"#,
        r#"{"at":1,"input":{"identified":{"shard":0}}}"#,
        r#"{"at":1,"input":{"identified":{"shard":0,"grant":1}}}"#,
        r#"{"at":2,"input":{"release":{"shard":0,"grant":1,"unused":true}}}"#,
        r#"{"at":3,"input":{"deferred":{"shard":0,"grant":1,"until_ms":9}}}"#,
        r#"{"at":4,"input":{"refresh":{"max_concurrency":1,"remaining":-7,"reset_at_ms":0}}}"#,
        r#"{"at":5,"input":"tick"}"#,
    ];
    let (status, output, error) = replay("identify-queue", &input.join("\n"));
    assert_eq!((status, error.as_str()), (Some(0), ""));
    expect![[r#"
        {"at":0,"output":{"grant":{"shard":0,"grant":1}}}
        {"at":0,"output":{"note":{"budget_low":{"remaining":50}}}}
        {"at":0,"output":{"note":{"waiting":{"shard":1,"behind":0}}}}
        {"at":0,"output":{"wake":{"in_ms":30000}}}
        {"at":1,"output":{"wake":{"in_ms":29999}}}
        {"at":1,"output":{"wake":{"in_ms":29999}}}
        {"at":2,"output":{"wake":{"in_ms":4999}}}
        {"at":3,"output":{"wake":{"in_ms":4998}}}
        {"at":4,"output":{"deny":{"shard":1,"refresh_at_ms":5004}}}
    "#]]
    .assert_eq(&output);
}

#[test]
fn bad_lines_are_told() {
    let cases = [
        (r#"{"new":{"max_concurency":1}}"#, "", "line 1: new: unknown field `max_concurency`"),
        (r#"{"new":{"starts":["x"]}}"#, "", "line 1: new: expected a start as MS or as [MS, SHARD]"),
        (r#"{"new":{}}"#, r#"{"request":{}}"#, "line 2: expected {\"at\":MS,\"input\":…}: missing field `shard`"),
        (r#"{"new":{}}"#, r#"{"release":{"shard":0,"used":true}}"#, "unknown field `used`"),
        (r#"{"new":{}}"#, r#"{"ask":{"shard":0}}"#, "unknown variant `ask`, expected one of `request`, `release`"),
    ];
    for (new, input, expected) in cases {
        let input = if input.is_empty() { String::new() } else { format!(r#"{{"at":0,"input":{input}}}"#) };
        let (status, _, error) = replay("identify-queue", &format!("{new}\n{input}\n"));
        assert_eq!(status, Some(2));
        assert!(error.contains(expected), "told {error}\nnot  {expected}");
    }
}
