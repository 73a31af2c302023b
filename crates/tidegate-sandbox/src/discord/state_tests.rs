use serde_json::json;

use super::super::limits::Bounds;
use super::*;

const TOKEN: &str = "MTIzNDU2.x.y";
const SECRET: &str = "SeCrEt-SeCrEt";

fn send(model: &mut Model, at_ms: u64, method: &str, path: &str, body: Value) -> Answer {
    model.call(Duration::from_millis(at_ms), &Call::new(method, path).bot(TOKEN).body(body)).answer
}

#[test]
fn messages_are_written_edited_read_and_deleted() {
    let mut model = Model::new(Settings::default());
    let body = json!({"content": "#1", "nonce": "n", "embeds": [{"title": "t"}]});
    let message = send(&mut model, 0, "POST", "/channels/1/messages", body).json();
    let path = format!("/channels/1/messages/{}", message["id"].as_str().unwrap());
    assert_eq!(
        (&message["nonce"], &message["embeds"], &message["author"]["id"]),
        (&json!("n"), &json!([{"title": "t"}]), &json!("123456"))
    );
    let edited = send(&mut model, 1000, "PATCH", &path, json!({"content": "#9"})).json();
    assert_eq!((&edited["content"], &edited["embeds"][0]["title"]), (&json!("#9"), &json!("t")));
    assert_eq!(edited["edited_timestamp"], "2023-11-14T22:13:21.000000+00:00");
    send(&mut model, 1000, "PATCH", &path, json!({"content": "#3"}));
    assert_eq!(send(&mut model, 2000, "GET", &path, Value::Null).json()["content"], "#3");
    assert_eq!(send(&mut model, 2000, "GET", "/channels/1/messages?limit=5", Value::Null).json()[0]["content"], "#3");
    assert_eq!(send(&mut model, 3000, "DELETE", &path, Value::Null).status, 204);
    let gone = send(&mut model, 3000, "PATCH", &path, json!({"content": "x"}));
    assert_eq!((gone.status, gone.json()["code"].as_u64()), (404, Some(10008)));
    let stats = model.stats();
    assert_eq!((stats.edit_inversions, stats.channels[0].flow.units), (1, 3));
    assert!(model.messages(1)[0].deleted);
}

#[test]
fn order_and_duplicates_are_told_by_the_markers_that_came_through() {
    let mut model = Model::new(Settings::default());
    for (at_ms, number) in [(0, 1), (0, 3), (0, 2), (0, 2), (0, 5), (0, 4), (5000, 6)] {
        send(&mut model, at_ms, "POST", "/channels/1/messages", json!({"content": format!("#{number}")}));
    }
    let stats = model.stats();
    // The 4 was refused.
    assert_eq!((stats.inversions, stats.duplicates, stats.total.refused_429), (1, 1, 1));
}

#[test]
fn an_interaction_is_answered_once_and_followed_up() {
    let mut model = Model::new(Settings::default());
    let mut call =
        |method: &str, path: &str, body: Value| model.call(Duration::ZERO, &Call::new(method, path).body(body)).answer;
    let path = format!("/interactions/11/{SECRET}/callback");
    assert_eq!(call("POST", &path, json!({"type": 5})).status, 204);
    assert_eq!(call("POST", &path, json!({"type": 5})).json()["code"], 40060);
    let hook = format!("/webhooks/123456/{SECRET}");
    assert_eq!(call("GET", &format!("{hook}/messages/@original"), Value::Null).status, 404);
    for text in ["#1", "final #2"] {
        let answer = call("PATCH", &format!("{hook}/messages/@original"), json!({"content": text}));
        assert_eq!((answer.status, answer.json()["content"].as_str()), (200, Some(text)));
    }
    assert_eq!(call("POST", &hook, json!({"content": "followup"})).status, 200);
    let with = "/interactions/12/other/callback?with_response=true";
    let answer = call("POST", with, json!({"type": 4, "data": {"content": "at once"}})).json();
    assert_eq!(answer["resource"]["message"]["content"], "at once");
    let late = snowflake_now();
    let call = Call::new("POST", &format!("/interactions/{late}/third/callback")).body(json!({"type": 5}));
    assert_eq!(model.call(Duration::from_millis(3001), &call).answer.json()["code"], 10062);
    let texts: Vec<String> = model.messages(11).into_iter().map(|view| view.text).collect();
    assert_eq!(texts, ["final #2", "followup"]);
}

