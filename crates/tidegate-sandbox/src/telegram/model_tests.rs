use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

const TOKEN: &str = "123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn model() -> Model {
    Model::new(Settings { epoch_unix_s: 1_700_000_000, ..Settings::default() })
}

/// Runs lines of `AT_MS [N×]METHOD NAME=VALUE…`, where `~` in a value is a space.
fn run(model: &mut Model, timeline: &str) -> String {
    let mut seen = String::new();
    for line in timeline.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let at_ms: u64 = words.next().unwrap().parse().unwrap();
        let method = words.next().unwrap();
        let (times, method) = method.split_once('×').map_or((1, method), |(n, it)| (n.parse().unwrap(), it));
        let mut call = Call::new(TOKEN, method);
        for word in words {
            let (name, value) = word.split_once('=').unwrap();
            call = call.arg(name, value.replace('~', " "));
        }
        let mut told = Vec::new();
        for _ in 0..times {
            told.push(short(&model.call(Duration::from_millis(at_ms), &call)));
        }
        let same = told.chunk_by(|a, b| a == b).map(|run| match run.len() {
            1 => run[0].clone(),
            n => format!("{n}× {}", run[0]),
        });
        writeln!(seen, "{at_ms} {}", same.collect::<Vec<_>>().join(", ")).unwrap();
    }
    seen
}

fn short(verdict: &Verdict) -> String {
    let answer = verdict.answer.json();
    let delay = if verdict.delay.is_zero() { String::new() } else { format!(" after {:?}", verdict.delay) };
    let parameters = answer.get("parameters").map(|it| format!(" {it}")).unwrap_or_default();
    match answer.get("description").and_then(Value::as_str) {
        Some(text) => format!("{} {text}{parameters}{delay}", verdict.answer.status),
        None => format!("ok{delay}"),
    }
}

fn check(timeline: &str, expected: &Expect) {
    expected.assert_eq(&run(&mut model(), timeline));
}

