use std::time::Duration;

use serde_json::json;

use super::Verdict;
use crate::telegram::{Bounds, Call, Forced, LogEntry, Model, Script, Settings, Tokens, channel_id};

const TOKEN: &str = "123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn send(model: &mut Model, at_ms: u64, chat: impl std::fmt::Display, text: &str) -> Verdict {
    model.call(ms(at_ms), &Call::new(TOKEN, "sendMessage").arg("chat_id", chat).arg("text", text))
}

#[test]
fn a_name_is_the_same_chat_as_its_number() {
    let mut model = Model::new(Settings::default());
    let id = channel_id("@News");
    assert!(id < -1_000_000_000_000 && id == channel_id("news"));
    let by_name = send(&mut model, 0, "@news", "#1").answer.json();
    assert_eq!(
        by_name["result"]["chat"],
        json!({"id": id, "type": "channel", "username": "news", "title": "Channel news"})
    );
    assert_eq!(send(&mut model, 0, id, "#2").answer.json()["result"]["message_id"], 2);
    assert_eq!(model.chat_stats(123456, "@NEWS").unwrap().flow.units, 2);
}

#[test]
fn markers_tell_order_duplicates_and_edits_that_go_back() {
    let mut model = Model::new(Settings::default());
    for text in ["#1", "#3", "#2", "#2"] {
        send(&mut model, 0, -5, text);
    }
    for text in ["#10", "#12", "#11"] {
        let edit = Call::new(TOKEN, "editMessageText").arg("chat_id", -5).arg("message_id", 1).arg("text", text);
        model.call(ms(4000), &edit);
    }
    let chat = model.chat_stats(123456, "-5").unwrap();
    let flow = &chat.flow;
    assert_eq!((flow.inversions, flow.duplicates, flow.edit_inversions, flow.units), (1, 1, 1, 7));
    assert_eq!((chat.flow.gap.count, chat.flow.gap.min_ms, chat.flow.gap.max_ms), (6, 0, 4000));
    let messages = model.messages(123456, "-5");
    let texts: Vec<&str> = messages[0].edits.iter().map(|edit| edit.text.as_str()).collect();
    assert_eq!((messages[0].text.as_str(), texts, messages.len()), ("#11", vec!["#10", "#12", "#11"], 4));
}

#[test]
fn tokens() {
    let mut tokens = Tokens::only([TOKEN]);
    let mut model = Model::new(Settings { tokens: tokens.clone(), ..Settings::default() });
    let mut me = |token: &str| model.call(ms(0), &Call::new(token, "getMe")).answer.status;
    assert_eq!(me(TOKEN), 200);
    assert_eq!(me("7:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"), 401);
    for malformed in [
        "",
        "x",
        "123456",
        "123456:short",
        "0:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "१:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert_eq!(me(malformed), 404, "{malformed}");
    }
    tokens.revoke(TOKEN);
    let mut model = Model::new(Settings { tokens, ..Settings::default() });
    assert_eq!(model.call(ms(0), &Call::new(TOKEN, "getMe")).answer.status, 401);
}

#[test]
fn no_token_is_shown() {
    let mut model = Model::new(Settings { tokens: Tokens::only([TOKEN]), ..Settings::default() });
    let call = Call::new(TOKEN, TOKEN);
    let secret = &TOKEN[7..];
    model.call(ms(0), &call);
    model.call(ms(0), &Call::new("", secret));
    let log: Vec<LogEntry> = model.log().cloned().collect();
    let shown = format!("{log:?} {:?} {:?} {:?}", model.stats(), model.settings(), Call::new(TOKEN, "getMe"));
    assert!(!shown.contains(secret), "{shown}");
}