fn snowflake_now() -> u64 {
    super::super::snowflake::at(EPOCH_UNIX_MS, 1)
}

#[test]
fn objects_and_faults_are_discords() {
    let mut model = Model::new(Settings::default());
    let mut get = |path: &str| send(&mut model, 0, "GET", path, Value::Null).json();
    assert_eq!(get("/users/@me")["id"], "123456");
    assert_eq!(get("/applications/@me")["bot"]["bot"], true);
    assert_eq!(get("/gateway/bot")["session_start_limit"]["max_concurrency"], 1);
    assert_eq!(get("/guilds/1/members/77")["user"]["id"], "77");
    assert_eq!(get("/some/new/route"), json!({}));
    let mut code = |path: &str, body: Value| send(&mut model, 0, "POST", path, body).json()["code"].clone();
    assert_eq!(code("/channels/1/messages", json!({})), 50006);
    assert_eq!(code("/channels/1/messages", json!({"content": "x".repeat(2001)})), 50035);
    assert_eq!(code("/channels/1/messages/bulk-delete", json!({"messages": ["1"]})), 50016);
    assert_eq!(code("/channels/1/messages/bulk-delete", json!({"messages": ["1", "2"]})), 50034);
    let hook = send(&mut model, 0, "POST", "/channels/1/webhooks", json!({"name": "w"})).json();
    let path = format!("/webhooks/{}/{}?wait=true", hook["id"].as_str().unwrap(), hook["token"].as_str().unwrap());
    let said = model.call(Duration::ZERO, &Call::new("POST", &path).body(json!({"content": "x", "username": "u"})));
    let said = said.answer.json();
    assert_eq!(
        (&said["channel_id"], &said["webhook_id"], &said["author"]["username"]),
        (&json!("1"), &hook["id"], &json!("u"))
    );
}

#[test]
fn what_is_forced_happens_and_holds() {
    let mut model = Model::new(Settings::default());
    let mut force = |at_ms: u64, answer: Value| {
        let script = Script::from_json(&json!({"answer": answer})).unwrap();
        assert!(model.script(script));
        let call = Call::new("POST", "/webhooks/5/t").body(json!({"content": "x"}));
        let call = Call { authorization: None, ..call };
        let verdict = model.call(Duration::from_millis(at_ms), &call);
        (verdict.answer.status, verdict.cut, verdict.delay.as_millis(), verdict.answer.header("via").is_some())
    };
    assert_eq!(force(0, json!({"hang_ms": 70})), (204, false, 70, true));
    assert!(force(1, json!("drop_before_answer")).1);
    assert!(force(2, json!("lose_answer")).1);
    assert_eq!(force(3, json!("502")), (502, false, 0, false));
    assert_eq!(force(3, json!("500")), (500, false, 0, true));
    assert_eq!(force(3, json!("401")), (401, false, 0, true));
    assert_eq!(force(3, json!("headerless")), (429, false, 0, true));
    assert_eq!(force(3, json!("html")), (429, false, 0, false));
    assert_eq!(force(4, json!({"kind": "user", "retry_after": 1})), (429, false, 0, true));
    // The bucket cools; the call that comes back early uses no script up.
    let again = Call::new("POST", "/webhooks/5/t").body(json!({"content": "x"}));
    assert_eq!(model.call(Duration::from_millis(1003), &again).answer.status, 429);
    assert_eq!(model.call(Duration::from_millis(1004), &again).answer.status, 204);
    model.script(Script::from_json(&json!({"answer": "unknown_webhook"})).unwrap());
    for at_ms in [1005, 1006] {
        let answer = model.call(Duration::from_millis(at_ms), &again).answer;
        assert_eq!((answer.status, answer.json()["code"].as_u64()), (404, Some(10015)));
    }
    let total = model.stats().total;
    assert_eq!((total.foreseeable_429, total.hidden_429, total.bare_429, total.ban_429), (1, 3, 1, 1));
    assert_eq!(model.messages(5).len(), 3);
}

