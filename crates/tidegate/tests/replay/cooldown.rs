//! Cooldowns: what cools, for how long, and how it opens again.

use expect_test::expect;

use crate::timeline::{check, check_moments};

#[test]
fn a_refusal_cools_the_peer_with_a_margin_and_nobody_else() {
    check_moments(
        "telegram until=9000",
        "0 write 1-2 sendMessage 77
         100 refused 1 5000
         100 write 3 sendMessage 78
         200 write 4 sendMessage 77 hold=0
         200 write 5 editMessageText 77 message=1 class=status
         200 write 6 sendChatAction 77
         200 write 7 deleteMessage 77 message=3 hold=0
         7200 done 1 ok",
        &expect![[r#"
            0 send 1
            100 send 3
            200 refuse 4 cooldown 6900
            200 drop 5-6 cooldown
            200 refuse 7 cooldown 6900
            7100 send 1
            7200 send 2
        "#]],
    );
}

#[test]
fn a_named_cooldown_has_no_margin_and_is_never_shortened() {
    check(
        "telegram auto=false",
        "0 cooldown peer 5000 peer=77
         1000 cooldown peer 1000 peer=77
         1000 write 1 sendMessage 77 hold=0
         4999 write 2 sendMessage 77 hold=0
         5000 write 3 sendMessage 77 hold=0",
        &expect![[r#"
            1000 refuse 1 cooldown 4000
            4999 refuse 2 cooldown 1
            5000 send 3 admitted
        "#]],
    );
}

#[test]
fn a_ban_of_hours_is_never_clamped() {
    check(
        "telegram",
        "0 write 1-2 sendMessage 77 hold=600000
         0 refused 1 8288000
         1 write 3 sendMessage 77
         8289000 write 4 sendMessage 77 hold=0",
        &expect![[r#"
            0 send 1 admitted
            0 refuse 1-2 cooldown 8290000
            1 refuse 3 cooldown 8289999
            8289000 refuse 4 cooldown 1000
        "#]],
    );
}

#[test]
fn a_refused_probe_extends_and_the_third_refusal_is_the_last() {
    check_moments(
        "telegram until=30000",
        "0 write 1-2 sendMessage 77 hold=60000
         0 refused 1 1000
         3100 refused 1 2000
         7200 refused 1 3000
         12300 done 2 ok",
        &expect![[r#"
            0 send 1
            3000 send 1
            7100 send 1
            7200 failed 1
            13000 send 2
        "#]],
    );
}

#[test]
fn a_probe_without_an_answer_passes_on_after_five_seconds() {
    check_moments(
        "telegram until=30000",
        "0 write 1 deleteMessage 77 message=1
         0 refused 1 1000
         10 write 2-3 deleteMessage 77 message=$
         8100 done 2 ok",
        &expect![[r#"
            0 send 1
            3000 send 1
            8000 send 2
            8100 send 3
        "#]],
    );
}

#[test]
fn a_probe_that_fails_for_now_passes_on() {
    check_moments(
        "telegram until=30000",
        "0 write 1 deleteMessage 77 message=1
         0 refused 1 1000
         10 write 2-3 deleteMessage 77 message=$
         3100 done 1 transient
         3200 done 2 permanent",
        &expect![[r#"
            0 send 1
            3000 send 1
            3100 failed 1
            3100 send 2
            3200 send 3
        "#]],
    );
}

#[test]
fn while_it_probes_chrome_drops() {
    check_moments(
        "telegram until=30000",
        "0 write 1 sendMessage 77
         0 refused 1 1000
         3050 write 2 editMessageText 77 message=9 class=status
         3050 write 3 sendChatAction 77
         3100 done 1 ok
         3100 write 4 editMessageText 77 message=9 class=status
         3100 write 5 sendChatAction 77",
        &expect![[r#"
            0 send 1
            3000 send 1
            3050 drop 2-3 cooldown
            3100 send 4-5
        "#]],
    );
}

#[test]
fn a_peer_with_nothing_waiting_opens_without_a_probe() {
    check(
        "telegram",
        "0 cooldown peer 5000 peer=77
         5000 write 1-3 deleteMessage 77 message=$
         5000 write 4 sendChatAction 77",
        &expect![[r#"
            5000 send 1-4 admitted
        "#]],
    );
}

#[test]
fn three_peers_refused_within_ten_seconds_cool_the_bot_for_five_at_most() {
    check(
        "telegram auto=false",
        "0 write 1 sendMessage 1
         0 write 2 sendMessage 2
         0 write 3 sendMessage 3
         0 refused 1 30000
         100 refused 2 30000
         150 write 4 sendMessage 77 hold=0
         200 refused 3 30000
         300 write 5 sendMessage 78 hold=0
         5199 write 6 getMe
         5199 write 7 sendMessage 78 hold=0
         5200 write 8 sendMessage 78 hold=0",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 1 cooldown 32000
            100 refuse 2 cooldown 32000
            150 send 4 admitted
            200 refuse 3 cooldown 32000
            300 refuse 5 cooldown 4900
            5199 send 6 bypass
            5199 refuse 7 cooldown 1
            5200 send 8 admitted
        "#]],
    );
}

#[test]
fn the_bot_cools_until_the_earliest_of_the_three_ends() {
    check(
        "telegram auto=false",
        "0 write 1 sendMessage 1 hold=60000
         0 write 2 sendMessage 2 hold=60000
         0 write 3 sendMessage 3 hold=60000
         0 refused 1 1000
         100 refused 2 30000
         200 refused 3 30000
         300 write 4 sendMessage 77 hold=0",
        &expect![[r#"
            0 send 1-3 admitted
            300 refuse 4 cooldown 2700
        "#]],
    );
    check(
        "telegram auto=false",
        "0 write 1 sendMessage 1 hold=60000
         0 write 2 sendMessage 2 hold=60000
         0 write 3 sendMessage 3 hold=60000
         0 refused 1 30000
         100 refused 2 30000
         10001 refused 3 30000
         10001 write 4 sendMessage 77 hold=0",
        &expect![[r#"
            0 send 1-3 admitted
            10001 send 4 admitted
        "#]],
    );
}

#[test]
fn the_bots_cooldown_freezes_its_peers_buckets() {
    check(
        "telegram instant until=30000",
        "0 write 1-3 sendMessage 77
         0 cooldown bot 10000
         10000 write 4 sendMessage 77 hold=0
         10000 write 5 sendMessage 78 hold=0",
        &expect![[r#"
            0 send 1-3 admitted
            10000 refuse 4 max_hold 1000
            10000 send 5 admitted
        "#]],
    );
}

#[test]
fn a_methods_cooldown_freezes_nothing() {
    check(
        "telegram instant",
        "0 write 1-3 sendMessage 77
         0 cooldown method 10000 method=sendMessage
         5000 write 4 sendPhoto 77
         5000 write 5 sendMessage 78 hold=0
         10000 write 6-8 sendMessage 77",
        &expect![[r#"
            0 send 1-3 admitted
            5000 send 4 admitted
            5000 refuse 5 cooldown 5000
            10000 send 6-8 admitted
        "#]],
    );
}

#[test]
fn typing_and_drafts_cool_their_method_for_that_peer_alone() {
    check(
        "telegram",
        "0 write 1 sendChatAction 77
         0 refused 1 5000
         100 write 2 sendChatAction 77
         100 write 3 sendChatAction 78
         100 write 4 sendMessage 77
         200 write 5 sendMessageDraft 79 message=1
         200 refused 5 5000
         300 write 6 sendMessageDraft 79 message=1
         300 write 7 sendMessage 79
         300 write 8 sendChatAction 79",
        &expect![[r#"
            0 send 1 admitted
            0 drop 1 cooldown
            100 drop 2 cooldown
            100 send 3-4 admitted
            200 send 5 admitted
            200 drop 5 cooldown
            300 drop 6 cooldown
            300 send 7-8 admitted
        "#]],
    );
}

#[test]
fn a_scope_that_the_platform_names_decides() {
    check(
        "telegram auto=false",
        "0 write 1 sendMessage 77 hold=60000
         0 refused 1 5000 scope=bot
         100 write 2 sendMessage 78 hold=0
         100 write 3 getMe",
        &expect![[r#"
            0 send 1 admitted
            100 refuse 2 cooldown 6900
            100 send 3 bypass
        "#]],
    );
}

#[test]
fn waiters_wake_at_the_pace_of_their_buckets() {
    check(
        "telegram instant until=30000",
        "0 write 1-3 sendMessage 77
         0 cooldown peer 5000 peer=77
         100 write 4-6 sendMessage 77",
        &expect![[r#"
            0 send 1-3 admitted
            6000 send 4 held 5900
            7000 send 5 held 6900
            8000 send 6 held 7900
        "#]],
    );
}
