//! What the platform's answers teach.

use crate::fake::{Act, Fake};
use crate::house::House;

const PATIENT: [(&str, &str); 1] = [("X-Tidegate-Max-Hold", "10min")];
const HASTY: [(&str, &str); 1] = [("X-Tidegate-Max-Hold", "0s")];

#[test]
fn a_429_cools_its_chat_and_the_call_is_tried_again() {
    let fake = Fake::start(|number, _| if number == 0 { Act::refused("3") } else { Act::ok("true") });
    let house = House::before(&fake, "");
    let answer = house.call_with("sendMessage", &PATIENT, "chat_id=5&text=a");
    assert_eq!((answer.status, answer.outcome(), fake.count()), (200, "held", 2));
}

#[test]
fn a_429_beyond_the_hold_limit_passes_as_it_came() {
    let fake = Fake::start(|number, _| if number == 0 { Act::refused("8288") } else { Act::ok("true") });
    let house = House::before(&fake, "");
    let answer = house.call_with("sendMessage", &[("X-Tidegate-Max-Hold", "10s")], "chat_id=-5&text=a");
    assert_eq!((answer.status, answer.json()["parameters"]["retry_after"].as_u64()), (429, Some(8288)));
    assert_eq!(answer.header("via"), None);
    // The chat cools, never clamped; another does not.
    let told = house.call_with("sendMessage", &PATIENT, "chat_id=-5&text=b");
    assert!(told.json()["parameters"]["retry_after"].as_u64().unwrap() > 8_000);
    assert_eq!(house.call("sendMessage", "chat_id=-6&text=b").status, 200);
    assert_eq!(fake.count(), 2);
}

#[test]
fn a_429_passes_after_three_tries() {
    let fake = Fake::start(|_, _| Act::refused("1"));
    let house = House::before(&fake, "");
    let answer = house.call_with("sendMessage", &PATIENT, "chat_id=5&text=a");
    assert_eq!((answer.status, fake.count()), (429, 3));
}

#[test]
fn garbage_for_a_wait_is_no_wait() {
    let garbage =
        ["\"NaN\"", "-5", "0", "1e9", "null", "[]", "{}", "\"Wed, 21 Oct 2026 07:28:00 GMT\"", "1e999", "true"];
    for wait in garbage {
        let fake = Fake::start(move |number, _| if number == 0 { Act::refused(wait) } else { Act::ok("true") });
        let house = House::before(&fake, "");
        assert_eq!(house.call_with("sendMessage", &PATIENT, "chat_id=5&text=a").status, 200, "{wait}");
        assert_eq!(fake.count(), 2, "{wait}");
    }
    for header in ["NaN", "-1", "0", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT", ""] {
        let fake = Fake::start(move |number, _| match number {
            0 => Act::Answer(429, vec![("Retry-After", header.to_owned())], "<html>".to_owned()),
            _ => Act::ok("true"),
        });
        let house = House::before(&fake, "");
        assert_eq!(house.call_with("sendMessage", &PATIENT, "chat_id=5&text=a").status, 200, "{header}");
    }
}

#[test]
fn the_header_tells_the_wait_where_the_body_does_not() {
    let fake = Fake::start(|_, _| Act::Answer(429, vec![("Retry-After", "900".to_owned())], "<html>".to_owned()));
    let house = House::before(&fake, "");
    assert_eq!(house.call_with("sendMessage", &HASTY, "chat_id=5&text=a").text(), "<html>");
    let told = house.call_with("sendMessage", &HASTY, "chat_id=5&text=b");
    assert!(told.json()["parameters"]["retry_after"].as_u64().unwrap() > 890);
    assert_eq!(fake.count(), 1);
}

#[test]
fn a_flood_wrapped_in_a_400_cools_and_is_not_sent_again() {
    let wrapped =
        "Bad Request: failed to send message #1 with the error message \\\"Too Many Requests: retry after 800\\\"";
    let fake = Fake::start(move |_, _| Act::error(400, wrapped));
    let house = House::before(&fake, "");
    let answer = house.call_with("sendMediaGroup", &PATIENT, "chat_id=-5&media=[{},{}]");
    assert_eq!((answer.status, fake.count()), (400, 1));
    let told = house.call_with("sendMessage", &HASTY, "chat_id=-5&text=b");
    assert!(told.json()["parameters"]["retry_after"].as_u64().unwrap() > 790);
    assert_eq!(fake.count(), 1);
}

