//! E5: what a platform answers is passed as it came, its failures too.

use std::sync::Arc;

use crate::client::{Answer, ask};
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

const AUTHORIZATION: (&str, &str) =
    ("Authorization", "Bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0");
const PATIENT: (&str, &str) = ("X-Tidegate-Max-Hold", "60s");

/// A tidegate whose two platforms are one fake.
fn house(fake: &Fake) -> House {
    House::start(&format!(
        "time_scale = 0.01\ntelegram.api = \"http://{0}\"\ndiscord.api = \"http://{0}\"",
        fake.address
    ))
}

fn discord(house: &House, method: &str, path: &str, body: &str) -> Answer {
    let headers = [AUTHORIZATION, PATIENT, ("Content-Type", "application/json")];
    ask(house.listen, method, &format!("/api/v10{path}"), &headers, body.as_bytes())
}

fn html(status: u16) -> Act {
    let headers = [("Content-Type", "text/html"), ("Server", "cloudflare"), ("Retry-After", "17"), ("X-Own", "a")];
    Act::Answer(status, headers.map(|(name, value)| (name, value.to_owned())).to_vec(), format!("<html>{status}"))
}

#[test]
fn e5a_a_failure_passes_as_it_came_on_both_platforms_and_by_every_method() {
    let json = r#"{"message":"500: Internal Server Error","code":0}"#;
    let fake = Fake::start(move |_, seen| match seen.header("x-status") {
        Some("500") => Act::status(500, json),
        Some(status) => html(status.parse().unwrap()),
        None => Act::ok("true"),
    });
    let house = house(&fake);
    house.call("getMe", "");
    assert_eq!(discord(&house, "GET", "/users/@me", "").status, 200);
    for status in ["500", "502", "503", "504", "520"] {
        let body = if status == "500" { json.to_owned() } else { format!("<html>{status}") };
        for method in ["sendMessage", "getMe", "getUpdates", "editMessageText", "sendChatAction"] {
            let form = format!("chat_id=5&message_id={status}&text=a&action=typing");
            let answer = house.call_with(method, &[("X-Status", status), PATIENT], &form);
            assert_eq!((answer.status.to_string().as_str(), answer.text()), (status, body.clone()), "{method}");
            assert_eq!(answer.header("via"), None, "{method}");
            if method == "sendMessage" || method == "editMessageText" {
                assert_eq!(answer.outcome(), "unknown", "{method}");
            }
        }
        for (method, path) in [
            ("POST", "/channels/7/messages"),
            ("GET", "/channels/7"),
            ("PUT", "/channels/7/pins/8"),
            ("DELETE", "/channels/7/pins/8"),
            ("PATCH", "/channels/7/messages/8"),
            ("POST", "/interactions/9/aToken/callback"),
        ] {
            let before = fake.count();
            let headers = [AUTHORIZATION, PATIENT, ("Content-Type", "application/json"), ("X-Status", status)];
            let content = if method == "GET" || method == "DELETE" { "" } else { r#"{"content":"a"}"# };
            let answer = ask(house.listen, method, &format!("/api/v10{path}"), &headers, content.as_bytes());
            assert_eq!((answer.status.to_string().as_str(), answer.text()), (status, body.clone()), "{method} {path}");
            let own = (status != "500").then_some("a");
            assert_eq!(answer.header("x-own"), own, "{method} {path}");
            let (sent, outcome) = match method {
                "POST" => (1, "unknown"),
                "PATCH" => (8, "unknown"),
                _ => (2, answer.outcome()),
            };
            assert_eq!((fake.count() - before, answer.outcome()), (sent, outcome), "{method} {path}");
            assert!(sent == 1 || sent == 8 || answer.outcome() != "unknown", "{method} {path}");
        }
    }
}

#[test]
fn e5b_the_last_answer_passes_and_silence_after_a_failure_leaves_the_failure() {
    // The first try fails in one way, the second in another.
    let fake = Fake::start(|number, _| match number {
        0 | 2 => html(502),
        1 => Act::status(500, "{}"),
        3 | 4 => Act::Cut,
        5 => html(504),
        _ => Act::ok("true"),
    });
    let house = house(&fake);
    let get = || discord(&house, "GET", "/channels/7", "");
    assert_eq!((get().status, fake.count()), (500, 2), "of two answers the last");
    let failed = get();
    assert_eq!((failed.status, failed.text().as_str(), fake.count()), (502, "<html>502", 4), "the one that there was");
    let failed = get();
    assert_eq!((failed.status, fake.count()), (504, 6), "an answer after none");
    assert_eq!(get().status, 200);
}

#[test]
fn e5c_long_and_compressed_and_chunked_failures_pass_whole() {
    let long = "x".repeat(3 << 20);
    let chunked = "HTTP/1.1 502 Bad\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n\
                   4\r\n\x1f\u{1}ab\r\n2\r\ncd\r\n0\r\n\r\n";
    let answer = long.clone();
    let fake = Fake::start(move |_, seen| match seen.header("x-answer") {
        Some("long") => Act::Answer(500, vec![], answer.clone()),
        Some("late") => Act::Answer(404, vec![], answer.clone()),
        Some("edited") => Act::Answer(200, vec![], answer.clone()),
        Some(_) => Act::Says(chunked.to_owned()),
        None => Act::ok("true"),
    });
    let house = house(&fake);
    house.call("getMe", "");
    for (wanted, status) in [("long", 500), ("late", 404), ("edited", 200)] {
        for method in ["sendMessage", "editMessageText", "getMe"] {
            let answer = house.call_with(method, &[("X-Answer", wanted)], "chat_id=5&message_id=6&text=a");
            assert_eq!((answer.status, answer.body.len()), (status, long.len()), "{wanted} {method}");
        }
    }
    let answer = house.call_with("sendMessage", &[("X-Answer", "chunked")], "chat_id=5&text=a");
    assert_eq!((answer.status, answer.header("content-encoding")), (502, Some("gzip")));
    assert_eq!(answer.body, b"\x1f\x01abcd");
    // One that breaks off is no answer.
    let half = Fake::start(|_, _| Act::Says("HTTP/1.1 502 Bad\r\nContent-Length: 100\r\n\r\n<html>".to_owned()));
    let house = self::house(&half);
    let answer = house.call("sendMessage", "chat_id=5&text=a");
    assert_eq!((answer.status, answer.outcome(), answer.json()["ok"].as_bool()), (503, "unknown", Some(false)));
}

#[test]
fn e5d_an_edit_that_was_superseded_is_answered_with_the_newer_ones_failure() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, seen| match number {
        0 => Act::Wait(Arc::clone(&opened), Box::new(Act::ok("true"))),
        _ if seen.target.ends_with("editMessageText") => html(502),
        _ => Act::ok("true"),
    });
    let house = house(&fake);
    let _first = house.begin("sendMessage", &[], "chat_id=5&text=a");
    let edit = |text: &str| house.begin("editMessageText", &[PATIENT], &format!("chat_id=5&message_id=9&text={text}"));
    until("the token is tried", || fake.count() == 1);
    gate.open();
    until("the token is taken", || house.status()["bots"][0]["token"] == "accepted");
    for _ in 0..2 {
        house.call("sendMessage", "chat_id=5&text=a");
    }
    let mut older = edit("a");
    until("it is held", || house.held() == 1);
    let mut newer = edit("b");
    let (older, newer) = (older.read().unwrap(), newer.read().unwrap());
    assert_eq!((newer.status, newer.text().as_str(), newer.outcome()), (502, "<html>502", "unknown"));
    assert_eq!((older.status, older.text().as_str(), older.outcome()), (502, "<html>502", "superseded"));
}

/// `/gateway/bot` before there is a good answer, and a target that hides nothing.
#[test]
fn e5e_where_the_gateway_is_is_told_by_discords_own_failure_until_there_is_an_answer() {
    let fake = Fake::start(|number, _| if number < 2 { html(502) } else { Act::status(200, r#"{"url":"wss://a"}"#) });
    let house = house(&fake);
    let failed = discord(&house, "GET", "/gateway/bot", "");
    assert_eq!((failed.status, failed.text().as_str(), fake.count()), (502, "<html>502", 2));
    assert_eq!(discord(&house, "GET", "/gateway/bot", "").status, 200);
    assert_eq!(ask(house.listen, "GET", &format!("/file/bot{TOKEN}/a"), &[], b"").status, 200);
}
