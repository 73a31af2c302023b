use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use tidegate_core::{Span, Time};

use super::hold;
use super::path::behind_api;
use super::repeats::Repeats;
use super::response::{self, Scope};
use crate::reply::Reply;
use tidegate_net::Token;

#[test]
fn any_version_is_taken_off() {
    for (path, behind) in [
        ("/api/v10/users/@me", Some("users/@me")),
        ("/api/users/@me", Some("/users/@me")),
        ("/api/v6/gateway", Some("gateway")),
        ("/api/v10", Some("")),
        ("/api/vx/a", Some("/vx/a")),
        ("/api/v/a", Some("/v/a")),
        ("/api/v10//a", Some("/a")),
        ("/api", None),
        ("/apiv10/a", None),
        ("/x", None),
    ] {
        assert_eq!(behind_api(path), behind, "{path}");
    }
}

#[test]
fn libraries_are_known_by_what_they_send() {
    let held = |agent| crate::pipeline::hold::within(hold::timeout(agent), Span::ZERO);
    for (agent, secs_tenths) in [
        ("DiscordBot (https://twilight.rs/, 0.18.0)", 80),
        ("DiscordBot (https://github.com/discord-jda/JDA, 6.4.2)", 80),
        ("DiscordBot (https://discord.js.org, 14)", 120),
        ("DiscordBot (https://github.com/abalabahaha/eris, 0.18.0)", 120),
        ("node", 120),
        ("DiscordBot (https://github.com/hikari-py/hikari, 2.7.0)", 240),
        ("DiscordBot (https://github.com/Rapptz/discord.py 2.7.1)", 2400),
        ("DiscordBot (https://github.com/serenity-rs/serenity, 0.12.5)", 6000),
        ("DiscordBot (https://example.org/twilight.rs/, 1)", 40),
        ("curl/8", 40),
    ] {
        assert_eq!(held(Some(agent)), Span::from_millis(secs_tenths * 100), "{agent}");
    }
    assert_eq!(held(None), Span::from_secs(4));
}

#[test]
fn tokens_name_their_application_and_print_without_their_secret() {
    let token = Token::discord("Bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.secretsecret").unwrap();
    assert_eq!(token.id(), "123456789012345678");
    for written in ["Bearer abcdefghij", "Basic MTIzOmFiYw==", "Bot x", "Bot YWJj.x.secret"] {
        let token = Token::discord(written).unwrap();
        assert_eq!(token.id().len(), 8, "{written}");
        assert!(!format!("{token} {token:?}").contains(written.split_once(' ').unwrap().1), "{written}");
    }
    assert_ne!(Token::discord("Bot a").unwrap().hash(), Token::discord("a").unwrap().hash());
    let long = format!("Bot {}", "a".repeat(2049));
    for wrong in ["", "Bot ", "Bot a b", "Bot \u{e4}", "Bot a\u{1}", &long] {
        assert!(Token::discord(wrong).is_none(), "{wrong}");
    }
}

fn reply(status: u16, headers: &[(&'static str, &'static str)], body: &'static str) -> Reply {
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect();
    Reply { status: StatusCode::from_u16(status).unwrap(), headers, body: body.into() }
}

#[test]
fn every_kind_of_refusal_is_told_apart() {
    let ms = |ms| Some(Span::from_millis(ms));
    let scope = "x-ratelimit-scope";
    for (status, headers, body, expected) in [
        (429, &[(scope, "user"), ("retry-after", "1")][..], r#"{"retry_after":0.3}"#, Some((Scope::User, ms(300)))),
        (
            429,
            &[(scope, "shared"), ("retry-after", "1337")],
            r#"{"retry_after":1336.57}"#,
            Some((Scope::Shared, ms(1_336_570))),
        ),
        // Milliseconds, as in versions long gone: the header counts in seconds.
        (429, &[(scope, "user"), ("retry-after", "65")], r#"{"retry_after":64570}"#, Some((Scope::User, ms(65_000)))),
        (
            429,
            &[("x-ratelimit-global", "true")],
            r#"{"retry_after":2,"global":true}"#,
            Some((Scope::Global, ms(2_000))),
        ),
        (429, &[], r#"{"retry_after":2,"global":true}"#, Some((Scope::Global, ms(2_000)))),
        (429, &[], r#"{"retry_after":2}"#, Some((Scope::Unnamed, ms(2_000)))),
        (429, &[(scope, "user"), ("retry-after", "soon")], r#"{"retry_after":"x"}"#, Some((Scope::User, None))),
        (429, &[("retry-after", "77")], "<html>", Some((Scope::Ban, ms(77_000)))),
        (429, &[], r#"{"code":0,"message":"You are being blocked"}"#, Some((Scope::Ban, None))),
        (429, &[], "error code: 1015", Some((Scope::Ban, None))),
        (403, &[], "error code: 1015", Some((Scope::Ban, None))),
        (403, &[], r#"{"code":50001}"#, None),
        (200, &[], "error code: 1015", None),
        // The answer to a HEAD.
        (429, &[(scope, "user"), ("retry-after", "3")], "", Some((Scope::User, ms(3_000)))),
    ] {
        let found =
            response::refusal(&reply(status, headers, body)).map(|refusal| (refusal.scope, refusal.retry_after));
        assert_eq!(found, expected, "{status} {headers:?} {body}");
    }
}

#[test]
fn buckets_are_read_where_all_of_them_is_there() {
    let all = [
        ("x-ratelimit-bucket", "abc"),
        ("x-ratelimit-limit", "5"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset-after", "1.25"),
    ];
    let told = response::bucket(&reply(403, &all, "").headers).unwrap();
    assert_eq!((told.limit, told.remaining, told.reset_after), (5, 0, Span::from_millis(1250)));
    for missing in 0..4 {
        let mut some = all.to_vec();
        some.remove(missing);
        assert_eq!(response::bucket(&reply(200, &some, "").headers), None);
    }
    for wrong in ["-1", "NaN", "inf", "soon", "1e12"] {
        let some = [all[0], all[1], all[2], ("x-ratelimit-reset-after", wrong)];
        assert_eq!(response::bucket(&reply(200, &some, "").headers), None, "{wrong}");
    }
}

#[test]
fn only_one_code_says_that_a_webhook_is_gone() {
    assert!(response::is_dead_webhook(&reply(404, &[], r#"{"code":10015}"#)));
    for (status, body) in [(404, r#"{"code":10008}"#), (400, r#"{"code":10015}"#), (404, "10015"), (404, "")] {
        assert!(!response::is_dead_webhook(&reply(status, &[], body)), "{body}");
    }
}

#[test]
fn who_comes_back_early_waits_longer_each_time_up_to_five_seconds() {
    let repeats = Repeats::default();
    let until = Time::from_millis(60_000);
    let later: Vec<u64> = (0..25).map(|n| repeats.refused(1, Time::from_millis(n), until).as_micros() / 1000).collect();
    assert_eq!((&later[..4], later[20], later[24]), (&[0, 250, 500, 750][..], 5000, 5000));
    assert_eq!(repeats.refused(2, Time::from_millis(9), until), Span::ZERO, "another caller");
    assert_eq!(repeats.refused(1, until, until), Span::ZERO, "it came in time");
}