#[test]
fn not_modified_is_success_after_a_retry_and_passes_else() {
    let same = "Bad Request: message is not modified: specified new message content is the same";
    let fake = Fake::start(move |number, seen| match number {
        0 => Act::error(400, same),
        1 => Act::Cut,
        _ if seen.target.ends_with("/editMessageText") => Act::error(400, same),
        _ => Act::ok("true"),
    });
    let house = House::before(&fake, "");
    let edit =
        |text: &str| house.call_with("editMessageText", &PATIENT, &format!("chat_id=5&message_id=9&text={text}"));
    let plain = edit("a");
    assert_eq!((plain.status, plain.json()["ok"].as_bool()), (400, Some(false)));
    // The first try was cut off after it was sent; that it arrived shows in the second.
    let retried = edit("b");
    assert_eq!((retried.status, retried.json()["ok"].as_bool()), (200, Some(true)));
    assert_eq!(retried.json()["result"]["text"], "b");
    assert_eq!(fake.count(), 3);
    assert!(house.admin("/metrics").text().contains("surface=\"edit\",class=\"final\",outcome=\"delivered\"} 2"));
}

#[test]
fn a_chat_that_moved_takes_its_budget_along() {
    let moved = r#"{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1001557912345}}"#;
    let fake = Fake::start(move |number, _| if number == 3 { Act::status(400, moved) } else { Act::ok("true") });
    let house = House::before(&fake, "");
    for _ in 0..3 {
        assert_eq!(house.call("sendMessage", "chat_id=-5&text=a").outcome(), "admitted");
    }
    let answer = house.call_with("sendMessage", &PATIENT, "chat_id=-5&text=a");
    assert_eq!((answer.status, answer.text().as_str()), (400, moved));
    assert_eq!(house.call_with("sendMessage", &PATIENT, "chat_id=-1001557912345&text=a").status, 200);
    assert_eq!(house.status()["bots"][0]["peers"], 1);
}

#[test]
fn a_name_and_its_chat_are_one_once_an_answer_shows_it() {
    let fake = Fake::start(|_, _| {
        Act::ok(r#"{"message_id":1,"date":1,"chat":{"id":-100123,"type":"channel","username":"Chan"}}"#)
    });
    let house = House::before(&fake, "[policy.telegram.buckets.chat_second]\nbucket = \"1/60s\"\nburst = 1\n");
    assert_eq!(house.call("sendMessage", "chat_id=@Chan&text=a").outcome(), "admitted");
    assert_eq!(house.call_with("sendMessage", &HASTY, "chat_id=-100123&text=a").status, 429);
    assert_eq!(house.call_with("sendMessage", &HASTY, "chat_id=%40chan&text=a").status, 429);
    assert_eq!(house.status()["bots"][0]["peers"], 1);
}

#[test]
fn a_number_and_its_text_are_one_peer_wherever_they_stand() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, "[policy.telegram.buckets.chat_second]\nbucket = \"1/60s\"\nburst = 1\n");
    house.call("sendMessage", "chat_id=-5&text=a");
    let json = [("Content-Type", "application/json"), ("X-Tidegate-Max-Hold", "0s")];
    let multipart = [("Content-Type", "multipart/form-data; boundary=\"B\""), ("X-Tidegate-Max-Hold", "0s")];
    let part = "--B\r\ncontent-disposition: form-data; name=\"chat_id\"\r\n\r\n-5\r\n--B--\r\n";
    for (headers, query, body) in [
        (&json, "", "{\"text\":\"chat_id\",\"x\":{\"chat_id\":7},\"chat_id\":-5}"),
        (&json, "", "{\"chat_id\":\"-5\"}"),
        (&json, "", "{\"chat_\\u0069d\":\"\\u002d5\"}"),
        (&json, "?chat_id=-5", "{\"chat_id\":8}"),
        (&multipart, "", part),
    ] {
        let target = format!("/bot{}/sendMessage{query}", crate::house::TOKEN);
        let answer = crate::client::ask(house.listen, "POST", &target, headers, body.as_bytes());
        assert_eq!(answer.status, 429, "{query} {body}");
    }
    assert_eq!(fake.count(), 1);
}