#[test]
fn a_forced_global_one_holds_for_the_bot_and_a_forced_ban_for_the_address() {
    let mut model = Model::new(Settings::default());
    model.script(Script::from_json(&json!({"answer": {"kind": "global", "retry_after": 10}})).unwrap());
    for at_ms in [0, 5000, 9999] {
        assert_eq!(
            send(&mut model, at_ms, "GET", "/users/@me", Value::Null).header("x-ratelimit-global"),
            Some("true")
        );
    }
    assert_eq!(send(&mut model, 10_000, "GET", "/users/@me", Value::Null).status, 200);
    assert_eq!((model.stats().misuse.into_global, model.stats().total.hidden_429), (2, 1));
    model.script(Script::from_json(&json!({"answer": {"kind": "cloudflare", "retry_after": 60}})).unwrap());
    assert_eq!(send(&mut model, 20_000, "GET", "/users/@me", Value::Null).header("retry-after"), Some("60"));
    assert_eq!(send(&mut model, 79_999, "GET", "/users/@me", Value::Null).status, 429);
    assert_eq!(
        send(&mut model, 139_998, "GET", "/users/@me", Value::Null).status,
        429,
        "calling into it began it anew"
    );
    let call = Call::new("GET", "/gateway").from("10.0.0.9".parse().unwrap());
    assert_eq!(model.call(Duration::from_secs(140), &call).answer.status, 200);
    assert_eq!((model.stats().bans, model.stats().into_ban), (1, 2));
}

#[test]
fn everything_remembered_is_bounded() {
    let bounds = Bounds {
        callers: 10,
        addresses: 10,
        buckets: 10,
        hidden: 10,
        channels: 10,
        webhooks: 10,
        interactions: 10,
        messages: 10,
        text_bytes: 1000,
        edits: 3,
        log: 10,
        scripts: 10,
    };
    let mut model = Model::new(Settings { bounds, ..Settings::default() });
    for number in 0..300_u64 {
        let from = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap()).into();
        for (method, path) in [
            ("POST", format!("/channels/{number}/messages")),
            ("PATCH", format!("/channels/{number}")),
            ("POST", format!("/channels/{number}/webhooks")),
            ("POST", format!("/webhooks/{number}/t{number}?wait=1")),
            ("DELETE", format!("/webhooks/{number}")),
            ("POST", format!("/interactions/{number}/t{number}/callback")),
            ("GET", format!("/a{number}/b{number}")),
            ("GET", "/gateway".to_owned()),
        ] {
            let call =
                Call::new(method, &path).from(from).body(json!({"content": "x".repeat(300), "name": "n", "type": 4}));
            model.call(Duration::from_secs(number), &call);
            model.call(Duration::from_secs(number), &call.bot(TOKEN));
        }
        model.script(Script { major: Some(1 << 40), ..Script::next(Forced::LoseAnswer) });
    }
    let sizes = model.sizes();
    for size in [
        sizes.callers,
        sizes.addresses,
        sizes.buckets,
        sizes.hidden,
        sizes.channels,
        sizes.webhooks,
        sizes.interactions,
        sizes.messages,
        sizes.log,
        sizes.scripts,
    ] {
        assert!((1..=10).contains(&size), "{sizes:?}");
    }
    assert!(sizes.text_bytes <= 1000, "{sizes:?}");
    assert!(model.stats().by_route.len() <= 512);
}

#[test]
fn no_token_shows_anywhere() {
    let mut model = Model::new(Settings::default());
    let paths = [
        format!("/webhooks/5/{SECRET}"),
        format!("/webhooks/5/{SECRET}/messages/9"),
        format!("/webhooks/5/{SECRET}/unknown/{SECRET}"),
        format!("/interactions/6/{SECRET}/callback"),
        format!("/unknown/{SECRET}"),
        format!("/{SECRET}"),
    ];
    for path in paths {
        let call = Call::new("POST", &path).bot("MTIzNDU2.SeCrEt.SeCrEt").body(json!({"content": "x"}));
        assert!(!format!("{call:?}").contains("SeCrEt"), "{call:?}");
        model.call(Duration::ZERO, &call);
    }
    let mut seen = serde_json::to_string(&model.stats()).unwrap();
    for entry in model.log() {
        seen.push_str(&serde_json::to_string(entry).unwrap());
    }
    assert!(!seen.contains("SeCrEt"), "{seen}");
}

#[test]
fn a_reset_forgets_all_but_the_clock_and_the_numbers() {
    let mut model = Model::new(Settings::default());
    for _ in 0..6 {
        send(&mut model, 1000, "POST", "/channels/1/messages", json!({"content": "x"}));
    }
    model.kill_webhook(5);
    model.reset();
    assert_eq!(send(&mut model, 1000, "POST", "/channels/1/messages", json!({"content": "x"})).status, 200);
    let entry = model.log().next().unwrap();
    assert_eq!((entry.seq, entry.at_ms, model.stats().total.calls, model.sizes().webhooks), (7, 0, 1, 0));
}
