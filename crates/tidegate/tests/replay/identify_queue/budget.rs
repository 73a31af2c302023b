//! The day's budget and the rolling one.

use expect_test::expect;
use serde_json::json;

use super::{check, run};

const DAY: u64 = 86_400_000;

#[test]
fn a_refresh_of_the_same_day_never_raises_the_count() {
    check(
        &json!({ "remaining": 1, "max_concurrency": 9, "reset_at_ms": 10_000_000 }),
        "0 request 0
         10 refresh max_concurrency=9 remaining=50 reset_at_ms=10000900
         10 request 1
         20 refresh max_concurrency=9 remaining=50 reset_at_ms=13600901
         20 request 1
         30 refresh max_concurrency=9 remaining=1 reset_at_ms=13600901
         30 request 2
         30 request 3",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 0
            10 deny 1 until 10000900
            20 grant 1 #2
            20 budget_low 49
            30 grant 2 #3
            30 budget_low 0
            30 deny 3 until 13600901
        "#]],
    );
}

#[test]
fn a_reset_that_has_passed_begins_one_day() {
    check(
        &json!({ "remaining": 0, "max_concurrency": 9, "reset_at_ms": 1000 }),
        "999 refresh max_concurrency=9 remaining=2 reset_at_ms=1000
         999 request 0
         1000 refresh max_concurrency=9 remaining=2 reset_at_ms=1000
         1000 request 0
         1000 request 1
         1000 refresh max_concurrency=9 remaining=2 reset_at_ms=1000
         1000 request 2",
        &expect![[r#"
            999 deny 0 until 5999
            1000 grant 0 #1
            1000 budget_low 1
            1000 grant 1 #2
            1000 budget_low 0
            1000 deny 2 until 6000
        "#]],
    );
}

#[test]
fn undoing_a_start_of_an_earlier_day_lifts_the_rolling_count_alone() {
    check(
        &json!({ "remaining": 9, "max_concurrency": 9, "rolling_limit": 1, "reset_at_ms": 1000, "low_water": 9 }),
        "0 request 0
         1 request 1
         1000 refresh max_concurrency=9 remaining=5 reset_at_ms=86401000
         1001 release 0 unused
         1002 request 1",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 8
            1 deny 1 until 86400000
            1002 grant 1 #2
            1002 budget_low 4
        "#]],
    );
}

#[test]
fn when_both_budgets_are_gone_the_later_one_counts() {
    for (reset_at, until) in [(90_000_000, 90_000_000_u64), (5_000_000, 10 + DAY)] {
        let new = json!({ "remaining": 0, "rolling_limit": 1, "starts": [10], "reset_at_ms": reset_at });
        assert_eq!(run(&new, "20 request 0"), [format!("20 deny 0 until {until}")]);
    }
}

#[test]
fn everybody_in_line_is_told_once_it_is_gone() {
    check(
        &json!({ "remaining": 2, "reset_at_ms": 700_000, "run_until": 10000 }),
        "0 request 0
         0 request 1
         0 request 2
         10 request 3
         20 release 0",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 1
            0 waiting 1 behind 0
            0 wake 30000
            0 waiting 2 behind 1
            0 wake 30000
            10 waiting 3 behind 2
            10 wake 29990
            20 wake 4980
            5000 grant 1 #2
            5000 budget_low 0
            5000 deny 2 until 700000
            5000 deny 3 until 700000
        "#]],
    );
}

#[test]
fn the_last_fifth_is_for_shards_that_start_seldom() {
    // Ten starts, four fifths are eight: shard 0 has had three, shard 1 two.
    let starts = json!([[0, 0], [1, 0], [2, 1], [3, 1], [4, 0], 5, 6, 7]);
    let new = json!({ "max_concurrency": 9, "shards": 4, "rolling_limit": 10, "starts": starts, "run_until": DAY });
    check(
        &new,
        "100 request 0
         200 request 1
         300 request 2
         400 request 3",
        &expect![[r#"
            100 deny 0 until 86400000
            200 grant 1 #1
            300 grant 2 #2
            400 deny 3 until 86400000
        "#]],
    );
    // A bot with one shard has all of it.
    let mut one = new.clone();
    one["shards"] = 1.into();
    assert_eq!(run(&one, "100 request 0"), ["100 grant 0 #1"]);
}

#[test]
fn a_shard_denied_by_itself_makes_way_in_the_same_step() {
    let starts = json!([[0, 0], [1, 0], [2, 0], 3, 4, 5, 6]);
    check(
        &json!({ "shards": 4, "rolling_limit": 10, "starts": starts, "run_until": 20000 }),
        "100 request 1
         150 request 0
         200 request 2
         300 release 1",
        &expect![[r#"
            100 grant 1 #1
            150 deny 0 until 86400000
            200 waiting 2 behind 0
            200 wake 29900
            300 wake 4800
            5100 grant 2 #2
        "#]],
    );
}

#[test]
fn it_may_start_again_when_its_own_are_few_or_all_are() {
    // Its own third lapses before the eighth of all does.
    let starts = json!([[50, 0], [60, 0], [70, 0], 10, 20, 80, 80, 80, 80]);
    let new = json!({ "shards": 4, "rolling_limit": 10, "starts": starts });
    assert_eq!(run(&new, "100 request 0"), [format!("100 deny 0 until {}", 20 + DAY)]);
    let starts = json!([[1, 0], [60, 0], [70, 0], 10, 20, 80, 80, 80, 80]);
    let new = json!({ "shards": 4, "rolling_limit": 10, "starts": starts });
    let trace = format!("100 request 0\n{} request 0", 1 + DAY);
    assert_eq!(run(&new, &trace), [format!("100 deny 0 until {}", 1 + DAY), format!("{} grant 0 #1", 1 + DAY)]);
}

#[test]
fn starts_from_before_the_trace_lapse_in_it() {
    let new = json!({ "rolling_limit": 1, "starts": [-86_399_000], "run_until": 9000 });
    assert_eq!(run(&new, "10 request 0\n1000 request 0"), ["10 deny 0 until 1000", "1000 grant 0 #1"]);
}
