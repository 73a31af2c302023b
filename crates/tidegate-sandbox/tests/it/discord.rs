use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_sandbox::discord::{Gateway, Handle, Options, Settings, serve};

use crate::client::{Reply, control, get, raw};

const TOKEN: &str = "MTIzNDU2.SeCrEt.SeCrEt";

async fn start(options: Options) -> Handle {
    serve("127.0.0.1:0".parse().unwrap(), options).await.unwrap()
}

async fn try_call(handle: &Handle, method: &str, path: &str, body: Value) -> Option<Reply> {
    let body = body.to_string();
    let request = format!(
        "{method} /api/v10{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    raw(handle, request.as_bytes()).await
}

async fn send(handle: &Handle, channel: u64, text: &str) -> Reply {
    let path = format!("/channels/{channel}/messages");
    try_call(handle, "POST", &path, json!({"content": text})).await.expect("an answer")
}

async fn script(handle: &Handle, answer: Value) {
    let reply = control(handle, "script", json!({"answer": answer})).await;
    assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})));
}

#[tokio::test]
async fn the_sixth_message_of_a_channel_is_refused_in_discords_shape() {
    let handle = start(Options::default()).await;
    for number in 1..=5 {
        let reply = send(&handle, 5, &format!("#{number}")).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
        assert_eq!((reply.header("via"), reply.header("x-ratelimit-limit")), (Some("1.1 google"), Some("5")));
        assert_eq!(reply.header("x-ratelimit-remaining"), Some((5 - number).to_string().as_str()));
        assert_eq!(reply.json()["channel_id"], "5");
    }
    let reply = send(&handle, 5, "#6").await;
    assert_eq!((reply.status, reply.header("content-type")), (429, Some("application/json")));
    assert_eq!((reply.header("retry-after"), reply.header("x-ratelimit-scope")), (Some("5"), Some("user")));
    assert_eq!(reply.header("x-ratelimit-bucket").map(str::len), Some(32));
    let reset_after: f64 = reply.header("x-ratelimit-reset-after").unwrap().parse().unwrap();
    let body = reply.json();
    assert_eq!((&body["global"], body["retry_after"].as_f64()), (&json!(false), Some(reset_after)));
    assert!((4.0..=5.0).contains(&reset_after), "{reset_after}");
    let reset: f64 = reply.header("x-ratelimit-reset").unwrap().parse().unwrap();
    let unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((reset - unix - reset_after).abs() < 1.0, "{reset} {unix}");
    assert_eq!(send(&handle, 6, "x").await.status, 200);
}

#[tokio::test]
async fn with_a_scale_the_wire_speaks_platform_time() {
    let handle = start(Options { scale: 0.02, ..Options::default() }).await;
    for _ in 0..5 {
        send(&handle, 5, "x").await;
    }
    let reply = send(&handle, 5, "x").await;
    let wait = reply.json()["retry_after"].as_f64().unwrap();
    assert!((2.0..=5.0).contains(&wait), "{wait}");
    tokio::time::sleep(Duration::from_secs_f64(wait * 0.02 + 0.002)).await;
    assert_eq!(send(&handle, 5, "x").await.status, 200);
}

#[tokio::test]
async fn figures_log_and_messages_are_read_over_http() {
    let handle = start(Options::default()).await;
    for text in ["#1", "#3", "#2"] {
        send(&handle, 5, text).await;
    }
    try_call(&handle, "POST", "/webhooks/9/SeCrEt", json!({"content": "hook"})).await.unwrap();
    let stats = get(&handle, "/__sandbox/stats?channel=5").await.json();
    assert_eq!((&stats["calls"], &stats["accepted"], &stats["inversions"]), (&json!(4), &json!(4), &json!(1)));
    assert_eq!((&stats["channels"][0]["calls"], &stats["needless_authorization"]), (&json!(3), &json!(1)));
    assert_eq!(stats["by_route"]["POST /channels/{id}/messages"]["calls"], 3);
    let messages = get(&handle, "/__sandbox/messages?channel=5").await.json();
    let last = &messages["messages"][2];
    assert_eq!((&last["text"], last["message_id"].is_string()), (&json!("#2"), true));
    let log = get(&handle, "/__sandbox/log?since=1&route=messages").await;
    let calls = log.json()["calls"].as_array().unwrap().clone();
    let markers: Vec<&Value> = calls.iter().map(|entry| &entry["marker"]).collect();
    assert_eq!(markers, [&json!(3), &json!(2)]);
    assert_eq!(
        (&calls[0]["bot"], &calls[0]["channel"], &calls[0]["remaining"]),
        (&json!(123456), &json!("5"), &json!(3))
    );
    assert!(!log.text().contains("SeCrEt") && !stats.to_string().contains("SeCrEt"));
    control(&handle, "reset", json!({})).await;
    assert_eq!(get(&handle, "/__sandbox/stats").await.json()["calls"], 0);
    assert_eq!(get(&handle, "/__sandbox/messages").await.status, 400);
    assert_eq!(control(&handle, "webhook", json!({"webhook": "9", "dead": true})).await.status, 200);
    let dead = try_call(&handle, "POST", "/webhooks/9/SeCrEt", json!({"content": "hook"})).await.unwrap();
    assert_eq!((dead.status, &dead.json()["code"]), (404, &json!(10015)));
}

