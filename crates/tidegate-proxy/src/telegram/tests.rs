use hyper::{HeaderMap, StatusCode};
use tidegate_core::Span;

use super::path::{Target, What, parse};
use super::reply::{Reply, said, seconds};
use super::{answer, hold};

#[test]
fn targets_are_taken_apart() {
    let method = |token: &'static str, test, name| Some(Target { token, test, what: What::Method(name) });
    assert_eq!(parse("/bot1:a/getMe"), method("1:a", false, "getMe"));
    assert_eq!(parse("/bot1:a/test/getMe"), method("1:a", true, "getMe"));
    assert_eq!(parse("/bot1:a/a/b"), method("1:a", false, "a/b"));
    assert_eq!(parse("/file/bot1:a/x/y.png"), Some(Target { token: "1:a", test: false, what: What::File }));
    for other in ["/bot1:a", "/", "/file/1:a/x", "/Bot1:a/getMe"] {
        assert_eq!(parse(other), None, "{other}");
    }
}

#[test]
fn libraries_are_known_by_what_they_send() {
    let held = |agent| crate::pipeline::hold::within(hold::timeout(agent), Span::ZERO);
    for (agent, secs_tenths) in [
        (Some("python-telegram-bot v22.8 (https://python-telegram-bot.org)"), 40),
        (None, 136),
        (Some(""), 136),
        (Some("python-requests/2.34.2"), 240),
        (Some("Python/3.11 aiohttp/3.14.5 aiogram/3.31.0"), 480),
        (Some("Python/3.11 aiohttp/3.14.5"), 2400),
        (Some("node"), 2400),
        (Some("node-fetch/1.0 (+https://github.com/bitinn/node-fetch)"), 4000),
        (Some("curl/8"), 40),
        (Some("nodejs"), 40),
    ] {
        assert_eq!(held(agent), Span::from_millis(secs_tenths * 100), "{agent:?}");
    }
}

#[test]
fn a_limit_is_a_length_of_time_up_to_ten_minutes() {
    assert_eq!(crate::pipeline::hold::named("250ms"), Some(Span::from_millis(250)));
    assert_eq!(crate::pipeline::hold::named("10min"), Some(Span::from_secs(600)));
    for wrong in ["601s", "5", "", "-1s", "1h"] {
        assert_eq!(crate::pipeline::hold::named(wrong), None, "{wrong}");
    }
}

#[test]
fn waits_that_make_no_sense_are_none() {
    assert_eq!(seconds("8288"), Some(Span::from_secs(8288)));
    assert_eq!(seconds(" 0.5 "), Some(Span::from_millis(500)));
    for wrong in ["0", "-1", "NaN", "inf", "1e9", "", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
        assert_eq!(seconds(wrong), None, "{wrong}");
    }
}

fn reply(body: &'static str) -> Reply {
    Reply { status: StatusCode::TOO_MANY_REQUESTS, headers: HeaderMap::new(), body: body.into() }
}

#[test]
fn the_body_tells_the_wait_before_the_header() {
    let mut told = reply(r#"{"parameters":{"retry_after":7}}"#);
    told.headers.insert(hyper::header::RETRY_AFTER, 9.into());
    assert_eq!(told.retry_after(), Some(Span::from_secs(7)));
    told.body = "no JSON".into();
    assert_eq!(told.retry_after(), Some(Span::from_secs(9)));
}

#[test]
fn what_answers_say_is_found() {
    let moved = said(br#"{"ok":false,"parameters":{"migrate_to_chat_id":-1001}}"#);
    assert_eq!(moved.migrated_to(), Some(-1001));
    let flood = said(br#"{"description":"Bad Request: failed to send message #1 with the error message \"Too Many Requests: retry after 8\""}"#);
    assert_eq!(flood.wrapped_flood(), Some(Span::from_secs(8)));
    assert!(said(br#"{"description":"Not Found"}"#).is_bare_not_found());
    assert!(!said(br#"{"description":"Not Found: method not found"}"#).is_bare_not_found());
    assert_eq!(said(br#"{"result":{"chat":{"id":-5}}}"#).chat_id(), Some(-5));
    assert_eq!(said(br#"{"result":[{"chat":{"id":-5}},{}]}"#).chat_id(), None);
    assert_eq!(said(br#"{"result":[{"chat":{"id":-5}}]}"#).chat_id(), Some(-5));
    assert_eq!(said(br#"{"result":true}"#).chat_id(), None);
    assert_eq!(said(b"<html>").wrapped_flood(), None);
}

#[test]
fn refusals_are_told_in_whole_seconds_rounded_up() {
    for (wait, told) in [(Span::ZERO, 1), (Span::from_millis(1), 1), (Span::from_millis(1_001), 2)] {
        assert_eq!(answer::refusal(wait).retry_after(), Some(Span::from_secs(told)));
    }
}
