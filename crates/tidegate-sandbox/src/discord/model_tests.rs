use std::fmt::Write as _;

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

/// Bots 123456 and 777.
const TOKEN: &str = "MTIzNDU2.x.y";

fn model() -> Model {
    Model::new(Settings::default())
}

/// Runs lines of `AT_MS [N×]METHOD PATH [JSON]`; `-` before the method leaves `Authorization` out.
fn run(model: &mut Model, timeline: &str) -> String {
    let mut seen = String::new();
    for line in timeline.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(4, ' ');
        let at_ms: u64 = words.next().unwrap().parse().unwrap();
        let method = words.next().unwrap();
        let (times, method) = method.split_once('×').map_or((1, method), |(n, it)| (n.parse().unwrap(), it));
        let mut call = Call::new(method.trim_start_matches('-'), words.next().unwrap());
        if !method.starts_with('-') {
            call = call.bot(TOKEN);
        }
        if let Some(body) = words.next() {
            call = call.body(serde_json::from_str(body).unwrap());
        }
        let told: Vec<String> =
            (0..times).map(|_| short(&model.call(Duration::from_millis(at_ms), &call).answer)).collect();
        let same = told.chunk_by(|a, b| a == b).map(|run| match run.len() {
            1 => run[0].clone(),
            n => format!("{n}× {}", run[0]),
        });
        writeln!(seen, "{at_ms} {}", same.collect::<Vec<_>>().join(", ")).unwrap();
    }
    seen
}

/// Status, what is left of the bucket, and of a 429 scope and waits.
fn short(answer: &Answer) -> String {
    let header = |name: &str| answer.header(name).unwrap_or("-");
    let bucket = format!(
        "{}/{} {}",
        header("x-ratelimit-remaining"),
        header("x-ratelimit-limit"),
        header("x-ratelimit-reset-after")
    );
    if answer.status != 429 {
        return format!("{} {bucket}", answer.status);
    }
    let body = &answer.json()["retry_after"];
    format!("429 {} {bucket} wait {} {body}", header("x-ratelimit-scope"), header("retry-after"))
}

fn check(timeline: &str, expected: &Expect) {
    expected.assert_eq(&run(&mut model(), timeline));
}

const X: &str = r#"{"content":"x"}"#;

