//! What an answer to a released write does.

use expect_test::expect;

use crate::timeline::{check, check_moments, run};

#[test]
fn a_refused_write_goes_first_again() {
    check_moments(
        "telegram until=20000",
        "0 write 1-3 sendMessage 77
         50 refused 1 1000
         3100 done 1 ok
         3200 done 2 ok",
        &expect![[r#"
            0 send 1
            3050 send 1
            3100 send 2
            4000 send 3
        "#]],
    );
}

#[test]
fn a_deferred_write_gets_its_tokens_back_and_cools_nothing() {
    check_moments(
        "telegram until=20000",
        "0 write 1 sendMessage 77
         10 deferred 1 bot_second 3000
         20 write 2 sendMessage 78
         20 write 3 sendChatAction 77
         3010 deferred 1 bot_second 4000
         4010 deferred 1 bot_second 5000
         5010 deferred 1 bot_second 6000
         6010 done 1 ok
         6020 write 4-6 sendMessage 77
         6030 done 4 ok
         6040 done 5 ok",
        &expect![[r#"
            0 send 1
            20 send 3
            3000 send 1-2
            4000 send 1
            5000 send 1
            6000 send 1
            6020 send 4
            6030 send 5
            7000 send 6
        "#]],
    );
}

#[test]
fn a_deferral_of_a_peers_bucket_holds_that_peer_alone() {
    check_moments(
        "telegram until=20000",
        "0 write 1 sendMessage -5
         10 deferred 1 group_minute 3000
         20 write 2 sendMessage -6",
        &expect![[r#"
            0 send 1
            20 send 2
            3000 send 1
        "#]],
    );
}

#[test]
fn a_transient_failure_of_a_send_is_the_clients_matter() {
    check(
        "telegram until=20000",
        "0 write 1-2 sendMessage 77
         100 done 1 transient
         200 done 2 permanent
         200 query counters",
        &expect![[r#"
            0 send 1 admitted
            100 failed 1
            100 send 2 held 100
            200 counters {"send/send/accepted":2,"send/send/admitted":2,"send/send/failed":2}
        "#]],
    );
}

#[test]
fn an_edit_is_tried_again_until_its_hold_limit() {
    let outputs = run(
        "telegram until=99000",
        "0 write 1 editMessageText 77 message=1 class=final hold=3000
         0 done 1 transient
         401 done 1 transient
         1202 done 1 transient",
    );
    let sent: Vec<u64> = outputs.iter().filter(|out| out.kind == "send").map(|out| out.at).collect();
    assert_eq!(sent, [0, 400, 1_201, 2_802]);
    let outputs = run(
        "telegram until=99000",
        "0 write 1 editMessageText 77 message=1 class=final hold=2500
         0 done 1 transient
         401 done 1 transient
         1202 done 1 transient",
    );
    let last = outputs.last().unwrap();
    assert!(last.kind == "failed" || last.kind == "refuse", "{outputs:?}");
    assert!(last.at <= 2_500);
}

#[test]
fn a_retry_is_never_sent_over_a_newer_one() {
    check_moments(
        "telegram until=20000",
        "0 write 1 editMessageText 77 message=1 class=final
         0 done 1 transient
         100 write 2 editMessageText 77 message=1 class=final
         200 done 2 ok",
        &expect![[r#"
            0 send 1
            100 send 2
            100 superseded 1 by 2
        "#]],
    );
}

#[test]
fn an_edit_that_waits_for_its_retry_holds_nobody_back() {
    check_moments(
        "telegram until=300",
        "0 write 1 editMessageText 77 message=1 class=final
         0 done 1 transient
         100 write 2 sendMessage 77
         100 write 3 editMessageText 77 message=2 class=final",
        &expect![[r#"
            0 send 1
            100 send 2-3
        "#]],
    );
}

#[test]
fn a_cancelled_write_is_never_sent() {
    check(
        "telegram until=20000",
        "0 write 1-3 sendMessage 77
         10 cancel 2
         20 cancel 1
         30 done 1 ok
         40 query counters",
        &expect![[r#"
            0 send 1 admitted
            30 send 3 held 30
            40 counters {"send/send/accepted":3,"send/send/admitted":2,"send/send/cancelled":1,"send/send/delivered":1,"send/send/in_flight":1}
        "#]],
    );
}

#[test]
fn answers_to_unknown_tickets_change_nothing() {
    check(
        "telegram",
        "0 done 7 ok
         0 refused 7 5000
         0 deferred 7 bot_second 900
         0 cancel 7
         0 write 1 sendMessage 77
         0 done 1 ok
         0 done 1 transient
         0 refused 1 5000
         1 write 2 sendMessage 77
         1 query counters",
        &expect![[r#"
            0 send 1 admitted
            1 send 2 admitted
            1 counters {"send/send/accepted":2,"send/send/admitted":2,"send/send/delivered":1,"send/send/in_flight":1}
        "#]],
    );
}