#[tokio::test]
async fn files_are_counted_and_their_payload_is_read() {
    let handle = start(Options::default()).await;
    let body = "--XX\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"a.png\"\r\n\r\n12345\r\n\
        --XX\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n{\"content\":\"see #7\"}\r\n--XX--";
    let request = format!(
        "POST /api/channels/5/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {TOKEN}\r\n\
         Content-Type: multipart/form-data; boundary=XX\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let message = raw(&handle, request.as_bytes()).await.unwrap().json();
    assert_eq!((&message["content"], &message["attachments"][0]["size"]), (&json!("see #7"), &json!(5)));
    assert_eq!(message["attachments"][0]["id"], "1", "no library takes 0 for an id");
    let log = get(&handle, "/__sandbox/log").await.json();
    assert_eq!((&log["calls"][0]["files"], &log["calls"][0]["marker"]), (&json!(1), &json!(7)));
}

#[tokio::test]
async fn every_kind_of_429_is_forced() {
    let handle = start(Options::default()).await;
    script(&handle, json!({"kind": "shared", "retry_after": 1337})).await;
    let shared = send(&handle, 1, "x").await;
    assert_eq!((shared.header("x-ratelimit-scope"), shared.header("retry-after")), (Some("shared"), Some("1337")));
    assert_eq!(
        (shared.header("x-ratelimit-remaining"), shared.header("x-ratelimit-reset-after")),
        (Some("5"), Some("5.000"))
    );
    script(&handle, json!({"kind": "user", "retry_after": 2.25})).await;
    let user = send(&handle, 2, "x").await;
    assert_eq!((user.header("retry-after"), user.header("x-ratelimit-reset-after")), (Some("3"), Some("2.250")));
    assert_eq!(user.json()["retry_after"], 2.25);
    script(&handle, json!("headerless")).await;
    let bare = send(&handle, 3, "x").await;
    assert_eq!((bare.status, bare.header("retry-after"), bare.header("x-ratelimit-scope")), (429, None, None));
    for (kind, content, begin) in [("html", "text/html", "<!doctype"), ("text", "text/plain", "error code: 1015")] {
        script(&handle, json!(kind)).await;
        let page = send(&handle, 4, "x").await;
        assert_eq!((page.status, page.header("via"), page.header("x-ratelimit-bucket")), (429, None, None));
        assert!(page.header("content-type").unwrap().starts_with(content) && page.text().starts_with(begin));
    }
    script(&handle, json!({"kind": "global", "retry_after": 1})).await;
    let global = send(&handle, 5, "x").await;
    assert_eq!((global.header("x-ratelimit-global"), &global.json()["global"]), (Some("true"), &json!(true)));
    script(&handle, json!({"kind": "cloudflare", "retry_after": 3600})).await;
    tokio::time::sleep(Duration::from_millis(1001)).await;
    let ban = send(&handle, 5, "x").await;
    assert!(ban.json()["message"].as_str().unwrap().starts_with("You are being blocked"));
    assert!(send(&handle, 6, "x").await.text().contains("1015"));
    let stats = handle.stats();
    assert_eq!((stats.bans, stats.into_ban, stats.total.refused_429, stats.total.invalid), (1, 1, 8, 3));
}

#[tokio::test]
async fn answers_come_late_out_of_order_or_never() {
    let handle = start(Options::default()).await;
    script(&handle, json!("drop_before_answer")).await;
    assert!(try_call(&handle, "POST", "/channels/1/typing", json!({})).await.is_none());
    assert_eq!(control(&handle, "latency", json!({"out_of_order": true, "latency_ms": 30})).await.status, 200);
    let asked = Instant::now();
    let timed = async |channel| {
        let reply = send(&handle, channel, "x").await;
        assert_eq!(reply.status, 200);
        asked.elapsed()
    };
    let (one, other) = tokio::join!(timed(1), timed(2));
    let (first, second) = (one.min(other), one.max(other));
    assert!(first >= Duration::from_millis(30) && second >= Duration::from_millis(90), "{first:?} {second:?}");
    assert_eq!(control(&handle, "latency", json!({"latency": 5})).await.status, 400);
}

#[tokio::test]
async fn the_gateway_is_where_the_settings_say() {
    let gateway = Gateway { url: "ws://127.0.0.1:9".into(), shards: 4, ..Gateway::default() };
    let handle = start(Options { settings: Settings { gateway, ..Settings::default() }, ..Options::default() }).await;
    let told = try_call(&handle, "GET", "/gateway/bot", Value::Null).await;
    assert_eq!(told.unwrap().status, 400, "null is no JSON object");
    let request = format!("GET /api/v9/gateway/bot HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {TOKEN}\r\n\r\n");
    let told = raw(&handle, request.as_bytes()).await.unwrap();
    assert_eq!((told.header("x-ratelimit-limit"), &told.json()["url"]), (Some("2"), &json!("ws://127.0.0.1:9")));
    assert_eq!((&told.json()["shards"], get(&handle, "/api/v10/users/@me").await.status), (&json!(4), 401));
    assert_eq!((get(&handle, "/api/v10/gateway").await.status, get(&handle, "/elsewhere").await.status), (200, 404));
}
