//! What the `telegram-forum` table says beside its numbered cases.

use expect_test::expect;

use crate::timeline::{check, check_moments, run, short};

#[test]
fn a_rich_edit_takes_an_edit_token_and_then_waits_in_the_rich_line() {
    check(
        "telegram-forum instant until=99000 rich_burst=1 rich_per_minute=60",
        "0 write 1-3 sendRichMessage -100111 thread=9
         10 write 4 editMessageText -100111 message=1 fields=rich_message
         20 write 5 sendRichMessage -100111 thread=9",
        &expect![[r#"
            0 send 1 admitted
            1000 send 2 held 1000
            2000 send 3 held 2000
            3000 send 4 held 2990
            4000 send 5 held 3980
        "#]],
    );
}

#[test]
fn a_newer_rich_edit_takes_over_the_token_and_the_place() {
    check(
        "telegram-forum instant until=99000 rich_burst=1 rich_per_minute=60 edit_burst=1 edits_per_minute=1",
        "0 write 1-2 sendRichMessage -100111 thread=9
         10 write 3 editMessageText -100111 message=1 fields=rich_message
         20 write 4 sendRichMessage -100111 thread=9
         30 write 5 editMessageText -100111 message=1 fields=rich_message",
        &expect![[r#"
            0 send 1 admitted
            30 superseded 3 by 5
            1000 send 2 held 1000
            2000 send 5 held 1970
            3000 send 4 held 2980
        "#]],
    );
}

#[test]
fn a_rich_edit_with_a_thread_marks() {
    check(
        "telegram-forum instant",
        "0 write 1 editMessageText -100111 thread=9 message=1 fields=rich_message
         0 write 2 sendChatAction -100111",
        &expect![[r#"
            0 send 1-2 admitted
        "#]],
    );
}

#[test]
fn chrome_rich_edits_drop_on_a_dry_edit_bucket() {
    check_moments(
        "telegram-forum instant until=9000 edit_burst=1",
        "0 write 1 editMessageText -100111 thread=9 message=1 fields=rich_message
         0 write 2 editMessageText -100111 message=2 class=preview fields=rich_message
         0 write 3 editMessageText -100111 message=3 class=interactive fields=rich_message",
        &expect![[r#"
            0 send 1
            0 drop 2 dry
            0 send 3
        "#]],
    );
}

/// 25 go at once, 125 more within five seconds, the rest pass, spaced.
#[test]
fn what_waited_five_seconds_for_the_bot_bucket_alone_passes() {
    let outputs = run("telegram-forum instant until=20000", "0 write 1-200 sendMessage -$");
    let tickets: Vec<u64> = outputs.iter().map(|out| out.ticket).collect();
    assert_eq!(tickets, (1..=200).collect::<Vec<_>>());
    assert_eq!(outputs.iter().filter(|out| out.at < 5_000).count(), 149);
    let passed: Vec<u64> = outputs.iter().filter(|out| out.word("outcome") == "passed").map(|out| out.at).collect();
    assert!(!passed.is_empty() && passed[0] <= 5_000, "{passed:?}");
    assert!(passed.windows(2).all(|pair| pair[1] - pair[0] >= 40), "{passed:?}");
    assert!(outputs.last().unwrap().at <= 7_000, "{passed:?}");
}

#[test]
fn private_sends_do_not_look_at_the_bots_cooldown_but_edits_do() {
    let outputs = run(
        "telegram-forum instant until=20000",
        "0 cooldown bot 10000
         1 write 1 sendMessage 777
         1 write 2 sendRichMessage 777
         1 write 3 editMessageText 777 message=1 class=final
         1 write 4 editMessageText 777 message=2 class=interactive
         1 write 5 editMessageText 777 message=3 class=status
         1 write 6 sendMessage -100111",
    );
    expect![[r#"
        1 send 1-2 bypass
        1 drop 5 cooldown
    "#]]
    .assert_eq(&short(&outputs[..3]));
    let mut late: Vec<(u64, u64)> = outputs[3..].iter().map(|out| (out.at, out.ticket)).collect();
    late.sort_unstable();
    assert_eq!(late, [(10_000, 3), (10_000, 4), (10_000, 6)]);
}

#[test]
fn a_cooldown_longer_than_the_inline_wait_is_told_at_once() {
    check(
        "telegram-forum instant",
        "0 cooldown bot 30000
         0 write 1 sendMessage -100111
         0 cooldown bot 8288000
         1 write 2 sendMessage -100111
         1 write 3 sendRichMessage -100111 thread=9
         1 write 4 editMessageText -100111 message=2 class=final",
        &expect![[r#"
            0 refuse 1 cooldown 8288000
            1 refuse 2-4 cooldown 8287999
        "#]],
    );
}

#[test]
fn each_gate_has_its_own_line() {
    check(
        "telegram-forum instant until=1",
        "0 write 1-9 sendChatAction -100111 thread=9
         0 write 10-20 editMessageText -100111 message=$
         0 write 21-25 sendMessage -100111
         0 write 26-36 sendRichMessage -100111",
        &expect![[r#"
            0 send 1-8 admitted
            0 send 10-19 admitted
            0 send 21-35 admitted
        "#]],
    );
}

/// The write that probes goes alone; its answer opens the rest: 25 by the bot's bucket, then one each 40 ms.
#[test]
fn rich_edits_to_unmarked_groups_take_the_bot_bucket_after_a_cooldown_too() {
    let outputs = run(
        "telegram-forum instant until=20000",
        "0 cooldown bot 10000
         1 write 1-60 editMessageText -$ message=1 fields=rich_message",
    );
    let mut at: Vec<u64> = outputs.iter().filter(|out| out.kind == "send").map(|out| out.at).collect();
    at.sort_unstable();
    assert_eq!(at.len(), 60);
    assert_eq!(at[..25], [10_000; 25]);
    assert!(at[25..].iter().zip(1..).all(|(at, late)| *at == 10_000 + 40 * late), "{:?}", &at[25..]);
}

/// A rich message to an unmarked group in a cooldown is held by it, and by the bucket behind it; so is a send.
#[test]
fn sends_to_unmarked_groups_take_the_bot_bucket_after_a_cooldown_too() {
    for method in ["sendMessage", "sendRichMessage"] {
        let outputs =
            run("telegram-forum instant until=20000", &format!("0 cooldown bot 10000\n1 write 1-60 {method} -$"));
        assert_eq!(outputs.iter().filter(|out| out.kind == "send" && out.at == 10_000).count(), 25, "{method}");
        assert_eq!(outputs.last().unwrap().at, 10_000 + 35 * 40, "{method}");
    }
}

/// What went at once to an unmarked group, was refused and goes again takes the bot bucket each time.
#[test]
fn a_retried_bypass_takes_the_bot_bucket() {
    let mut trace = "0 write 1-25 sendMessage -$\n".to_owned();
    trace.extend((1..=5).map(|ticket| format!("10 refused {ticket} 1000\n")));
    trace += "3010 write 26-50 sendMessage -$\n";
    let outputs = run("telegram-forum until=3011", &trace);
    let again = outputs.iter().filter(|out| out.kind == "send" && out.at == 3_010).count();
    assert_eq!(again, 25, "{}", short(&outputs));
    assert!(outputs.iter().filter(|out| out.ticket <= 5 && out.at == 3_010).count() == 5, "{}", short(&outputs));
    assert_eq!(outputs.iter().filter(|out| out.kind == "failed").count(), 0);
}

/// Held writes have a line a gate, but on the wire sends and rich messages of a peer are one after the other.
#[test]
fn sends_and_rich_messages_of_a_peer_are_in_order_on_the_wire() {
    check_moments(
        "telegram-forum until=9000",
        "0 write 1 sendRichMessage -100111 thread=9
         0 write 2 sendMessage -100111
         0 write 3 sendRichMessage -100111
         0 write 4 sendMessage -100222
         0 write 5-6 sendMessage 77
         0 write 7-8 sendMessage -100333
         500 done 1 ok
         700 done 2 ok",
        &expect![[r#"
            0 send 1
            0 send 4-8
            500 send 2
            700 send 3
        "#]],
    );
}

/// A rich message that waits for its bucket keeps no send back.
#[test]
fn a_dry_rich_bucket_keeps_no_send_back() {
    check_moments(
        "telegram-forum instant until=1 rich_burst=1",
        "0 write 1-2 sendRichMessage -100111 thread=9
         0 write 3 sendMessage -100111",
        &expect![[r#"
            0 send 1
            0 send 3
        "#]],
    );
}
