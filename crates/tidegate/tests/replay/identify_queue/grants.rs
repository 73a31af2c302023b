//! What ends a grant, and what it leaves behind.

use expect_test::expect;
use serde_json::json;

use super::check;

#[test]
fn a_late_release_of_an_older_grant_frees_nothing() {
    check(
        &json!({ "run_until": 9000 }),
        "0 request 0
         100 request 0
         5000 tick
         5100 request 1
         5200 release 0 grant=1
         5300 release 0 grant=2",
        &expect![[r#"
            0 grant 0 #1
            100 waiting 0 behind 0
            100 wake 4900
            5000 grant 0 #2
            5100 waiting 1 behind 0
            5100 wake 29900
            5200 wake 29800
            5300 wake 4700
        "#]],
    );
}

#[test]
fn a_release_with_a_number_leaves_a_newer_request_in_line() {
    check(
        &json!({ "run_until": 6000 }),
        "0 request 0
         100 request 0
         200 release 0 grant=1
         300 release 0",
        &expect![[r#"
            0 grant 0 #1
            100 waiting 0 behind 0
            100 wake 4900
            200 wake 4800
        "#]],
    );
}

#[test]
fn an_unused_grant_was_never_given() {
    check(
        &json!({ "remaining": 1, "low_water": 0, "reset_at_ms": 90000 }),
        "0 request 0
         700 release 0 unused
         700 request 1
         800 request 2",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 0
            700 grant 1 #2
            700 budget_low 0
            800 deny 2 until 90000
        "#]],
    );
}

#[test]
fn unused_behind_identified_is_ignored() {
    check(
        &json!({ "remaining": 2, "low_water": 0 }),
        "0 request 0
         200 identified 0 grant=1
         700 release 0 grant=1 unused
         700 request 1",
        &expect![[r#"
            0 grant 0 #1
            700 waiting 1 behind 0
            700 wake 4500
        "#]],
    );
}

#[test]
fn a_lapsed_grant_may_be_told_to_be_unused_however_late() {
    check(
        &json!({ "remaining": 1, "low_water": 0, "reset_at_ms": 99_000_000 }),
        "0 request 0
         31000 request 1
         70000000 release 0 grant=1 unused
         70000000 release 0 grant=1 unused
         70000000 request 1
         70000001 request 2",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 0
            31000 deny 1 until 99000000
            70000000 grant 1 #2
            70000000 budget_low 0
            70000001 deny 2 until 99000000
        "#]],
    );
}

#[test]
fn an_identified_without_a_grant_only_spaces() {
    check(
        &json!({ "remaining": 2, "low_water": 2, "run_until": 7000 }),
        "1000 identified 7
         1500 request 0",
        &expect![[r#"
            1500 waiting 0 behind 0
            1500 wake 4500
            6000 grant 0 #1
            6000 budget_low 1
        "#]],
    );
}

#[test]
fn a_deferred_grant_is_back_at_the_front() {
    check(
        &json!({ "remaining": 2, "low_water": 5, "run_until": 60000 }),
        "0 request 0
         10 request 1
         50 deferred 0 grant=1 until_ms=9000
         60 deferred 0 grant=1 until_ms=99000
         9100 identified 0
         9200 deferred 0 grant=2 until_ms=99000
         9300 release 0",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 1
            10 waiting 1 behind 0
            10 wake 29990
            50 wake 8950
            60 wake 8940
            9000 grant 0 #2
            9000 budget_low 1
            9000 wake 30000
            9100 wake 29900
            9200 wake 29800
            9300 wake 4800
            14100 grant 1 #3
            14100 budget_low 0
        "#]],
    );
}

#[test]
fn a_changed_concurrency_rebuckets_who_waits_who_holds_and_what_is_spaced() {
    check(
        &json!({ "max_concurrency": 2, "reset_at_ms": 9_000_000, "run_until": 60000 }),
        "0 request 0
         0 request 1
         10 request 3
         20 request 2
         30 request 5
         1000 release 0
         1000 refresh max_concurrency=1 remaining=900 reset_at_ms=9000000
         1100 release 1
         1200 refresh max_concurrency=3 remaining=900 reset_at_ms=9000000",
        &expect![[r#"
            0 grant 0 #1
            0 grant 1 #2
            10 waiting 3 behind 0
            10 wake 29990
            20 waiting 2 behind 0
            20 wake 29980
            30 waiting 5 behind 1
            30 wake 29970
            1000 wake 4000
            1000 wake 29000
            1100 wake 3900
            1200 grant 2 #3
            1200 wake 3800
            5000 grant 3 #4
            5000 wake 26200
            31200 grant 5 #5
        "#]],
    );
}

#[test]
fn merged_lines_stand_in_the_order_of_asking() {
    check(
        &json!({ "max_concurrency": 2, "reset_at_ms": 9_000_000, "hold_ms": 5000, "run_until": 60000 }),
        "0 request 0
         0 request 1
         1 request 2
         2 request 5
         3 request 4
         4 refresh max_concurrency=1 remaining=900 reset_at_ms=9000000
         5 request 7",
        &expect![[r#"
            0 grant 0 #1
            0 grant 1 #2
            1 waiting 2 behind 0
            1 wake 4999
            2 waiting 5 behind 0
            2 wake 4998
            3 waiting 4 behind 1
            3 wake 4997
            4 wake 4996
            5 waiting 7 behind 3
            5 wake 4995
            5000 grant 2 #3
            5000 wake 5000
            10000 grant 5 #4
            10000 wake 5000
            15000 grant 4 #5
            15000 wake 5000
            20000 grant 7 #6
        "#]],
    );
}

#[test]
fn negative_shards_fold_into_a_bucket() {
    check(
        &json!({ "max_concurrency": 2 }),
        "0 request -1
         0 request 1",
        &expect![[r#"
            0 grant -1 #1
            0 waiting 1 behind 0
            0 wake 30000
        "#]],
    );
}

#[test]
fn a_margin_is_added_to_the_spacing() {
    check(
        &json!({ "spacing_margin_ms": 25, "run_until": 9000 }),
        "0 request 0
         10 release 0
         10 request 1",
        &expect![[r#"
            0 grant 0 #1
            10 waiting 1 behind 0
            10 wake 5015
            5025 grant 1 #2
        "#]],
    );
}

#[test]
fn a_grant_over_http_is_held_shorter_and_spaced_from_its_end() {
    check(
        &json!({ "run_until": 60000 }),
        "0 request 0 http
         10 request 1 http
         20 request 2
         15400 release 1",
        &expect![[r#"
            0 grant 0 #1
            10 waiting 1 behind 0
            10 wake 9990
            20 waiting 2 behind 1
            20 wake 9980
            10000 wake 5000
            15000 grant 1 #2
            15000 wake 10000
            15400 wake 5000
            20400 grant 2 #3
        "#]],
    );
}