#[test]
fn a_channel_takes_five_messages_in_five_seconds_from_the_first() {
    check(
        &format!(
            "1000 2×POST /channels/1/messages {X}
             3000 4×POST /channels/1/messages {X}
             3000 POST /channels/2/messages {X}
             5999 POST /channels/1/messages {X}
             6000 POST /channels/1/messages {X}"
        ),
        &expect![[r#"
            1000 200 4/5 5.000, 200 3/5 5.000
            3000 200 2/5 3.000, 200 1/5 3.000, 200 0/5 3.000, 429 user 0/5 3.000 wait 3 3.0
            3000 200 4/5 5.000
            5999 429 user 0/5 0.001 wait 1 0.001
            6000 200 4/5 5.000
        "#]],
    );
}

#[test]
fn a_delete_is_counted_by_the_age_of_its_message() {
    // Ids of messages made one day, and a year, before the model's zero.
    let (day, year) = (snowflake_before(86_400_000), snowflake_before(31_536_000_000));
    check(
        &format!(
            "0 DELETE /channels/1/messages/{day}
             0 DELETE /channels/1/messages/{year}
             0 4×DELETE /channels/1/messages/{day}
             333 DELETE /channels/1/messages/{day}
             333 DELETE /channels/1/messages/9223372036854775807"
        ),
        &expect![[r#"
            0 204 2/3 0.333
            0 204 29/30 4.000
            0 204 1/3 0.333, 204 0/3 0.333, 2× 429 user 0/3 0.333 wait 1 0.333
            333 204 2/3 0.333
            333 404 4/5 1.000
        "#]],
    );
}

fn snowflake_before(ms: u64) -> u64 {
    super::super::snowflake::at(1_700_000_000_000 - ms, 1)
}

#[test]
fn send_and_delete_tell_one_hash_and_are_counted_apart() {
    let mut model = model();
    let day = snowflake_before(86_400_000);
    let mut hash = |method: &str, path: &str| {
        let call = Call::new(method, path).bot(TOKEN).body(json!({"content": "x"}));
        let answer = model.call(Duration::ZERO, &call).answer;
        let header = |name: &str| answer.header(name).unwrap().to_owned();
        (header("X-RateLimit-Bucket"), header("X-RateLimit-Remaining"))
    };
    let sent = hash("POST", "/channels/1/messages");
    let deleted = hash("DELETE", &format!("/channels/1/messages/{day}"));
    let old = hash("DELETE", &format!("/channels/1/messages/{}", snowflake_before(31_536_000_000)));
    assert_eq!((sent.0.len(), &sent.0, sent.1.as_str(), deleted.1.as_str()), (32, &deleted.0, "4", "2"));
    assert_ne!(sent.0, old.0);
}

#[test]
fn reactions_of_a_channel_share_one_in_a_quarter_of_a_second() {
    check(
        "0 PUT /channels/1/messages/5/reactions/%F0%9F%91%8D/@me
         100 DELETE /channels/1/messages/6/reactions/x:7/@me
         250 DELETE /channels/1/messages/6/reactions
         300 PUT /channels/2/messages/5/reactions/a/%40me",
        &expect![[r#"
            0 204 0/1 0.250
            100 429 user 0/1 0.150 wait 1 0.15
            250 204 0/1 0.250
            300 204 0/1 0.250
        "#]],
    );
}

#[test]
fn a_third_rename_is_refused_while_the_bucket_shows_room() {
    check(
        r#"0 2×PATCH /channels/1 {"name":"a"}
           18000 PATCH /channels/1 {"topic":"b"}
           18000 PATCH /channels/1 {"position":1}
           600000 PATCH /channels/1 {"name":"c"}"#,
        &expect![[r#"
            0 200 4/5 15.000, 200 3/5 15.000
            18000 429 user 4/5 15.000 wait 582 582.0
            18000 200 3/5 15.000
            600000 200 4/5 15.000
        "#]],
    );
}

#[test]
fn fifty_a_second_over_all_routes() {
    let mut model = model();
    let mut at = |ms: u64, channel: u64, token: Option<&str>| {
        let call = Call::new("POST", &format!("/channels/{channel}/typing"));
        let call = token.map_or(call.clone(), |token| call.bot(token));
        short(&model.call(Duration::from_millis(ms), &call).answer)
    };
    for channel in 0..50 {
        assert_eq!(at(100, channel, Some(TOKEN)), "204 4/5 5.000");
    }
    assert_eq!(at(1099, 60, Some(TOKEN)), "429 global -/- - wait 1 0.001");
    assert_eq!(at(1099, 60, Some("Nzc3.x.y")), "204 4/5 5.000");
    assert_eq!(at(1100, 60, Some(TOKEN)), "204 4/5 5.000");
}

#[test]
fn callbacks_and_token_webhooks_are_exempt_unless_they_are_authorized() {
    let mut model = model();
    let busy = |model: &mut Model, from: u64| {
        for channel in from..from + 50 {
            model.call(Duration::ZERO, &Call::new("POST", &format!("/channels/{channel}/typing")).bot(TOKEN));
        }
    };
    busy(&mut model, 0);
    let seen = run(
        &mut model,
        r#"0 -POST /interactions/11/tok/callback {"type":5}
           0 POST /interactions/12/tok2/callback {"type":5}
           0 -POST /webhooks/5/tok {"content":"x"}
           0 POST /webhooks/5/tok {"content":"x"}"#,
    );
    expect![[r#"
        0 204 4/5 5.000
        0 429 global -/- - wait 1 1.0
        0 200 4/5 2.000
        0 429 global -/- - wait 1 1.0
    "#]]
    .assert_eq(&seen);
    assert_eq!(model.stats().misuse.needless_authorization, 2);
}

#[test]
fn webhooks_of_a_channel_share_thirty_a_minute_that_no_header_shows() {
    let mut model = model();
    model.link_webhook(5, 1);
    model.link_webhook(6, 1);
    let seen = run(
        &mut model,
        r#"0 5×-POST /webhooks/5/tok {"content":"x"}
           0 -POST /webhooks/5/tok {"content":"x"}
           0 5×-POST /webhooks/6/tok {"content":"x"}
           2000 5×-POST /webhooks/5/tok {"content":"x"}
           2000 5×-POST /webhooks/6/tok {"content":"x"}
           4000 5×-POST /webhooks/5/tok {"content":"x"}
           4000 5×-POST /webhooks/6/tok {"content":"x"}
           6000 -POST /webhooks/5/tok?wait=true {"content":"x"}
           6000 -POST /webhooks/6/tok {"content":"x"}
           6000 -POST /webhooks/7/tok {"content":"x"}
           60000 -POST /webhooks/6/tok?wait=true {"content":"x"}"#,
    );
    expect![[r#"
        0 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        0 429 user 0/5 2.000 wait 2 2.0
        0 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        2000 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        2000 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        4000 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        4000 204 4/5 2.000, 204 3/5 2.000, 204 2/5 2.000, 204 1/5 2.000, 204 0/5 2.000
        6000 429 shared 4/5 2.000 wait 54 54.0
        6000 429 shared 4/5 2.000 wait 54 54.0
        6000 204 4/5 2.000
        60000 200 4/5 2.000
    "#]]
    .assert_eq(&seen);
    let total = model.stats().total;
    assert_eq!((total.shared_429, total.foreseeable_429, total.hidden_429, total.invalid), (2, 2, 1, 1));
}

#[test]
fn the_gateways_address_is_told_twice_in_five_seconds() {
    check(
        "0 3×GET /gateway/bot
         0 -GET /gateway
         5000 GET /gateway/bot",
        &expect![[r#"
            0 200 1/2 5.000, 200 0/2 5.000, 429 user 0/2 5.000 wait 5 5.0
            0 200 4/5 5.000
            5000 200 1/2 5.000
        "#]],
    );
}

#[test]
fn a_dead_webhook_stays_dead_and_an_unknown_message_does_not_kill_it() {
    let mut model = model();
    let seen = run(
        &mut model,
        r#"0 -PATCH /webhooks/5/tok/messages/9223372036854775807 {"content":"x"}
           0 -POST /webhooks/5/tok {"content":"x"}
           0 DELETE /webhooks/5
           1 -POST /webhooks/5/tok {"content":"x"}
           2 -POST /webhooks/5/other {"content":"x"}"#,
    );
    expect![[r#"
        0 404 4/5 2.000
        0 204 4/5 2.000
        0 204 4/5 5.000
        1 404 3/5 1.999
        2 404 4/5 2.000
    "#]]
    .assert_eq(&seen);
    assert_eq!(model.stats().misuse.into_dead_webhook, 2);
}

#[test]
fn a_guild_takes_fifty_emojis_then_nothing_for_an_hour() {
    let mut model = model();
    let mut last = String::new();
    for turn in 0..51_u64 {
        let call = Call::new("POST", "/guilds/1/emojis").bot(TOKEN).body(json!({"name": "e"}));
        last = short(&model.call(Duration::from_secs(turn), &call).answer);
    }
    assert_eq!(last, "429 shared 4/5 5.000 wait 3550 3550.0");
}

#[test]
fn ten_thousand_invalid_requests_ban_the_address_for_all() {
    let mut model = model();
    for turn in 0..9_999 {
        let answer = model.call(Duration::from_millis(turn), &Call::new("GET", "/users/@me")).answer;
        assert_eq!(answer.status, 401);
    }
    let seen = run(
        &mut model,
        "10000 GET /users/@me
         10000 -GET /users/@me
         10001 GET /users/@me
         3000000 GET /users/@me
         6599999 GET /gateway
         10199999 GET /users/@me",
    );
    expect![[r#"
        10000 200 4/5 5.000
        10000 401 -/- -
        10001 429 - -/- - wait - null
        3000000 429 - -/- - wait - null
        6599999 429 - -/- - wait - null
        10199999 200 4/5 5.000
    "#]]
    .assert_eq(&seen);
    let stats = model.stats();
    assert_eq!((stats.bans, stats.into_ban, stats.total.invalid), (1, 3, 10_000));
    assert_eq!((stats.total.ban_429, stats.total.foreseeable_429), (3, 3));
}

#[test]
fn scope_shared_does_not_count_as_invalid_and_a_403_does() {
    let mut model = model();
    model.script(Script::from_json(&json!({"answer": {"kind": "shared", "retry_after": 1337}})).unwrap());
    model.script(Script::from_json(&json!({"answer": 403, "major": 2})).unwrap());
    let seen = run(
        &mut model,
        &format!(
            "0 POST /channels/1/messages {X}
             0 POST /channels/2/messages {X}
             1000 POST /channels/1/messages {X}"
        ),
    );
    assert_eq!((model.stats().total.invalid, model.stats().addresses[0].invalid_10_min), (1, 1));
    expect![[r#"
        0 429 shared 5/5 5.000 wait 1337 1337.0
        0 403 4/5 5.000
        1000 429 shared 5/5 5.000 wait 1336 1336.0
    "#]]
    .assert_eq(&seen);
}

#[test]
fn a_refusal_is_foreseeable_only_once_its_headers_have_arrived() {
    let mut model = model();
    let late =
        |ms| Call { answer_after: Duration::from_millis(ms), ..Call::new("POST", "/channels/1/typing").bot(TOKEN) };
    for _ in 0..6 {
        model.call(Duration::ZERO, &late(100));
    }
    let counts = |model: &Model| (model.stats().total.hidden_429, model.stats().total.foreseeable_429);
    assert_eq!(counts(&model), (1, 0));
    model.call(Duration::from_millis(100), &late(100));
    assert_eq!(counts(&model), (1, 1));
    // What was learned holds in the next window, too.
    for _ in 0..6 {
        model.call(Duration::from_secs(5), &late(100));
    }
    assert_eq!(counts(&model), (1, 2));
}
