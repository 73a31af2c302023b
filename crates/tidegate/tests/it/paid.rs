//! Paid broadcasts have a budget of their own, however the call says that it is one.

use crate::client::{Answer, ask};
use crate::fake::{Act, Fake};
use crate::house::{House, TOKEN};

/// The bot has one other message a minute, and a chat one message a minute, whatever is paid.
const SLOW: &str = "[policy.telegram.buckets.bot_second]\nwindow = \"1/60s\"\n\
                    [policy.telegram.buckets.chat_second]\nbucket = \"1/60s\"\nburst = 1\n";
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";
const PARTS: &str = "multipart/form-data; boundary=B";

/// Calls without patience: it is let go or refused at once.
fn post(house: &House, target: &str, kind: &str, body: &str) -> Answer {
    let headers = [("Content-Type", kind), ("X-Tidegate-Max-Hold", "0s")];
    ask(house.listen, "POST", &format!("/bot{TOKEN}/{target}"), &headers, body.as_bytes())
}

#[test]
fn a_paid_call_is_known_in_query_form_json_and_multipart() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    assert_eq!(house.call("sendMessage", "chat_id=1&text=a").outcome(), "admitted");
    let parts = |chat: u32, paid: &str| {
        let part = |name: &str, value: &str| {
            format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        format!(
            "{}{}{}--B--\r\n",
            part("chat_id", &chat.to_string()),
            part("caption", "a"),
            part("allow_paid_broadcast", paid)
        )
    };
    let paid = [
        ("sendMessage?allow_paid_broadcast=true", FORM, "chat_id=11&text=a".to_owned()),
        ("sendMessage", FORM, "chat_id=12&text=a&allow_paid_broadcast=True".to_owned()),
        ("forwardMessage", FORM, "chat_id=13&message_id=1&from_chat_id=2&allow_paid_broadcast=1".to_owned()),
        ("sendMessage", JSON, r#"{"chat_id":14,"text":"a","allow_paid_broadcast":true}"#.to_owned()),
        ("copyMessage", JSON, r#"{"chat_id":15,"message_id":1,"allow_paid_broadcast":"true"}"#.to_owned()),
        ("sendPhoto", PARTS, parts(16, "true")),
        ("sendRichMessage", JSON, r#"{"chat_id":17,"rich_message":{},"allow_paid_broadcast":true}"#.to_owned()),
    ];
    for (target, kind, body) in &paid {
        let answer = post(&house, target, kind, body);
        assert_eq!((answer.status, answer.outcome()), (200, "admitted"), "{target} {body}");
    }
    let unpaid = [
        ("sendMessage", FORM, "chat_id=21&text=a&allow_paid_broadcast=false".to_owned()),
        ("sendMessage", JSON, r#"{"chat_id":22,"text":"a","allow_paid_broadcast":0}"#.to_owned()),
        ("sendMessage?allow_paid_broadcast=0", FORM, "chat_id=23&text=a&allow_paid_broadcast=true".to_owned()),
        ("sendPhoto", PARTS, parts(24, "no")),
        ("editMessageText", FORM, "chat_id=25&message_id=1&text=a&allow_paid_broadcast=true".to_owned()),
    ];
    for (target, kind, body) in &unpaid {
        assert_eq!(post(&house, target, kind, body).status, 429, "{target} {body}");
    }
    assert_eq!(fake.count(), 1 + paid.len());
}

#[test]
fn a_chats_own_limits_stay() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    let body = r#"{"chat_id":5,"text":"a","allow_paid_broadcast":true}"#;
    assert_eq!(post(&house, "sendMessage", JSON, body).status, 200);
    assert_eq!(post(&house, "sendMessage", JSON, body).status, 429);
}
