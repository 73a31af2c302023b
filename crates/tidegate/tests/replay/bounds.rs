//! Everything is bounded, forgotten in time, and moved whole.

use std::fmt::Write as _;

use expect_test::expect;

use crate::timeline::{check, run};

#[test]
fn a_peer_holds_two_hundred_and_fifty_six() {
    let outputs = run("telegram", "0 write 1-260 sendMessage 77 hold=600000");
    let refused: Vec<(u64, &str)> =
        outputs.iter().filter(|out| out.kind == "refuse").map(|out| (out.ticket, out.word("reason"))).collect();
    assert_eq!(refused, [(258, "queue_full"), (259, "queue_full"), (260, "queue_full")]);
}

#[test]
fn a_gate_holds_eight_thousand_one_hundred_and_ninety_two() {
    let mut trace = String::new();
    for chat in 1..=40 {
        writeln!(trace, "0 write {}-{} sendMessage {chat} hold=600000", chat * 1_000, chat * 1_000 + 205).unwrap();
    }
    let outputs = run("telegram", &trace);
    let sent = outputs.iter().filter(|out| out.kind == "send").count();
    let full = outputs.iter().filter(|out| out.word("reason") == "queue_full").count();
    assert_eq!((sent, full), (25, 40 * 206 - 8_192 - 25));
}

#[test]
fn a_peer_is_forgotten_when_it_is_like_a_new_one() {
    check(
        "telegram instant until=99000",
        "0 write 1 sendMessage -5
         0 write 2 sendMessage 77
         0 query peers
         59999 query peers
         60001 query peers",
        &expect![[r#"
            0 send 1-2 admitted
            0 peers 2
            59999 peers 1
            60001 peers 0
        "#]],
    );
}

#[test]
fn a_peer_with_a_write_in_flight_or_a_running_cooldown_stays() {
    check(
        "telegram until=200000",
        "0 write 1 sendMessage 77
         0 cooldown peer 100000 peer=78
         99999 query peers
         99999 done 1 ok
         100001 query peers",
        &expect![[r#"
            0 send 1 admitted
            99999 peers 2
            100001 peers 0
        "#]],
    );
}

#[test]
fn three_thousand_peers_leave_nothing() {
    let outputs = run(
        "telegram-forum instant until=200000",
        "0 write 1-3000 sendChatAction -$ thread=1
         0 query peers
         60000 query peers",
    );
    let peers: Vec<u64> =
        outputs.iter().filter(|out| out.kind == "peers").filter_map(|out| out.value.as_u64()).collect();
    assert_eq!(peers, [3_000, 0]);
}

#[test]
fn forgetting_grants_no_burst() {
    let trace = "0 write 1-18 sendMessage -5
                 75000 query peers
                 75000 write 19-40 sendMessage -5 hold=59999";
    let outputs = run("telegram instant until=134999", trace);
    assert_eq!(outputs.iter().filter(|out| out.kind == "send").count(), 36);
}

#[test]
fn a_migrated_chat_keeps_its_line_its_cooldown_and_its_windows() {
    check(
        "telegram instant until=99000",
        "0 write 1-4 sendMessage -5
         10 write 5-7 sendMessage -100777
         20 write 8 sendMessage -100777
         30 migrate -5 -100777
         40 write 9 sendMessage -5
         40 query peers",
        &expect![[r#"
            0 send 1-3 admitted
            10 send 5-7 admitted
            40 peers 1
            1010 send 4 held 1010
            2010 send 8 held 1990
            3010 send 9 held 2970
        "#]],
    );
    check(
        "telegram instant",
        "0 cooldown peer 5000 peer=-5
         0 cooldown peer 3000 peer=-100777
         0 migrate -5 -100777
         10 write 1 sendMessage -100777 hold=0
         10 write 2 sendMessage -5 hold=0",
        &expect![[r#"
            10 refuse 1-2 cooldown 4990
        "#]],
    );
}

#[test]
fn a_hold_over_ten_minutes_counts_as_ten_minutes() {
    check(
        "telegram instant",
        "0 cooldown peer 600001 peer=77
         0 write 1 sendMessage 77 hold=900000
         1 write 2 sendMessage 77 hold=900000",
        &expect![[r#"
            0 refuse 1 cooldown 600001
        "#]],
    );
}
