//! What died with a connection goes again after RESUMED.

use expect_test::expect;
use serde_json::json;

use super::check;

#[test]
fn e11_what_died_with_a_connection_goes_again_in_order_after_resumed() {
    check(
        &json!({}),
        "0 command 1 3
         0 voice 2 a
         0 voice 3 b
         0 members 4 a one
         0 members 5 a all
         0 command 6 31
         0 command 7 43
         0 command 8 99
         0 subscribe a {\"n\":1}
         100 command 9 3
         100 voice 10 a
         200 closed 1006
         300 opened
         300 direct 6
         400 resumed
         400 tick",
        &expect![[r#"
            0 send 1-8
            0 send {"a":{"n":1}}
            100 send 9-10
            400 send 3-4
            400 send 6-10
            400 send {"a":{"n":1}}
        "#]],
    );
}

#[test]
fn e11_what_was_read_or_answered_does_not_go_again() {
    check(
        &json!({}),
        "0 command 1 3
         0 voice 2 a
         0 command 3 31
         0 members 4 a all
         0 members 5 b one
         0 subscribe a {\"n\":1}
         10 direct 1
         20 voice 6 b
         30 ack
         40 answered 3
         50 answered 4
         200 closed
         300 opened
         400 resumed",
        &expect![[r#"
            0 send 1-5
            0 send {"a":{"n":1}}
            20 send 6
            400 send 5-6
        "#]],
    );
}

#[test]
fn e11_a_new_session_and_one_that_was_closed_for_a_frame_get_nothing_again() {
    check(
        &json!({}),
        "0 command 1 31\n10 closed\n20 opened\n30 ready\n40 closed\n50 resumed",
        &expect![[r#"
        0 send 1
    "#]],
    );
    check(
        &json!({}),
        "0 command 1 31\n10 closed 4002\n20 opened\n30 resumed",
        &expect![[r#"
        0 send 1
    "#]],
    );
    // After 4008 the latest viewport stays, as one that waited does.
    check(
        &json!({}),
        "0 command 1 31\n0 subscribe a {\"n\":1}\n10 closed 4008\n20 opened\n30 resumed",
        &expect![[r#"
            0 send 1
            0 send {"a":{"n":1}}
            30 send {"a":{"n":1}}
        "#]],
    );
}

#[test]
fn e11_a_request_that_went_again_and_was_dropped_goes_when_discord_says() {
    check(
        &json!({ "run_until": 70_000 }),
        "0 members 1 a
         10 closed
         20 opened
         30 resumed
         30000 rate_limited a 2500
         30100 closed
         30200 opened
         30300 resumed",
        &expect![[r#"
            0 send 1
            30000 send 1
            32500 send 1
        "#]],
    );
}
