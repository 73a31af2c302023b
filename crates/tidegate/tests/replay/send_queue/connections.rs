//! What ends with a connection, and what outlives it.

use expect_test::expect;
use serde_json::json;

use super::check;

#[test]
fn between_connections_nothing_queued_goes_and_the_minute_begins_with_the_socket() {
    check(
        &json!({ "run_until": 200_000 }),
        "0 command 1-100
         10 closed 1006
         20 command 101-199
         30 opened
         30 direct 2
         40 tick
         50 ready
         60 command 200-202",
        &expect![[r#"
            0 send 1-100
            50 send 101-199
            60 send 200
            60050 send 201-202
        "#]],
    );
}

#[test]
fn opened_without_closed_ends_the_former_connection() {
    check(
        &json!({}),
        "0 opened
         10 command 1
         20 ready",
        &expect![[r#"
            20 send 1
        "#]],
    );
}

#[test]
fn after_4008_commands_are_dropped_and_the_map_is_kept() {
    check(
        &json!({ "burst": 1, "settle_ms": 0, "queued_limit": 2, "run_until": 200_000 }),
        "0 subscribe g 1
         0 command 1-3
         10 subscribe g 2
         20 closed 4008
         30 command 4
         40 opened
         50 ready",
        &expect![[r#"
            0 send {"g":1}
            0 send 1
            20 dropped 2 after_4008
            20 dropped 3 after_4008
            50 send 4
            50 send {"g":2}
        "#]],
    );
}

#[test]
fn a_command_expires_after_a_minute_between_connections() {
    check(
        &json!({ "queued_limit": 1, "run_until": 300_000 }),
        "0 command 1-2
         50000 closed 1006
         60000 command 3
         70000 opened
         80000 closed 1006
         119999 opened
         119999 ready
         120000 closed 1006",
        &expect![[r#"
            0 send 1
            110000 dropped 2 expired
            119999 send 3
        "#]],
    );
}

#[test]
fn the_guilds_half_minute_and_the_presences_outlive_the_connection() {
    check(
        &json!({ "presence_limit": 1, "run_until": 90000 }),
        "0 members 1 g
         0 command 2 3
         100 closed 1006
         200 opened
         300 ready
         400 members 3 g
         400 command 4 3
         400 command 5",
        &expect![[r#"
            0 send 1-2
            400 send 5
            30000 send 3
            60000 send 4
        "#]],
    );
}

#[test]
fn one_frame_over_the_platforms_limit_we_close_ourselves() {
    let beats = (0..21).fold(String::new(), |text, beat| format!("{text}{} direct\n", 1000 + beat));
    check(
        &json!({ "run_until": 90000 }),
        &format!("0 command 1-101\n{beats}2000 direct\n2100 closed 4000\n2200 opened\n2300 ready"),
        &expect![[r#"
            0 send 1-100
            1020 close 4000
            2300 send 101
        "#]],
    );
}

#[test]
fn queued_frames_leave_the_platform_its_limit() {
    let beats = "0 direct\n".repeat(30);
    check(
        &json!({ "run_until": 60000 }),
        &format!("{beats}1 command 1-100"),
        &expect![[r#"
            1 send 1-90
            60000 send 91-100
        "#]],
    );
}
