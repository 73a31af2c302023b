//! The pending map.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::json;

use super::{check, run};

#[test]
fn the_map_keeps_its_order_and_each_guilds_newest() {
    check(
        &json!({ "settle_ms": 0 }),
        r#"0 closed 1006
         1 subscribe b {"channels":{"1":[[0,99]]}}
         2 subscribe a 1
         3 subscribe b {}
         4 subscribe a 2
         5 opened
         6 ready"#,
        &expect![[r#"
            6 send {"b":{},"a":2}
        "#]],
    );
}

#[test]
fn an_empty_snapshot_is_one_like_any_other() {
    check(
        &json!({ "burst": 1, "settle_ms": 0, "run_until": 9000 }),
        "0 subscribe a 1
         10 subscribe a []
         20 subscribe a 2
         30 subscribe a []",
        &expect![[r#"
            0 send {"a":1}
            760 send {"a":[]}
        "#]],
    );
}

#[test]
fn a_map_over_the_payload_is_split_by_guild_and_each_frame_spaced() {
    // A frame without a guild has 34 bytes, an entry here 7, and a comma: two fit into 49.
    check(
        &json!({ "max_payload": 49, "burst": 0, "settle_ms": 0, "run_until": 99000 }),
        r#"0 subscribe a "1"
         0 subscribe b "1"
         0 subscribe c "1"
         0 subscribe d "1"
         0 subscribe e "1"
         10 closed 1006
         10 opened
         11 ready
         20 subscribe a "22222222"
         20 subscribe a "3333333333"
         30 subscribe b "2"
         30 subscribe c "2"
         30 subscribe d "2""#,
        &expect![[r#"
            0 send {"a":"1"}
            0 send {"b":"1"}
            0 send {"c":"1"}
            0 send {"d":"1"}
            0 send {"e":"1"}
            20 send {"a":"22222222"}
            20 refused "a" too_large
            30 send {"b":"2"}
            30 send {"c":"2"}
            30 send {"d":"2"}
        "#]],
    );
    check(
        &json!({ "max_payload": 49, "burst": 3, "settle_ms": 0, "run_until": 99000 }),
        r#"0 subscribe a "1"
         0 subscribe b "1"
         0 subscribe c "1"
         10 subscribe a "2"
         20 subscribe c "2"
         30 subscribe b "2""#,
        &expect![[r#"
            0 send {"a":"1"}
            0 send {"b":"1"}
            0 send {"c":"1"}
            780 send {"a":"2","c":"2"}
            1570 send {"b":"2"}
        "#]],
    );
}

#[test]
fn a_guild_too_large_for_a_frame_is_refused_by_name_and_leaves_its_older_snapshot() {
    let large = "x".repeat(4_200);
    check(
        &json!({ "burst": 1, "settle_ms": 0, "run_until": 9000 }),
        &format!("0 subscribe g 1\n10 subscribe g 2\n20 subscribe g \"{large}\"\n30 subscribe h \"{large}\""),
        &expect![[r#"
            0 send {"g":1}
            20 refused "g" too_large
            30 refused "h" too_large
            760 send {"g":2}
        "#]],
    );
}

#[test]
fn frames_that_age_out_shorten_the_wait() {
    // At 100 there is room for one: a whole minute; from 60,000 on for 79 more.
    check(
        &json!({ "burst": 0, "settle_ms": 0, "run_until": 99000 }),
        "0 command 1-78
         100 subscribe g 1
         200 subscribe g 2",
        &expect![[r#"
            0 send 1-78
            100 send {"g":1}
            60000 send {"g":2}
        "#]],
    );
}

#[test]
fn a_guild_not_subscribed_for_a_minute_is_new_again() {
    let mut trace = String::from("0 subscribe old 1\n");
    for n in 0..40 {
        write!(trace, "{} subscribe g {n}\n{} command {n}\n", 30_000 + n * 20, 59_000 + n * 20).unwrap();
    }
    let outputs = run(&json!({ "settle_ms": 0, "run_until": 99000 }), &(trace + "59999 subscribe old 2"));
    let old = outputs.iter().filter(|out| out.map.as_ref().is_some_and(|map| map.contains("old")));
    assert_eq!(old.map(|out| out.at).collect::<Vec<_>>(), [0, 60_000]);
}

#[test]
fn at_rest_it_leaves_at_once_while_the_bucket_lasts() {
    check(
        &json!({ "burst": 0, "settle_burst": 2, "run_until": 9000 }),
        "0 subscribe g 1
         10 subscribe g 2
         300 subscribe g 3
         600 subscribe g 4",
        &expect![[r#"
            0 send {"g":1}
            160 send {"g":2}
            450 send {"g":3}
            1230 send {"g":4}
        "#]],
    );
}

#[test]
fn the_twenty_kept_for_commands_are_kept_at_rest_too() {
    let mut trace = String::new();
    (0..300).for_each(|n| writeln!(trace, "{} subscribe {} 1", n * 100, n % 150).unwrap());
    let outputs = run(&json!({ "run_until": 59999 }), &(trace + "59999 command 1-21"));
    let (maps, commands): (Vec<_>, Vec<_>) = outputs.iter().partition(|out| out.map.is_some());
    assert_eq!((maps.len(), commands.len()), (80, 20));
}