#[test]
fn a_private_chat_takes_a_short_burst_then_one_a_second() {
    check(
        "0 3×sendMessage chat_id=5 text=x
         750 sendMessage chat_id=5 text=x
         1500 sendMessage chat_id=5 text=x
         2500 sendMessage chat_id=5 text=x
         2501 sendMessage chat_id=6 text=x",
        &expect![[r#"
            0 3× ok
            750 ok
            1500 429 Too Many Requests: retry after 1 {"retry_after":1}
            2500 ok
            2501 ok
        "#]],
    );
}

#[test]
fn sends_edits_and_topics_of_a_group_share_twenty_in_any_minute() {
    check(
        "0 10×sendMessage chat_id=-5 text=x
         30000 editMessageText chat_id=-5 message_id=1 text=a
         30000 editMessageText chat_id=-5 message_id=1 text=b
         30000 createForumTopic chat_id=-5 name=t
         30000 7×sendPhoto chat_id=-5 photo=id
         59000 deleteMessage chat_id=-5 message_id=2
         59000 pinChatMessage chat_id=-5 message_id=3
         59999 sendMessage chat_id=-5 text=x
         61000 10×copyMessage chat_id=-5 from_chat_id=1 message_id=1
         89999 sendMessage chat_id=-5 text=x",
        &expect![[r#"
            0 10× ok
            30000 ok
            30000 ok
            30000 ok
            30000 7× ok
            59000 ok
            59000 ok
            59999 429 Too Many Requests: retry after 1 {"retry_after":1}
            61000 10× ok
            89999 429 Too Many Requests: retry after 1 {"retry_after":1}
        "#]],
    );
}

#[test]
fn thirty_a_second_over_all_chats() {
    let mut model = model();
    let mut at = |ms, chat: i64| {
        let call = Call::new(TOKEN, "sendMessage").arg("chat_id", chat).arg("text", "x");
        model.call(Duration::from_millis(ms), &call).answer.status
    };
    let first: Vec<u16> = (1..=31).map(|chat| at(500, chat)).collect();
    assert_eq!(first.iter().filter(|status| **status == 200).count(), 30);
    assert_eq!(at(1499, 100), 429);
    assert_eq!(at(1500, 101), 200);
}

#[test]
fn a_thousand_a_second_of_those_that_are_paid() {
    let mut model = model();
    let mut at = |ms, chat: i64, method: &str, paid: &str| {
        let call = Call::new(TOKEN, method).arg("chat_id", chat).arg("text", "x").arg("message_id", 1);
        model.call(Duration::from_millis(ms), &call.arg("allow_paid_broadcast", paid)).answer.status
    };
    let first: Vec<u16> = (1..=1_001).map(|chat| at(500, chat, "sendMessage", "true")).collect();
    assert_eq!(first.iter().filter(|status| **status == 200).count(), 1_000);
    // What is not paid has its own second, and an edit is never paid.
    let second: Vec<u16> = (2_001..=2_031).map(|chat| at(500, chat, "sendMessage", "false")).collect();
    assert_eq!(second.iter().filter(|status| **status == 200).count(), 30);
    assert_eq!(at(500, 1, "editMessageText", "true"), 429);
    assert_eq!(at(1_499, 3_000, "sendMessage", "1"), 429);
    assert_eq!(at(1_500, 3_001, "sendMessage", "True"), 200);
}

#[test]
fn a_ban_called_into_doubles_up_to_its_cap_and_ends_when_left_alone() {
    check(
        "0 20×sendMessage chat_id=-5 text=x
         59000 sendMessage chat_id=-5 text=x
         59200 sendMessage chat_id=-5 text=x
         59300 sendMessage chat_id=-5 text=x
         60000 editMessageText chat_id=-5 message_id=1 text=y
         61000 7×sendMessage chat_id=-5 text=x
         62000 6×sendMessage chat_id=-5 text=x
         62000 sendMessage chat_id=-6 text=x
         3661999 sendMessage chat_id=-5 text=x
         7261999 sendMessage chat_id=-5 text=x",
        &expect![[r#"
            0 20× ok
            59000 429 Too Many Requests: retry after 1 {"retry_after":1}
            59200 429 Too Many Requests: retry after 1 {"retry_after":1}
            59300 429 Too Many Requests: retry after 2 {"retry_after":2}
            60000 429 Too Many Requests: retry after 4 {"retry_after":4}
            61000 429 Too Many Requests: retry after 8 {"retry_after":8}, 429 Too Many Requests: retry after 16 {"retry_after":16}, 429 Too Many Requests: retry after 32 {"retry_after":32}, 429 Too Many Requests: retry after 64 {"retry_after":64}, 429 Too Many Requests: retry after 128 {"retry_after":128}, 429 Too Many Requests: retry after 256 {"retry_after":256}, 429 Too Many Requests: retry after 512 {"retry_after":512}
            62000 429 Too Many Requests: retry after 1024 {"retry_after":1024}, 429 Too Many Requests: retry after 2048 {"retry_after":2048}, 4× 429 Too Many Requests: retry after 3600 {"retry_after":3600}
            62000 ok
            3661999 429 Too Many Requests: retry after 3600 {"retry_after":3600}
            7261999 ok
        "#]],
    );
}

#[test]
fn an_album_is_delivered_in_part() {
    let photos = |n: usize| serde_json::to_string(&vec![json!({"type": "photo", "media": "x"}); n]).unwrap();
    check(
        &format!(
            "0 10×sendMessage chat_id=-5 text=x
             1000 sendMediaGroup chat_id=-5 media={ten}
             1000 sendMediaGroup chat_id=-5 media={ten}
             61000 sendMediaGroup chat_id=-5 media={ten}
             61000 4×sendMessage chat_id=-5 text=x
             61000 sendMediaGroup chat_id=-5 media={ten}
             61000 sendMediaGroup chat_id=-6 media={eleven}
             61000 sendMediaGroup chat_id=7 media={ten}",
            ten = photos(10),
            eleven = photos(11)
        ),
        &expect![[r#"
            0 10× ok
            1000 ok
            1000 400 Bad Request: failed to send message #1 with the error message "Too Many Requests: retry after 59"
            61000 ok
            61000 4× ok
            61000 400 Bad Request: failed to send message #7 with the error message "Too Many Requests: retry after 60"
            61000 400 Bad Request: too many messages to send as an album
            61000 ok
        "#]],
    );
}

#[test]
fn lists_of_ids_weigh_what_they_hold() {
    let ids = |n: i64| serde_json::to_string(&(1..=n).collect::<Vec<_>>()).unwrap();
    check(
        &format!(
            "0 2×forwardMessages chat_id=-5 from_chat_id=1 message_ids={nine}
             1000 copyMessages chat_id=-5 from_chat_id=1 message_ids={nine}
             100000 copyMessages chat_id=-6 from_chat_id=1 message_ids={thirty}
             159999 sendMessage chat_id=-6 text=x
             300000 copyMessages chat_id=-6 from_chat_id=1 message_ids={many}",
            nine = ids(9),
            thirty = ids(30),
            many = ids(101)
        ),
        &expect![[r#"
            0 2× ok
            1000 429 Too Many Requests: retry after 59 {"retry_after":59}
            100000 ok
            159999 429 Too Many Requests: retry after 1 {"retry_after":1}
            300000 400 Bad Request: too many message identifiers specified
        "#]],
    );
}

#[test]
fn an_edit_that_changes_nothing_is_said_to() {
    check(
        "0 sendMessage chat_id=-5 text=Analysis
         1 editMessageText chat_id=-5 message_id=1 text=Analysis~
         2 editMessageText chat_id=-5 message_id=1 text=Analysis. parse_mode=HTML
         3 editMessageText chat_id=-5 message_id=1 text=Analysis.
         4 editMessageText chat_id=-5 message_id=1 text=*Analysis.*
         5 editMessageText chat_id=-5 message_id=1 text=*Analysis.* parse_mode=Markdown
         6 editMessageReplyMarkup chat_id=-5 message_id=1 reply_markup={\"inline_keyboard\":[]}
         7 editMessageReplyMarkup chat_id=-5 message_id=1 reply_markup={\"inline_keyboard\":[]}
         8 editMessageText chat_id=-5 message_id=2 text=x
         9 deleteMessage chat_id=-5 message_id=1
         10 deleteMessage chat_id=-5 message_id=1
         11 editMessageText chat_id=-5 message_id=1 text=x
         12 editMessageText inline_message_id=AB text=x
         13 editMessageText inline_message_id=AB text=x",
        &expect![[r#"
            0 ok
            1 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
            2 ok
            3 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
            4 ok
            5 ok
            6 ok
            7 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
            8 400 Bad Request: message to edit not found
            9 ok
            10 400 Bad Request: message to delete not found
            11 400 Bad Request: message to edit not found
            12 ok
            13 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
        "#]],
    );
}

#[test]
fn a_group_that_became_a_supergroup_is_gone_for_good() {
    let mut model = model();
    model.migrate(123456, -5, -1001557912345);
    let seen = run(
        &mut model,
        "0 sendMessage chat_id=-5 text=x
         1 sendChatAction chat_id=-5 action=typing
         2 sendMessage chat_id=-1001557912345 text=x",
    );
    expect![[r#"
        0 400 Bad Request: group chat was upgraded to a supergroup chat {"migrate_to_chat_id":-1001557912345}
        1 400 Bad Request: group chat was upgraded to a supergroup chat {"migrate_to_chat_id":-1001557912345}
        2 ok
    "#]]
    .assert_eq(&seen);
}

#[test]
fn typing_and_drafts_have_budgets_of_their_own() {
    check(
        "0 20×sendMessage chat_id=-5 text=x
         0 21×sendChatAction chat_id=-5 action=typing
         300 sendChatAction chat_id=-5 action=typing
         3000 sendChatAction chat_id=-5 action=typing
         6300 20×sendChatAction chat_id=-5 action=typing
         12000 sendChatAction chat_id=-5 action=typing
         12000 sendMessageDraft chat_id=-5 draft_id=1 text=x
         12000 sendMessageDraft chat_id=5 draft_id=0 text=x
         12000 21×sendMessageDraft chat_id=5 draft_id=1 text=x",
        &expect![[r#"
            0 20× ok
            0 20× ok, 429 Too Many Requests: retry after 3 {"retry_after":3}
            300 429 Too Many Requests: retry after 3 {"retry_after":3}
            3000 429 Too Many Requests: retry after 3 {"retry_after":3}
            6300 20× ok
            12000 429 Too Many Requests: retry after 3 {"retry_after":3}
            12000 400 Bad Request: chat not found
            12000 400 Bad Request: draft_id must be non-zero
            12000 20× ok, 429 Too Many Requests: retry after 3 {"retry_after":3}
        "#]],
    );
}

#[test]
fn ephemeral_and_inline_edits_count_where_they_can() {
    check(
        "0 20×editEphemeralMessageText chat_id=-5 ephemeral_message_id=1 text=x
         0 sendMessage chat_id=-5 text=x
         2000 30×editMessageReplyMarkup inline_message_id=A
         3000 editMessageText inline_message_id=A text=1
         3000 29×editMessageText inline_message_id=A text=1
         3000 sendMessage chat_id=5 text=x",
        &expect![[r#"
            0 20× ok
            0 429 Too Many Requests: retry after 60 {"retry_after":60}
            2000 ok, 29× 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
            3000 ok
            3000 29× 400 Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message
            3000 429 Too Many Requests: retry after 1 {"retry_after":1}
        "#]],
    );
}

#[test]
fn a_bots_own_settings_cool_by_method() {
    check(
        "0 21×setMyCommands commands=[]
         0 deleteMyCommands
         0 sendMessage chat_id=5 text=x
         0 100×answerCallbackQuery callback_query_id=1",
        &expect![[r#"
            0 20× ok, 429 Too Many Requests: retry after 60 {"retry_after":60}
            0 ok
            0 ok
            0 100× ok
        "#]],
    );
}

#[test]
fn faults_are_found_before_any_limit() {
    check(
        "0 sendMessage text=x
         0 sendMessage chat_id=x text=x
         0 sendMessage chat_id=0 text=x
         0 sendMessage chat_id=@ text=x
         0 sendMessage chat_id=5
         0 sendMessage inline_message_id=A text=x
         0 sendPhoto chat_id=5
         0 editMessageText chat_id=5 text=x
         0 forwardMessages chat_id=5 message_ids=[]
         0 sendMediaGroup chat_id=5 media=[]
         0 noSuchMethod chat_id=5
         0 SENDMESSAGE chat_id=5 text=x
         0 getFile file_id=size_30000000",
        &expect![[r#"
            0 400 Bad Request: chat_id is empty
            0 400 Bad Request: chat not found
            0 400 Bad Request: chat not found
            0 400 Bad Request: chat not found
            0 400 Bad Request: message text is empty
            0 400 Bad Request: chat_id is empty
            0 400 Bad Request: there is no photo in the request
            0 400 Bad Request: message identifier is not specified
            0 400 Bad Request: message identifiers are not specified
            0 400 Bad Request: there are no messages to send
            0 404 Not Found: method not found
            0 ok
            0 400 Bad Request: file is too big
        "#]],
    );
}

#[test]
fn a_forced_429_is_a_ban_in_earnest() {
    let mut model = model();
    model.script(Script::next(Forced::TooMany { retry_after_s: 8288 }));
    let seen = run(
        &mut model,
        "0 sendMessage chat_id=-5 text=x
         1000 sendMessage chat_id=-6 text=x
         2000 sendMessage chat_id=-5 text=x
         8289999 sendMessage chat_id=-5 text=x
         8290000 sendMessage chat_id=-6 text=x
         16578000 sendMessage chat_id=-5 text=x",
    );
    expect![[r#"
        0 429 Too Many Requests: retry after 8288 {"retry_after":8288}
        1000 ok
        2000 429 Too Many Requests: retry after 8288 {"retry_after":8288}
        8289999 429 Too Many Requests: retry after 8288 {"retry_after":8288}
        8290000 ok
        16578000 ok
    "#]]
    .assert_eq(&seen);
}
