//! The rows of the `telegram` table, one by one.

use expect_test::expect;

use crate::timeline::{check, run};

#[test]
fn one_chat_has_a_burst_of_three_and_then_one_a_second() {
    check(
        "telegram instant until=9000",
        "0 write 1-5 sendMessage 77",
        &expect![[r#"
        0 send 1-3 admitted
        1000 send 4 held 1000
        2000 send 5 held 2000
    "#]],
    );
}

#[test]
fn a_name_counts_as_a_group_a_positive_id_does_not() {
    let goes = |peer: &str| {
        let trace = format!("0 write 1-40 sendMessage {peer} hold=600000");
        run("telegram instant until=59999", &trace).iter().filter(|out| out.kind == "send").count()
    };
    assert_eq!((goes("-77"), goes("@channel"), goes("77")), (18, 18, 40));
}

#[test]
fn sends_and_edits_share_the_groups_minute() {
    let trace = "0 write 1-10 sendMessage -5
                 20000 write 11-20 editMessageText -5 message=$ class=final hold=600000";
    let outputs = run("telegram instant until=59999", trace);
    assert_eq!(outputs.len(), 18, "{outputs:?}");
    let split = run("telegram instant until=59999 families=split", trace);
    assert_eq!(split.len(), 20);
}

#[test]
fn typing_goes_once_in_four_seconds_for_each_topic() {
    check(
        "telegram instant",
        "0 write 1-2 sendChatAction -5
         0 write 3-4 sendChatAction -5 thread=1
         0 write 5 sendChatAction -5 thread=2
         3999 write 6 sendChatAction -5
         4000 write 7 sendChatAction -5",
        &expect![[r#"
            0 send 1 admitted
            0 drop 2 dry
            0 send 3 admitted
            0 drop 4 dry
            0 send 5 admitted
            3999 drop 6 dry
            4000 send 7 admitted
        "#]],
    );
}

#[test]
fn typing_and_sends_do_not_wait_for_each_other() {
    check(
        "telegram instant until=1",
        "0 write 1-25 sendChatAction $
         0 write 26 sendMessage 77
         0 write 27 sendChatAction 999",
        &expect![[r#"
            0 send 1-26 admitted
            0 drop 27 dry
        "#]],
    );
}

#[test]
fn drafts_merge_by_their_id() {
    check(
        "telegram instant until=9000",
        "0 write 1-2 sendMessageDraft 77 message=1
         0 write 3 sendMessageDraft 77 message=1
         200 write 4 sendMessageDraft 77 message=1
         300 write 5 sendMessageDraft 77 message=2",
        &expect![[r#"
            0 send 1-2 admitted
            200 superseded 3 by 4
            1000 send 4 held 800
            2000 send 5 held 1700
        "#]],
    );
}

#[test]
fn a_draft_waits_for_five_seconds_at_most() {
    check(
        "telegram instant until=9000",
        "0 write 1-9 sendMessageDraft 77 message=$",
        &expect![[r#"
        0 send 1-2 admitted
        1000 send 3 held 1000
        2000 send 4 held 2000
        3000 send 5 held 3000
        4000 send 6 held 4000
        5000 send 7 held 5000
        5000 drop 8-9 max_hold
    "#]],
    );
}

/// Whatever it waits for: the answer to the draft before it, another in its line, its turn at the bot's bucket.
#[test]
fn a_draft_is_dropped_when_its_hold_ends() {
    check(
        "telegram until=9000",
        "0 write 1 sendMessageDraft 77 message=1
         10 write 2 sendMessageDraft 77 message=1
         20 write 3 sendMessageDraft 77 message=2
         6000 done 1 ok",
        &expect![[r#"
            0 send 1 admitted
            5010 drop 2 max_hold
            5010 send 3 held 4990
        "#]],
    );
    check(
        "telegram until=9000",
        "0 write 1-25 sendMessageDraft $ message=1
         10 write 26-27 sendMessageDraft $ message=1",
        &expect![[r#"
            0 send 1-25 admitted
            10 drop 26-27 max_hold
        "#]],
    );
}

#[test]
fn a_send_kills_the_drafts_of_its_chat() {
    check(
        "telegram instant until=9000",
        "0 write 1-3 sendMessageDraft 77 message=1
         0 write 4-6 sendMessageDraft 78 message=1
         500 write 7 sendMessage 77",
        &expect![[r#"
            0 send 1-2 admitted
            0 send 4-5 admitted
            500 send 7 admitted
            500 drop 3 sent
            1000 send 6 held 1000
        "#]],
    );
}

#[test]
fn what_has_no_chat_is_free() {
    check(
        "telegram instant",
        "0 write 1-60 getMe
         0 write 61-99 answerCallbackQuery
         0 write 100-140 setMyCommands
         0 write 141-199 getUpdates
         0 write 200-240 getChat -5
         0 query peers",
        &expect![[r#"
            0 send 1-240 bypass
            0 peers 0
        "#]],
    );
}

#[test]
fn a_free_method_is_refused_while_it_cools_itself() {
    check(
        "telegram",
        "0 write 1 setMyCommands
         0 refused 1 460000
         1000 write 2 setMyCommands
         1000 write 3 getMe
         1000 write 4 sendMessage 77
         1000 cooldown method 5000 method=getUpdates
         1000 write 5 getUpdates
         462000 write 6 setMyCommands",
        &expect![[r#"
            0 send 1 bypass
            0 failed 1
            1000 refuse 2 cooldown 461000
            1000 send 3 bypass
            1000 send 4 admitted
            1000 send 5 bypass
            462000 send 6 bypass
        "#]],
    );
}

#[test]
fn other_writes_to_a_chat_take_from_the_bot_alone() {
    check(
        "telegram instant until=9000",
        "0 write 1-26 deleteMessage -5 message=$",
        &expect![[r#"
        0 send 1-25 admitted
        1000 send 26 held 1000
    "#]],
    );
}

#[test]
fn an_inline_edit_takes_from_the_bot_alone() {
    check(
        "telegram instant until=1",
        "0 write 1-20 editMessageText inline:abc message=$",
        &expect![[r#"
        0 send 1-20 admitted
    "#]],
    );
}

#[test]
fn methods_of_any_case_and_of_tomorrow_have_their_rows() {
    let counters = |method: &str| {
        let trace = format!("0 write 1 {method} 77 message=1\n0 query counters");
        run("telegram instant", &trace).last().unwrap().value.to_string()
    };
    for (method, surface) in [
        ("SENDMESSAGE", "send/send"),
        ("sendRichMessage", "rich/send"),
        ("sendRichMessageDraft", "draft/preview"),
        ("createForumTopic", "send/send"),
        ("forwardMessages", "send/send"),
        ("editMessageReplyMarkup", "edit/final"),
        ("banChatMember", "write/send"),
        ("teleportChatMember", "write/send"),
    ] {
        assert!(counters(method).contains(surface), "{method}: {}", counters(method));
    }
}

#[test]
fn an_album_weighs_its_items_in_the_windows_and_one_in_the_second() {
    check(
        "telegram instant until=61000",
        "0 write 1-2 sendMediaGroup -5 weight=9
         0 write 3 sendMessage -5 hold=60000
         0 write 4 sendMessage -5",
        &expect![[r#"
            0 send 1-2 admitted
            0 refuse 4 max_hold 60000
            60000 send 3 held 60000
        "#]],
    );
}

#[test]
fn a_weight_over_the_limit_stands_in_parts() {
    check(
        "telegram instant until=130000",
        "0 write 1 forwardMessages -5 weight=20
         60000 write 2 forwardMessages -5 weight=16
         60001 write 3 sendMessage -5 hold=60000",
        &expect![[r#"
            0 send 1 admitted
            60000 send 2 admitted
            120000 send 3 held 59999
        "#]],
    );
}

#[test]
fn interactive_edits_have_a_reserve_and_may_pass_twice_a_minute() {
    check(
        "telegram instant until=9000",
        "0 write 1-6 editMessageText -5 message=$ class=interactive",
        &expect![[r#"
            0 send 1-3 admitted
            0 send 4-5 passed
            1000 send 6 held 1000
        "#]],
    );
    let reserve = run(
        "telegram instant until=40000",
        "0 write 1-18 sendMessage -5
         30000 write 19-20 editMessageText -5 message=$ class=interactive",
    );
    assert_eq!(reserve.iter().filter(|out| out.at == 30_000 && out.word("outcome") == "admitted").count(), 2);
}

#[test]
fn a_higher_class_goes_before_a_lower_one_that_came_earlier() {
    check(
        "telegram instant until=9000",
        "0 write 1-5 sendMessage 77
         10 write 6 sendMessage 77 class=interactive
         20 write 7 sendMessage 77 class=status
         30 write 8 sendMessage 77 class=final",
        &expect![[r#"
            0 send 1-3 admitted
            1000 send 6 held 990
            2000 send 4 held 2000
            3000 send 5 held 3000
            4000 send 8 held 3970
            5000 send 7 held 4980
        "#]],
    );
}

#[test]
fn ordered_rows_have_one_write_of_a_peer_in_flight() {
    check(
        "telegram until=9000",
        "0 write 1 sendMessage 77
         0 write 2 sendRichMessage 77
         0 write 3 sendMessage 78
         0 write 4 deleteMessage 77 message=1
         500 done 1 ok
         900 done 2 permanent
         950 write 5 sendMessage 77",
        &expect![[r#"
            0 send 1 admitted
            0 send 3-4 admitted
            500 send 2 held 500
            950 send 5 admitted
        "#]],
    );
}

#[test]
fn a_slow_upload_does_not_block_its_line_for_ever() {
    let outputs = run("telegram until=70000", "0 write 1-2 sendVideo 77 hold=600000");
    assert_eq!(outputs[0].at, 0);
    assert!((60_000..=60_001).contains(&outputs[1].at), "{outputs:?}");
}

#[test]
fn two_hundred_paid_chats_leave_within_a_second() {
    let outputs = run(
        "telegram until=60000",
        "0 write 1-25 sendMessage $
         0 write 101-300 sendMessage $ fields=text,allow_paid_broadcast hold=4000
         0 write 401-500 copyMessage -$ fields=allow_paid_broadcast hold=4000",
    );
    assert_eq!(outputs.len(), 325);
    assert!(outputs.iter().all(|out| out.kind == "send" && out.at == 0), "{outputs:?}");
}

/// What is paid takes nothing of the bot's second, and a chat's own limits stay, in one line with what is not paid.
#[test]
fn a_paid_chat_keeps_its_own_pace() {
    check(
        "telegram instant until=9000",
        "0 write 1-2 sendMessage 77 fields=allow_paid_broadcast
         0 write 3 sendMessage 77
         0 write 4 sendRichMessage 77 fields=rich_message,allow_paid_broadcast
         0 write 5 sendMessage 77
         0 write 6-29 sendMessage -$",
        &expect![[r#"
            0 send 1-3 admitted
            0 send 6-29 admitted
            1000 send 4 held 1000
            2000 send 5 held 2000
        "#]],
    );
    let outputs = run("telegram instant until=59999", "0 write 1-20 sendMessage -5 fields=allow_paid_broadcast");
    assert_eq!(outputs.iter().filter(|out| out.kind == "send").count(), 18);
}

/// 1,000 in any second, an album by its items.
#[test]
fn paid_broadcasts_have_a_thousand_a_second() {
    let outputs = run(
        "telegram instant until=9000",
        "0 write 1-100 sendMediaGroup $ weight=9 fields=allow_paid_broadcast
         0 write 101-210 sendMessage $ fields=allow_paid_broadcast",
    );
    assert_eq!(outputs.iter().filter(|out| out.at == 0).count(), 200);
    assert_eq!(outputs.iter().filter(|out| out.at == 1_000).count(), 10);
}
