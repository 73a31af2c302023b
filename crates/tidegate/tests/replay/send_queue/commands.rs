//! Commands, presence updates and members requests.

use expect_test::expect;
use serde_json::json;

use super::check;

#[test]
fn the_newest_presence_goes_in_the_place_of_the_oldest_that_waits() {
    check(
        &json!({ "queued_limit": 1, "run_until": 300_000 }),
        "0 command 1
         0 command 2 3
         0 command 3
         0 command 4 3
         0 command 5 3",
        &expect![[r#"
            0 send 1
            0 dropped 2 superseded
            0 dropped 4 superseded
            60000 send 5
            120000 send 3
        "#]],
    );
}

#[test]
fn d52_of_ten_presences_in_five_seconds_the_last_one_lands() {
    check(
        &json!({ "run_until": 90000 }),
        "0 command 1 3\n500 command 2 3\n1000 command 3 3\n1500 command 4 3\n2000 command 5 3
         2500 command 6 3\n3000 command 7 3\n3500 command 8 3\n4000 command 9 3\n4500 command 10 3
         4600 command 11 4",
        &expect![[r#"
            0 send 1
            500 send 2
            1000 send 3
            1500 send 4
            2000 send 5
            3000 dropped 6 superseded
            3500 dropped 7 superseded
            4000 dropped 8 superseded
            4500 dropped 9 superseded
            4600 send 11
            60000 send 10
        "#]],
    );
}

#[test]
fn d50_one_request_for_all_members_per_guild_and_half_a_minute() {
    check(
        &json!({ "run_until": 90000 }),
        "0 members 1 a
         0 members 2 a
         0 members 3 b
         0 members 4 a one
         10 members 5 a
         20 command 6 8",
        &expect![[r#"
            0 send 1
            0 send 3-4
            20 send 6
            30000 send 2
            60000 send 5
        "#]],
    );
}

#[test]
fn d50_what_discord_dropped_goes_again_first_of_its_guild_and_holds_no_other() {
    check(
        &json!({ "run_until": 90000 }),
        "0 members 1 a
         10 members 2 a
         200 rate_limited a 12000
         300 members 3 b
         300 command 4
         400 rate_limited a 15000
         500 rate_limited a 99000 opcode=4",
        &expect![[r#"
            0 send 1
            300 send 3-4
            15400 send 1
            45400 send 2
        "#]],
    );
}

#[test]
fn d54_one_byte_too_many_never_reaches_the_socket() {
    check(
        &json!({}),
        "0 command 1 4 4096
         0 command 2 4 4097",
        &expect![[r#"
            0 send 1
            0 refused 2 too_large
        "#]],
    );
}

#[test]
fn past_its_bound_the_queue_refuses_the_new_and_keeps_the_old() {
    check(
        &json!({ "run_until": 130_000 }),
        "0 command 1-357
         60000 command 400",
        &expect![[r#"
            0 send 1-100
            0 refused 357 queue_full
            60000 send 101-200
            120000 send 201-300
        "#]],
    );
}

#[test]
fn while_a_command_waits_no_subscription_goes() {
    check(
        &json!({ "queued_limit": 3, "subscription_limit": 9, "run_until": 200_000 }),
        "0 command 1-2
         10 command 3
         20 subscribe g 1
         30 command 4",
        &expect![[r#"
            0 send 1-2
            10 send 3
            60000 send 4
            60000 send {"g":1}
        "#]],
    );
}
