//! The figures that the identify queue is held to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect;
use serde_json::json;

use super::{check, check_grants, run};

#[test]
fn two_shards_in_one_bucket() {
    check(
        &json!({ "max_concurrency": 1 }),
        "0 request 0
         0 request 1
         100 release 0
         4999 tick
         5000 tick",
        &expect![[r#"
            0 grant 0 #1
            0 waiting 1 behind 0
            0 wake 30000
            100 wake 4900
            4999 wake 1
            5000 grant 1 #2
        "#]],
    );
}

#[test]
fn a_grant_that_is_never_released_lapses() {
    check(
        &json!({ "run_until": 90000 }),
        "0 request 0
         10 request 1",
        &expect![[r#"
            0 grant 0 #1
            10 waiting 1 behind 0
            10 wake 29990
            30000 grant 1 #2
        "#]],
    );
}

#[test]
fn one_shard_that_reconnects() {
    check(
        &json!({ "run_until": 90000 }),
        "0 request 0
         1000 request 0",
        &expect![[r#"
            0 grant 0 #1
            1000 waiting 0 behind 0
            1000 wake 4000
            5000 grant 0 #2
        "#]],
    );
}

#[test]
fn a_budget_of_one() {
    check(
        &json!({ "remaining": 1, "max_concurrency": 2, "reset_at_ms": 100_000 }),
        "0 request 0
         0 request 1",
        &expect![[r#"
            0 grant 0 #1
            0 budget_low 0
            0 deny 1 until 100000
        "#]],
    );
}

#[test]
fn a_reset_that_has_passed_is_no_earlier_than_one_spacing() {
    check(
        &json!({ "remaining": 0, "reset_at_ms": 10 }),
        "60000 request 0",
        &expect![[r#"
            60000 deny 0 until 65000
        "#]],
    );
}

#[test]
fn low_water() {
    check(
        &json!({ "remaining": 52, "max_concurrency": 2 }),
        "0 request 0
         0 request 1",
        &expect![[r#"
            0 grant 0 #1
            0 grant 1 #2
            0 budget_low 50
        "#]],
    );
}

#[test]
fn sixteen_shards_of_which_one_is_never_released_and_one_asks_again() {
    let mut trace = String::new();
    (0..16).for_each(|shard| writeln!(trace, "0 request {shard}").unwrap());
    // Each is done 100 ms after its grant but 3, which never is, and 6, whose grant fails: it asks again.
    for (at, shards) in [(0, vec![0, 1, 2]), (5000, vec![4, 5, 6]), (10000, vec![8, 9, 10]), (15000, vec![12, 13, 14])]
    {
        for shard in shards {
            writeln!(trace, "{} {} {shard}", at + 100, if shard == 6 { "request" } else { "release" }).unwrap();
        }
    }
    writeln!(trace, "20100 release 6\n30100 release 7\n35100 release 11\n40100 release 15").unwrap();
    let mut grants: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in run(&json!({ "max_concurrency": 4, "run_until": 99999 }), &trace) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[1] == "grant" {
            grants.entry(words[0].parse().unwrap()).or_default().push(words[2].to_owned());
        }
    }
    let grants = grants.iter().fold(String::new(), |text, (at, shards)| format!("{text}{at}: {}\n", shards.join(" ")));
    expect![[r#"
        0: 0 1 2 3
        5000: 4 5 6
        10000: 8 9 10
        15000: 12 13 14
        20000: 6
        30000: 7
        35000: 11
        40000: 15
    "#]]
    .assert_eq(&grants);
}

#[test]
fn five_inputs_of_one_moment_in_every_order() {
    let inputs = ["request 0", "request 2", "request 1", "release 0", "tick"];
    let mut orders = 0;
    permutations(&mut inputs.to_vec(), 0, &mut |order| {
        orders += 1;
        let mut trace = order.iter().fold(String::new(), |text, input| format!("{text}0 {input}\n"));
        // What is left of the day shows in the note of the next grant.
        trace += "0 refresh max_concurrency=16 remaining=999999 reset_at_ms=0\n0 request 5";
        let lines = run(&json!({ "max_concurrency": 2, "low_water": 1_000, "reset_at_ms": 1 }), &trace);
        let granted = lines.iter().filter_map(|line| line.strip_prefix("0 grant ")).map(|line| &line[..1]);
        let mut buckets: Vec<u64> = granted.map(|shard| shard.parse::<u64>().unwrap()).take(2).map(|s| s % 2).collect();
        buckets.sort_unstable();
        assert_eq!(buckets, [0, 1], "{order:?}");
        let left = lines.iter().filter_map(|line| line.strip_prefix("0 budget_low ")).nth(1);
        assert_eq!(left, Some("998"), "{order:?}");
    });
    assert_eq!(orders, 120);
}

fn permutations<T: Clone>(items: &mut Vec<T>, from: usize, each: &mut impl FnMut(&[T])) {
    if from == items.len() {
        return each(items);
    }
    for at in from..items.len() {
        items.swap(from, at);
        permutations(items, from + 1, each);
        items.swap(from, at);
    }
}

#[test]
fn d10_a_bucket_is_the_shard_modulo_the_concurrency() {
    let new = json!({ "max_concurrency": 16, "run_until": 60000 });
    check_grants(
        &new,
        "0 request 0
         0 request 16
         0 request 32
         100 release 0
         5100 release 16",
        &expect![[r#"
            0 grant 0 #1
            5000 grant 16 #2
            10000 grant 32 #3
        "#]],
    );
    let at_once = (0..16).fold(String::new(), |text, shard| format!("{text}0 request {shard}\n"));
    assert!(run(&new, &at_once).iter().enumerate().all(|(n, line)| *line == format!("0 grant {n} #{}", n + 1)));
}

#[test]
fn a_refresh_into_a_new_day_grants_at_once() {
    check(
        &json!({ "remaining": 0, "reset_at_ms": 80_000_000 }),
        "0 request 0
         1000 refresh max_concurrency=1 remaining=1000 reset_at_ms=83600001
         1000 request 0",
        &expect![[r#"
            0 deny 0 until 80000000
            1000 grant 0 #1
        "#]],
    );
}

#[test]
fn a_refresh_with_a_concurrency_of_nothing_is_one_bucket() {
    check(
        &json!({ "max_concurrency": 2, "run_until": 60000 }),
        "0 request 0
         0 request 2
         10 release 0
         20 refresh max_concurrency=0 remaining=999 reset_at_ms=0
         30 request 1",
        &expect![[r#"
            0 grant 0 #1
            0 waiting 2 behind 0
            0 wake 30000
            10 wake 4990
            20 wake 4980
            30 waiting 1 behind 1
            30 wake 4970
            5000 grant 2 #2
            5000 wake 30000
            35000 grant 1 #3
        "#]],
    );
}

#[test]
fn late_use() {
    check(
        &json!({ "run_until": 90000 }),
        "0 request 0
         0 request 1
         29900 identified 0
         30000 tick",
        &expect![[r#"
            0 grant 0 #1
            0 waiting 1 behind 0
            0 wake 30000
            29900 wake 100
            30000 wake 4900
            30000 wake 4900
            34900 grant 1 #2
        "#]],
    );
}

#[test]
fn five_hundred_starts_in_a_day() {
    let starts: Vec<u64> = (0..500).map(|start| 1_000 + start * 60_000).collect();
    check(
        &json!({ "starts": starts, "remaining": 900, "run_until": 99_999_999 }),
        "40000000 request 0
         86400999 request 0
         86401000 request 0",
        &expect![[r#"
            40000000 deny 0 until 86401000
            86400999 deny 0 until 86401000
            86401000 grant 0 #1
        "#]],
    );
}
