//! Edits of one message in order, whatever their methods, routes, classes and failures.

use std::fmt::Write as _;

use expect_test::expect;

use crate::timeline::{check, check_moments};

/// The burst is used up; each edit of the message is asked for 50 ms after the one before.
fn after_a_burst(peer: &str, edits: &[&str]) -> String {
    let mut trace = format!("0 write 1-3 sendMessage {peer}\n");
    for (at, (ticket, edit)) in (50..).step_by(50).zip((4..).zip(edits)) {
        let _ = writeln!(trace, "{at} write {ticket} {edit} {peer} message=1 hold=60000");
    }
    trace
}

#[test]
fn e1_a_newer_text_does_not_reach_over_the_markup_between() {
    check(
        "telegram instant until=60000",
        &after_a_burst("77", &["editMessageText", "editMessageReplyMarkup", "editMessageText"]),
        &expect![[r#"
            0 send 1-3 admitted
            150 superseded 4 by 6
            1000 send 5 held 900
            2000 send 6 held 1850
        "#]],
    );
}

#[test]
fn e1_a_newer_markup_does_not_reach_over_the_text_between() {
    check(
        "telegram instant until=60000",
        &after_a_burst("77", &["editMessageReplyMarkup", "editMessageText", "editMessageReplyMarkup"]),
        &expect![[r#"
            0 send 1-3 admitted
            150 superseded 4 by 6
            1000 send 5 held 900
            2000 send 6 held 1850
        "#]],
    );
}

#[test]
fn e1_a_newer_caption_does_not_reach_over_the_media_between() {
    check(
        "telegram instant until=60000",
        &after_a_burst("77", &["editMessageCaption", "editMessageMedia", "editMessageCaption"]),
        &expect![[r#"
            0 send 1-3 admitted
            150 superseded 4 by 6
            1000 send 5 held 900
            2000 send 6 held 1850
        "#]],
    );
}

#[test]
fn e1_in_a_group_too() {
    check(
        "telegram instant until=60000",
        &after_a_burst("-5", &["editMessageText", "editMessageReplyMarkup", "editMessageText"]),
        &expect![[r#"
            0 send 1-3 admitted
            150 superseded 4 by 6
            1000 send 5 held 900
            2000 send 6 held 1850
        "#]],
    );
}

/// Those of the message move up; the other message keeps its place.
#[test]
fn e1_an_alternating_stream_does_not_pile_up() {
    let kinds = ["editMessageText", "editMessageReplyMarkup", "editMessageText", "editMessageReplyMarkup"];
    let mut trace = after_a_burst("77", &kinds);
    trace.push_str("60 write 9 editMessageText 77 message=2 hold=60000");
    let mut lines: Vec<&str> = trace.lines().collect();
    lines.sort_by_key(|line| line.split(' ').next().unwrap().parse::<u64>().unwrap());
    check(
        "telegram instant until=60000",
        &lines.join("\n"),
        &expect![[r#"
            0 send 1-3 admitted
            150 superseded 4 by 6
            200 superseded 5 by 7
            1000 send 6 held 850
            2000 send 9 held 1940
            3000 send 7 held 2800
        "#]],
    );
}

#[test]
fn e1_what_ends_a_live_location_a_poll_or_a_game_keeps_its_order_too() {
    check(
        "telegram until=20000",
        "0 write 1 editMessageLiveLocation 77 message=1
         10 write 2 stopMessageLiveLocation 77 message=1
         20 write 3 editMessageReplyMarkup 77 message=1
         30 write 4 stopPoll 77 message=2
         40 write 5 editMessageReplyMarkup 77 message=2 class=interactive
         500 done 1 ok
         600 done 2 ok
         700 done 4 ok",
        &expect![[r#"
            0 send 1 admitted
            40 send 4 held 10
            500 send 2 held 490
            700 send 5 held 660
            700 send 3 held 680
        "#]],
    );
}

#[test]
fn e1_a_patch_by_a_webhook_waits_for_one_of_the_channel_that_shares_a_field() {
    let channel = "/channels/5/messages/9";
    let webhook = "/webhooks/3/token/messages/9";
    check(
        "discord until=20000",
        &format!(
            "0 write 1 PATCH_{channel} fields=content,embeds
             10 write 2 PATCH_{webhook} fields=embeds
             20 write 3 PATCH_{webhook} fields=components
             30 write 4 PATCH_/webhooks/3/other/messages/9 fields=components
             40 write 5 PATCH_/webhooks/3/token/messages/8 fields=content
             500 done 1 ok
             600 done 2 ok
             700 done 3 ok"
        ),
        &expect![[r#"
            0 send 1 admitted
            40 send 5 admitted
            1040 send 2 held 1030
        "#]],
    );
}

#[test]
fn e9_an_edit_waits_behind_one_that_awaits_its_retry() {
    let patch = "PATCH_/channels/5/messages/9";
    check_moments(
        "discord until=20000",
        &format!(
            "0 write 1 {patch} fields=content,embeds
             100 done 1 transient
             200 write 2 {patch} fields=embeds
             600 done 1 ok
             700 done 2 ok"
        ),
        &expect![[r#"
            0 send 1
            500 send 1
            600 send 2
        "#]],
    );
}

#[test]
fn e9_one_that_covers_what_awaits_its_retry_goes_instead() {
    let patch = "PATCH_/channels/5/messages/9";
    check(
        "discord until=20000",
        &format!(
            "0 write 1 {patch} fields=embeds
             100 done 1 transient
             200 write 2 {patch} fields=content,embeds"
        ),
        &expect![[r#"
            0 send 1 admitted
            200 send 2 admitted
            200 superseded 1 by 2
        "#]],
    );
}

#[test]
fn e9_interactive_or_not_edits_go_in_order() {
    let patch = "PATCH_/channels/5/messages/9";
    check(
        "discord until=20000",
        &format!(
            "0 write 1 {patch} fields=content
             10 write 2 {patch} fields=content,embeds
             20 write 3 {patch} fields=embeds class=interactive
             500 done 1 ok
             600 done 2 ok
             700 done 3 ok"
        ),
        &expect![[r#"
            0 send 1 admitted
            500 send 2 held 490
            600 send 3 held 580
        "#]],
    );
}

/// The older one is given the booked place, and the newer one the older one's.
#[test]
fn e9_one_that_claims_a_booking_stays_behind_its_older_sibling() {
    check(
        "telegram instant until=30000",
        "0 write 1-3 sendMessage 77
         0 write 4 editMessageText 77 message=8 hold=0
         0 write 5 editMessageReplyMarkup 77 message=9 hold=60000
         1100 write 6 editMessageText 77 message=9 hold=60000",
        &expect![[r#"
            0 send 1-3 admitted
            0 refuse 4 max_hold 1000
            1100 send 5 held 1100
            2000 send 6 held 900
        "#]],
    );
}

#[test]
fn e9_a_pass_does_not_jump_an_older_edit_of_its_message() {
    check(
        "telegram instant until=30000",
        "0 write 1-3 sendMessage -5
         0 write 4 editMessageText -5 message=1
         10 write 5 editMessageReplyMarkup -5 message=1 class=interactive
         20 write 6 editMessageReplyMarkup -5 message=2 class=interactive",
        &expect![[r#"
            0 send 1-3 admitted
            20 send 6 passed
            1000 send 4 held 1000
            1000 send 5 passed 990
        "#]],
    );
}

/// The chat's two names are one: what left under the other goes before what waits, and what it covers does not go.
#[test]
fn e9_a_chat_that_turns_out_to_be_another_keeps_its_messages_in_order() {
    check(
        "telegram until=30000",
        "0 write 1-3 editMessageText @name message=$0
         0 write 4 editMessageText @name message=1
         0 write 5 editMessageReplyMarkup @name message=2
         10 write 6 editMessageText -5 message=1
         20 write 7 editMessageText -5 message=2
         30 migrate @name -5
         500 done 6 ok
         600 done 7 ok",
        &expect![[r#"
            0 send 1-3 admitted
            10 send 6 admitted
            20 send 7 admitted
            30 superseded 4 by 6
            2687 send 5 held 2687
        "#]],
    );
}

#[test]
fn e9_a_policy_that_is_switched_off_releases_edits_in_order() {
    check(
        "telegram until=30000",
        "0 write 1-3 sendMessage 77
         0 write 4 editMessageText 77 message=1
         0 write 5 editMessageReplyMarkup 77 message=1
         10 set enabled=false
         20 write 6 editMessageCaption 77 message=1
         500 done 4 ok
         600 done 5 transient
         1000 done 5 ok",
        &expect![[r#"
            0 send 1 admitted
            10 send 2-4 passed 10
            500 send 5 held 500
            1000 send 5 held 1000
        "#]],
    );
}

#[test]
fn e9_a_delete_drops_the_edits_that_wait_for_another() {
    check(
        "discord until=20000",
        "0 write 1 PATCH_/channels/5/messages/9 fields=content
         10 write 2 PATCH_/channels/5/messages/9 fields=embeds
         10 write 3 PATCH_/webhooks/3/token/messages/9 fields=embeds
         20 write 4 DELETE_/webhooks/3/token/messages/9
         500 done 1 transient",
        &expect![[r#"
            0 send 1 admitted
            20 drop 3 order
            20 drop 2 order
            20 send 4 admitted
            900 send 1 held 900
        "#]],
    );
}

/// A slow upload no longer blocks; what comes of it late is not sent over the newer one.
#[test]
fn e9_one_that_was_lost_does_not_come_back_over_a_newer_one() {
    check(
        "telegram until=90000",
        "0 write 1 editMessageMedia 77 message=1
         10 write 2 editMessageText 77 message=1 hold=600000
         60000 tick
         61000 done 1 transient
         62000 done 2 ok",
        &expect![[r#"
            0 send 1 admitted
            60000 send 2 held 59990
            61000 failed 1
        "#]],
    );
}

#[test]
fn e9_a_rich_edit_waits_for_the_markup_before_it() {
    check(
        "telegram-forum until=30000",
        "0 write 1 sendRichMessage -100111 thread=9
         0 done 1 ok
         0 write 2 editMessageReplyMarkup -100111 message=1
         10 write 3 editMessageText -100111 message=1 fields=rich_message
         20 write 4 editMessageReplyMarkup -100111 message=1
         500 done 2 ok
         600 done 3 ok",
        &expect![[r#"
            0 send 1-2 admitted
            500 send 3 held 490
            600 send 4 held 580
        "#]],
    );
}

#[test]
fn e9_a_write_whose_client_left_in_flight_is_not_sent_again() {
    check(
        "telegram until=90000",
        "0 write 1 editMessageText 77 message=1
         0 write 2 sendMessage 77
         0 write 3 sendMessage 78
         10 cancel 1
         10 cancel 2
         10 cancel 3
         100 done 1 transient
         100 refused 2 1000
         100 done 3 ok
         200 query counters",
        &expect![[r#"
            0 send 1-3 admitted
            200 counters {"edit/final/accepted":1,"edit/final/admitted":1,"edit/final/cancelled":1,"send/send/accepted":2,"send/send/admitted":2,"send/send/cancelled":1,"send/send/delivered":1}
        "#]],
    );
}

#[test]
fn e9_one_that_owes_another_client_an_answer_is() {
    check(
        "telegram until=90000",
        "0 write 1 editMessageText 77 message=1
         10 write 2 editMessageText 77 message=1
         20 write 3 editMessageText 77 message=1
         100 done 1 ok
         150 cancel 3
         200 done 3 transient
         700 done 3 ok",
        &expect![[r#"
            0 send 1 admitted
            20 superseded 2 by 3
            100 send 3 held 80
            600 send 3 held 580
        "#]],
    );
}

/// In a chat without a budget nothing stands in line.
#[test]
fn e9_a_bypass_that_fails_ends() {
    check(
        "telegram-forum until=9000",
        "0 write 1 editMessageText 777 message=1
         10 done 1 transient",
        &expect![[r#"
            0 send 1 bypass
            10 failed 1
        "#]],
    );
}
