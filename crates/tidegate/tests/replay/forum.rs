//! The cases of the `telegram-forum` table, by their numbers.

use expect_test::expect;

use crate::timeline::{check, check_moments, run};

#[test]
fn c1_typing_waits_for_its_token() {
    check(
        "telegram-forum instant until=9000",
        "0 write 1-9 sendChatAction -100111 thread=9",
        &expect![[r#"
        0 send 1-8 admitted
        3000 send 9 held 3000
    "#]],
    );
}

#[test]
fn c1_typing_that_may_not_wait_is_dropped() {
    check(
        "telegram-forum instant until=9000 typing_max_hold=0s",
        "0 write 1-9 sendChatAction -100111 thread=9
         0 write 10-21 sendChatAction -100111
         3100 write 22-24 sendChatAction -100111",
        &expect![[r#"
            0 send 1-8 admitted
            0 drop 9-21 max_hold
            3100 send 22 admitted
            3100 drop 23-24 max_hold
        "#]],
    );
}

#[test]
fn c2_a_bots_cooldown_drops_typing_before_all_else() {
    check(
        "telegram-forum instant",
        "0 cooldown bot 10000
         1 write 1 sendChatAction 777
         1 write 2 sendChatAction -100111 thread=9
         1 query peers
         1 query counters",
        &expect![[r#"
            1 drop 1-2 cooldown
            1 peers 0
            1 counters {}
        "#]],
    );
}

#[test]
fn c3_private_chats_are_not_paced() {
    check(
        "telegram-forum",
        "0 write 1-25 sendChatAction 777 thread=9
         0 write 26-50 editMessageText 777 message=$
         0 write 51-75 sendMessage 777
         0 write 76-100 sendRichMessage 777 thread=9
         0 query peers",
        &expect![[r#"
            0 send 1-100 bypass
            0 peers 0
        "#]],
    );
}

#[test]
fn c4_a_group_is_paced_once_it_is_marked() {
    check(
        "telegram-forum instant typing_burst=2 typing_max_hold=0s",
        "0 write 1-3 sendChatAction -100111
         0 query counters
         0 write 4-6 sendChatAction -100111 thread=9",
        &expect![[r#"
            0 send 1-3 bypass
            0 counters {}
            0 send 4-5 admitted
            0 drop 6 max_hold
        "#]],
    );
}

const EDITS: &str = "telegram-forum instant until=5000 edit_burst=2 edits_per_minute=60";

#[test]
fn c5_finals_merge_and_chrome_never_overtakes_them() {
    check(
        EDITS,
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-3 editMessageText -100111 message=$
         0 write 4 editMessageText -100111 message=4 class=clock
         0 write 5 editMessageText -100111 message=4 class=preview
         0 write 6 editMessageText -100111 message=4 class=intermediary
         0 write 7 editMessageText -100111 message=4 class=status
         0 write 8 editMessageText -100111 message=9 class=final
         0 write 9 editMessageText -100111 message=9 class=final
         1 query counters
         1100 write 10 editMessageText -100111 message=4 class=status
         2100 write 11 editMessageText -100111 message=4 class=status",
        &expect![[r#"
            0 send 1-3 admitted
            0 drop 4-7 dry
            0 superseded 8 by 9
            1 counters {"edit/clock/accepted":1,"edit/clock/dropped":1,"edit/final/accepted":4,"edit/final/admitted":2,"edit/final/delivered":2,"edit/final/held":1,"edit/final/superseded":1,"edit/intermediary/accepted":1,"edit/intermediary/dropped":1,"edit/preview/accepted":1,"edit/preview/dropped":1,"edit/status/accepted":1,"edit/status/dropped":1,"typing/status/accepted":1,"typing/status/admitted":1,"typing/status/delivered":1}
            1000 send 9 held 1000
            1100 drop 10 dry
            2100 send 11 admitted
        "#]],
    );
}

#[test]
fn c6_interactive_passes_and_is_not_charged() {
    check(
        EDITS,
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-3 editMessageText -100111 message=$
         500 write 4 editMessageText -100111 message=4 class=interactive
         1000 write 5 editMessageText -100111 message=5",
        &expect![[r#"
            0 send 1-3 admitted
            500 send 4 passed
            1000 send 5 admitted
        "#]],
    );
}

#[test]
fn c7_a_send_that_would_wait_too_long_fails_open_and_is_not_charged() {
    check(
        "telegram-forum instant until=70000 sends_ceiling_per_minute=1",
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-3 sendMessage -100111
         60000 write 4 sendMessage -100111",
        &expect![[r#"
            0 send 1-2 admitted
            0 send 3 failed_open
            60000 send 4 admitted
        "#]],
    );
    check(
        "telegram-forum instant until=70000 sends_ceiling_per_minute=2",
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-4 sendMessage -100111",
        &expect![[r#"
            0 send 1-3 admitted
            30000 send 4 held 30000
        "#]],
    );
}

#[test]
fn c8_sends_take_from_both_buckets() {
    check(
        "telegram-forum instant until=99000",
        "0 write 100 sendChatAction -100111 thread=9
         0 write 1-40 sendMessage -100111",
        &expect![[r#"
            0 send 100 admitted
            0 send 1-5 admitted
            1000 send 6 held 1000
            2000 send 7 held 2000
            3000 send 8 held 3000
            4000 send 9 held 4000
            5000 send 10 held 5000
            6000 send 11 held 6000
            7000 send 12 held 7000
            8000 send 13 held 8000
            9000 send 14 held 9000
            10000 send 15 held 10000
            11000 send 16 held 11000
            12000 send 17 held 12000
            13000 send 18 held 13000
            14000 send 19 held 14000
            15000 send 20 held 15000
            16000 send 21 held 16000
            17000 send 22 held 17000
            18000 send 23 held 18000
            20000 send 24 held 20000
            23334 send 25 held 23334
            26667 send 26 held 26667
            30000 send 27 held 30000
            30000 send 28-40 failed_open 30000
        "#]],
    );
}

#[test]
fn c8_of_a_hundred_at_once_seventy_three_fail_open() {
    let trace = "0 write 101 sendChatAction -100111 thread=9
                 0 write 1-100 sendMessage -100111";
    let outputs = run("telegram-forum instant until=99000", trace);
    let open = outputs.iter().filter(|out| out.word("outcome") == "failed_open").count();
    assert_eq!((outputs.len(), open, outputs.last().unwrap().at), (101, 73, 30_000));
}

#[test]
fn c9_rich_never_fails_open() {
    check(
        "telegram-forum instant until=99000 rich_burst=4 rich_per_minute=30",
        "0 write 1-25 sendRichMessage -100111 thread=9",
        &expect![[r#"
            0 send 1-4 admitted
            2000 send 5 held 2000
            4000 send 6 held 4000
            6000 send 7 held 6000
            8000 send 8 held 8000
            10000 send 9 held 10000
            12000 send 10 held 12000
            14000 send 11 held 14000
            16000 send 12 held 16000
            18000 send 13 held 18000
            20000 send 14 held 20000
            22000 send 15 held 22000
            24000 send 16 held 24000
            26000 send 17 held 26000
            28000 send 18 held 28000
            30000 send 19 held 30000
            32000 send 20 held 32000
            34000 send 21 held 34000
            36000 send 22 held 36000
            38000 send 23 held 38000
            40000 send 24 held 40000
            42000 send 25 held 42000
        "#]],
    );
}

#[test]
fn c10_rich_and_typing_mark_edit_and_send_do_not() {
    check(
        "telegram-forum instant",
        "0 write 1 editMessageText -5 thread=9 message=1
         0 write 2 sendMessage -5 thread=9
         0 write 3-12 sendChatAction -5
         0 write 13 sendRichMessage -5 thread=9
         0 write 14 sendChatAction -5
         0 write 15 sendChatAction -6 thread=9
         0 write 16 editMessageText -6 message=1
         0 write 17 editMessageText -7 message=1",
        &expect![[r#"
            0 send 1-12 bypass
            0 send 13-16 admitted
            0 send 17 bypass
        "#]],
    );
}

#[test]
fn c11_the_bot_bucket_is_taken_by_unmarked_groups_too() {
    check(
        "telegram-forum instant until=999",
        "0 write 1-26 sendMessage -$",
        &expect![[r#"
        0 send 1-25 bypass
        40 send 26 held 40
    "#]],
    );
}

#[test]
fn c12_a_cooldown_is_only_extended() {
    check(
        "telegram-forum auto=false",
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2 sendMessage -100111
         0 write 3 editMessageText -100111 message=1
         0 refused 2 5000
         0 refused 3 1000
         0 write 4 sendMessage -100111 hold=0
         6999 write 5 sendMessage -100111 hold=0",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 4 cooldown 7000
            6999 refuse 5 cooldown 1
        "#]],
    );
}

#[test]
fn c13_a_cooldown_freezes_the_refill() {
    check(
        "telegram-forum instant sends_burst=3",
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-4 sendMessage -100111
         0 cooldown peer 10000 peer=-100111
         5000 write 5 sendMessage -100111 hold=0
         10000 write 6 sendMessage -100111 hold=0",
        &expect![[r#"
            0 send 1-4 admitted
            5000 refuse 5 cooldown 5000
            10000 refuse 6 max_hold 1000
        "#]],
    );
}

const SEVEN_FAILURES: &str = "0 write 1 sendChatAction -100111 thread=9
    0 done 1 ok
    0 write 2 editMessageText -100111 message=1 class=final
    0 done 2 transient
    401 done 2 transient
    1202 done 2 transient
    2803 done 2 transient
    6004 done 2 transient
    12405 done 2 transient
    22406 done 2 transient";

#[test]
fn c14_a_final_is_tried_eight_times() {
    check_moments(
        "telegram-forum until=99000",
        &format!("{SEVEN_FAILURES}\n32407 done 2 ok\n32407 query counters"),
        &expect![[r#"
            0 send 1-2
            400 send 2
            1201 send 2
            2802 send 2
            6003 send 2
            12404 send 2
            22405 send 2
            32406 send 2
            32407 counters {"edit/final/accepted":1,"edit/final/admitted":1,"edit/final/delivered":1,"typing/status/accepted":1,"typing/status/admitted":1,"typing/status/delivered":1}
        "#]],
    );
}

#[test]
fn c14_the_eighth_failure_is_told() {
    check_moments(
        "telegram-forum until=99000",
        &format!("{SEVEN_FAILURES}\n32407 done 2 transient\n32407 query counters"),
        &expect![[r#"
            0 send 1-2
            400 send 2
            1201 send 2
            2802 send 2
            6003 send 2
            12404 send 2
            22405 send 2
            32406 send 2
            32407 failed 2
            32407 counters {"edit/final/accepted":1,"edit/final/admitted":1,"edit/final/failed":1,"typing/status/accepted":1,"typing/status/admitted":1,"typing/status/delivered":1}
        "#]],
    );
}

#[test]
fn c15_a_first_version_that_failed_never_follows_the_second() {
    for result in ["transient", "permanent"] {
        let trace = format!(
            "0 write 1 sendChatAction -100111 thread=9
             0 write 2 editMessageText -100111 message=1 class=final
             10 write 3 editMessageText -100111 message=1 class=final
             100 done 2 {result}
             150 done 3 ok"
        );
        let outputs = run("telegram-forum until=99000", &trace);
        let sent: Vec<(u64, u64)> =
            outputs.iter().filter(|out| out.kind == "send").map(|out| (out.at, out.ticket)).collect();
        assert_eq!(sent, [(0, 1), (0, 2), (100, 3)], "{result}");
        let superseded = outputs.iter().any(|out| out.kind == "superseded" && out.ticket == 2);
        assert_eq!(superseded, result == "transient");
    }
}

#[test]
fn c16_a_peer_with_rich_traffic_alone_has_its_line() {
    let outputs = run("telegram-forum instant until=300000", "0 write 1 sendRichMessage -100111 thread=9");
    let notes: Vec<String> =
        outputs.iter().filter(|out| out.kind == "note").map(|out| format!("{} {}", out.at, out.value)).collect();
    assert!(matches!(&notes[..], [note] if note.contains("rich") && note.contains("-100111")), "{outputs:?}");
}

#[test]
fn c17_a_disabled_policy_releases_what_it_holds_and_charges_nothing() {
    let trace = "0 write 1 sendChatAction -100111 thread=9
                 0 write 2-12 sendMessage -100111
                 500 set enabled=false
                 500 write 13-40 sendMessage -100111
                 500 write 41-70 editMessageText -100111 message=$ class=status";
    let outputs = run("telegram-forum instant until=99000", trace);
    assert!(outputs.iter().all(|out| out.kind == "send" && out.at <= 500), "{outputs:?}");
    let order: Vec<u64> = outputs.iter().map(|out| out.ticket).collect();
    assert_eq!(order, (1..=70).collect::<Vec<_>>());
}

#[test]
fn c18_a_turned_knob_fills_its_bucket_and_no_cooldown_ends() {
    check(
        "telegram-forum instant until=999",
        "0 write 1 sendChatAction -100111 thread=9
         0 write 2-6 sendMessage -100111
         100 set sends_burst=6
         100 write 7-13 sendMessage -100111 hold=0
         200 cooldown peer 5000 peer=-100111
         300 set sends_burst=7
         300 write 14 sendMessage -100111 hold=0",
        &expect![[r#"
            0 send 1-6 admitted
            100 send 7-12 admitted
            100 refuse 13 max_hold 1000
            300 refuse 14 cooldown 4900
        "#]],
    );
}