#[test]
fn a_second_poll_ends_the_first() {
    let mut model = Model::new(Settings::default());
    let poll = Call::new(TOKEN, "getUpdates").arg("timeout", 100);
    let first = model.call(ms(0), &poll);
    assert_eq!((first.answer.body.as_str(), first.delay), (r#"{"ok":true,"result":[]}"#, Duration::from_secs(50)));
    let first = first.poll.unwrap();
    assert!(model.poll(ms(10), first).is_none());
    let second = model.call(ms(20), &poll).poll.unwrap();
    let ended = model.poll(ms(20), first).unwrap();
    assert_eq!((ended.answer.status, ended.delay), (409, Duration::ZERO));
    // The next conflict within 3 s is told 3 s later.
    let third = model.call(ms(30), &poll).poll.unwrap();
    assert_eq!(model.poll(ms(30), second).unwrap().delay, Duration::from_secs(3));
    // A client that left is no conflict, and an update ends the wait.
    model.poll_gone(third);
    let fourth = model.call(ms(40), &poll).poll.unwrap();
    let id = model.push_update(123456, json!({"message": {}}));
    let found = model.poll(ms(50), fourth).unwrap().answer.json();
    assert_eq!(found["result"], json!([{"message": {}, "update_id": id}]));
    let again = Call::new(TOKEN, "getUpdates").arg("offset", id + 1);
    assert_eq!(model.call(ms(60), &again).answer.json()["result"], json!([]));
    let statuses: Vec<u16> = model.log().map(|entry| entry.status).collect();
    assert_eq!(statuses, [409, 409, 499, 200, 200]);
}

#[test]
fn a_webhook_and_a_poll_exclude_each_other() {
    let mut model = Model::new(Settings::default());
    let poll = Call::new(TOKEN, "getUpdates").arg("timeout", 10);
    let waiting = model.call(ms(0), &poll).poll.unwrap();
    model.call(ms(1), &Call::new(TOKEN, "setWebhook").arg("url", "https://example.org"));
    assert_eq!(model.poll(ms(1), waiting).unwrap().answer.status, 409);
    assert_eq!(model.call(ms(2), &poll).answer.status, 409);
    model.call(ms(3), &Call::new(TOKEN, "deleteWebhook"));
    assert!(model.call(ms(4), &poll).poll.is_some());
}

#[test]
fn a_lost_answer_had_its_effect_and_a_dropped_call_had_none() {
    let mut model = Model::new(Settings::default());
    model.script(Script::next(Forced::DropBeforeAnswer));
    model.script(Script::next(Forced::LoseAnswer));
    assert!(send(&mut model, 0, -5, "#1").cut);
    assert_eq!(model.messages(123456, "-5").len(), 0);
    assert!(send(&mut model, 0, -5, "#1").cut);
    assert_eq!(model.messages(123456, "-5").len(), 1);
}

#[test]
fn everything_is_bounded() {
    let bounds =
        Bounds { bots: 5, chats: 50, messages: 40, text_bytes: 20_000, edits: 3, log: 30, scripts: 2, updates: 4 };
    let mut model = Model::new(Settings { bounds, ..Settings::default() });
    let long = "x".repeat(4000);
    for n in 0..300_u64 {
        let token = format!("{}:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 1 + n % 20);
        for chat in [n.to_string(), format!("-{n}"), format!("@c{n}"), "-7".into()] {
            let call = Call::new(&token, "sendMessage").arg("chat_id", chat).arg("text", &long);
            model.call(Duration::from_secs(n), &call);
        }
        let edit = Call::new(&token, "editMessageText").arg("inline_message_id", n % 3).arg("text", format!("{n}"));
        model.call(Duration::from_secs(n), &edit);
        model.script(Script { chat: Some("none".into()), ..Script::next(Forced::NotModified) });
        model.push_update(1 + n % 20, json!({}));
        let sizes = model.sizes();
        assert!(sizes.bots <= 5 && sizes.chats <= 50 && sizes.messages <= 40 && sizes.log <= 30 && sizes.scripts <= 2);
        assert!(sizes.text_bytes <= 20_000, "{sizes:?}");
    }
    assert!(model.sizes().chats == 50 && model.sizes().bots == 5);
}

#[test]
fn a_reset_forgets_and_the_clock_goes_on() {
    let mut model = Model::new(Settings::default());
    for _ in 0..25 {
        send(&mut model, 5000, -5, "x");
    }
    model.reset();
    assert_eq!((model.stats().total.calls, model.stats().bans.len(), model.sizes().messages), (0, 0, 0));
    assert_eq!(send(&mut model, 6000, -5, "x").answer.json()["result"]["message_id"], 1);
    assert_eq!(model.log().map(|entry| (entry.seq, entry.at_ms)).collect::<Vec<_>>(), [(26, 1000)]);
    assert_eq!(model.messages(123456, "-5")[0].sent_at_ms, 1000);
}
