use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tidegate_sandbox::discord::{Handle, Options, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, WebSocketStream};

use crate::client::{control, get, post};

const TOKEN: &str = "MTIzNDU2.x.y";

pub(crate) struct Bot {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

pub(crate) async fn start(scale: f64) -> Handle {
    serve("127.0.0.1:0".parse().unwrap(), Options { scale, ..Options::default() }).await.unwrap()
}

impl Bot {
    async fn connect(url: &str) -> Self {
        let (socket, _) = ClientBuilder::new().uri(url).unwrap().connect().await.unwrap();
        Self { socket }
    }

    async fn send(&mut self, frame: Value) {
        self.socket.send(Message::text(frame.to_string())).await.unwrap();
    }

    /// The payloads of so many messages, as they came.
    async fn payloads(&mut self, count: usize) -> Vec<Vec<u8>> {
        let mut payloads = Vec::new();
        while payloads.len() < count {
            payloads.push(self.socket.next().await.unwrap().unwrap().into_payload().to_vec());
        }
        payloads
    }

    /// The next message; a close is its code.
    async fn next(&mut self) -> Result<Value, Option<u16>> {
        let next = tokio::time::timeout(Duration::from_secs(20), self.socket.next()).await.expect("something in time");
        match next {
            Some(Ok(message)) if message.is_close() => Err(message.as_close().map(|(code, _)| code.into())),
            Some(Ok(message)) => Ok(serde_json::from_slice(message.as_payload()).unwrap()),
            _ => Err(None),
        }
    }

    async fn identify(&mut self) -> Value {
        let d = json!({"token": TOKEN, "intents": 513, "shard": [0, 1]});
        self.send(json!({"op": 2, "d": d})).await;
        let ready = self.next().await.unwrap();
        assert_eq!((&ready["t"], &ready["s"]), (&json!("READY"), &json!(1)));
        assert_eq!(self.next().await.unwrap()["t"], "GUILD_CREATE");
        ready["d"].clone()
    }
}

#[tokio::test]
async fn a_bot_lives_on_the_port_of_the_rest_half() {
    let handle = start(0.1).await;
    let told = get(&handle, "/api/v10/gateway").await.json();
    assert_eq!(told["url"], format!("ws://{}", handle.addr));
    let mut bot = Bot::connect(&format!("ws://{}//?v=10&encoding=json", handle.addr)).await;
    // Real time: libraries beat by their own clock.
    assert_eq!(bot.next().await.unwrap()["d"]["heartbeat_interval"], 4125);
    let ready = bot.identify().await;
    bot.send(json!({"op": 1, "d": 1})).await;
    assert_eq!(bot.next().await.unwrap()["op"], 11);

    let sent = format!(
        "POST /api/v10/channels/5/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 15\r\n\r\n{{\"content\":\"x\"}}"
    );
    assert_eq!(crate::client::raw(&handle, sent.as_bytes()).await.unwrap().status, 200);
    let message = bot.next().await.unwrap();
    assert_eq!((&message["t"], &message["d"]["channel_id"]), (&json!("MESSAGE_CREATE"), &json!("5")));

    drop(bot);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let told = control(&handle, "gateway/dispatch", json!({"bot": "123456", "t": "TYPING_START", "d": {"a": 1}})).await;
    assert_eq!(told.json(), json!({"ok": true, "sessions": 1}));
    let url = ready["resume_gateway_url"].as_str().unwrap();
    let mut bot = Bot::connect(&format!("{url}/?v=10&encoding=json")).await;
    bot.next().await.unwrap();
    bot.send(json!({"op": 6, "d": {"token": TOKEN, "session_id": ready["session_id"], "seq": 3}})).await;
    assert_eq!(bot.next().await.unwrap(), json!({"t": "TYPING_START", "s": 4, "op": 0, "d": {"a": 1}}));
    assert_eq!(bot.next().await.unwrap()["t"], "RESUMED");

    let stats = get(&handle, "/__sandbox/gateway/stats").await;
    let figures = stats.json();
    assert_eq!((&figures["identifies"], &figures["resumed"], &figures["closes"]), (&json!(1), &json!(1), &json!({})));
    let log = get(&handle, "/__sandbox/gateway/log").await.text();
    assert!(!stats.text().contains(&TOKEN[4..]) && !log.contains(&TOKEN[4..]) && log.contains("resumed"), "{log}");
}

#[tokio::test]
async fn a_handshake_that_is_none_is_refused() {
    let handle = start(1.0).await;
    let ask = async |more: &str| {
        let request = format!("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n{more}Content-Length: 0\r\n\r\n");
        crate::client::raw(&handle, request.as_bytes()).await.unwrap().status
    };
    assert_eq!(ask("").await, 400);
    let key = "Connection: upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    assert_eq!(ask(&format!("{key}Sec-WebSocket-Version: 12\r\n")).await, 426);
    assert_eq!(post(&handle, "/__sandbox/gateway/nothing", "", b"{}").await.unwrap().status, 404);
}

#[tokio::test]
async fn messages_are_one_compressed_stream_of_a_connection() {
    let handle = start(1.0).await;
    let told = control(&handle, "gateway/bot", json!({"bot": "123456", "max_concurrency": 2})).await;
    assert_eq!(told.json()["gateway_bot"]["session_start_limit"]["max_concurrency"], 2);
    for (shard, compress) in ["zlib-stream", "zstd-stream"].into_iter().enumerate() {
        let mut bot = Bot::connect(&format!("ws://{}/?v=10&encoding=json&compress={compress}", handle.addr)).await;
        let d = json!({"token": TOKEN, "intents": 513, "shard": [shard, 2], "compress": true});
        bot.send(json!({"op": 2, "d": d})).await;
        let load = json!({"shard": shard, "per_second": 2000, "for_ms": 100, "bytes_min": 300, "bytes_max": 600});
        // Streams go to the sessions that are there.
        let mut payloads = bot.payloads(3).await;
        assert_eq!(control(&handle, "gateway/load", load).await.json(), json!({"ok": true}));
        payloads.extend(bot.payloads(200).await);
        let texts = if shard == 0 { inflate(&payloads) } else { unpack(&payloads) };
        let frames: Vec<Value> = texts.iter().map(|text| serde_json::from_slice(text).unwrap()).collect();
        let seqs: Vec<u64> = frames.iter().filter_map(|frame| frame["s"].as_u64()).collect();
        assert_eq!(seqs, (1..=202).collect::<Vec<u64>>());
        assert!(payloads.concat().len() < texts.concat().len() * 3 / 4, "{compress}");
    }
}

/// Each message ends where a sync flush does, and can be read by itself.
fn inflate(payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut context = flate2::Decompress::new(true);
    let mut texts = Vec::new();
    for payload in payloads {
        assert!(payload.ends_with(&[0, 0, 0xff, 0xff]));
        let mut text = Vec::with_capacity(1 << 16);
        context.decompress_vec(payload, &mut text, flate2::FlushDecompress::Sync).unwrap();
        texts.push(text);
    }
    texts
}

/// Each message can be read by itself, and none ends the frame.
fn unpack(payloads: &[Vec<u8>]) -> Vec<Vec<u8>> {
    use zstd::stream::raw::{Decoder, InBuffer, Operation as _, OutBuffer};
    let mut context = Decoder::new().unwrap();
    let mut texts = Vec::new();
    for payload in payloads {
        let (mut input, mut text) = (InBuffer::around(payload), vec![0; 1 << 16]);
        let mut output = OutBuffer::around(&mut text);
        while input.pos < payload.len() {
            assert_ne!(context.run(&mut input, &mut output).unwrap(), 0, "the frame ended");
        }
        context.flush(&mut output).unwrap();
        let length = output.pos();
        text.truncate(length);
        texts.push(text);
    }
    texts
}

async fn weather(handle: &Handle, rule: Value) {
    assert_eq!(control(handle, "gateway/weather", rule).await.json(), json!({"ok": true}));
}

#[tokio::test]
async fn a_handshake_is_refused_with_a_status() {
    let handle = start(1.0).await;
    weather(&handle, json!({"on": "connect", "do": {"refuse": 429, "body": "slow down"}})).await;
    let key = "Connection: upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
    let deflate = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    let request = format!("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n{key}{deflate}\r\n");
    let refused = crate::client::raw(&handle, request.as_bytes()).await.unwrap();
    assert_eq!((refused.status, refused.text().as_str()), (429, "slow down"));
    let dead = request.replace("GET / ", "GET /dead/?v=10 ");
    assert_eq!(crate::client::raw(&handle, dead.as_bytes()).await.unwrap().status, 503);
    let mut stream = TcpStream::connect(handle.addr).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        stream.read_buf(&mut head).await.unwrap();
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101") && head.contains("s3pplmbitxaq9kygzzhzrbk+xoo="), "{head}");
    assert!(!head.contains("extensions"), "permessage-deflate is declined: {head}");
}

#[tokio::test]
async fn connections_end_in_every_way() {
    let handle = start(0.1).await;
    control(&handle, "gateway/settings", json!({"identify_spacing_ms": 0})).await;
    let url = format!("ws://{}/?v=10&encoding=json", handle.addr);
    let live = async |act: Value| {
        let mut bot = Bot::connect(&url).await;
        bot.next().await.unwrap();
        bot.identify().await;
        let told = control(&handle, "gateway/now", json!({"bot": "123456", "do": act})).await.json();
        assert_eq!(told, json!({"ok": true, "connections": 1}));
        loop {
            if let Err(code) = bot.next().await {
                return code;
            }
        }
    };
    assert_eq!(live(json!({"close": 4009, "twice": true})).await, Some(4009));
    assert_eq!(live(json!({"close": 1005})).await, Some(1005), "no code");
    assert_eq!(live(json!("cut")).await, None);
    assert_eq!(live(json!("reconnect")).await, Some(1001));
    let figures = get(&handle, "/__sandbox/gateway/stats").await.json();
    assert_eq!(figures["closes"], json!({"1001": 1, "1005": 1, "1006": 1, "4009": 1}));
    assert_eq!((&figures["forced"], &figures["identifies"]), (&json!(5), &json!(4)));
}

#[tokio::test]
async fn a_frozen_connection_stays_open_and_says_nothing() {
    let handle = start(1.0).await;
    let mut bot = Bot::connect(&format!("ws://{}/?v=10", handle.addr)).await;
    bot.next().await.unwrap();
    bot.identify().await;
    control(&handle, "gateway/now", json!({"do": "freeze"})).await;
    bot.send(json!({"op": 1, "d": 2})).await;
    let nothing = tokio::time::timeout(Duration::from_millis(300), bot.socket.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
    let connections = get(&handle, "/__sandbox/gateway/connections").await.json();
    let frozen = &connections["connections"][0];
    assert_eq!((&frozen["ended"], &frozen["code"], &frozen["seqs"]), (&json!(true), &Value::Null, &json!([1, 2])));
    handle.stop();
    assert_eq!(bot.next().await, Err(None), "a stopped server keeps none open");
}

#[tokio::test]
async fn a_gone_budget_ends_the_token_on_both_halves() {
    let handle = start(1.0).await;
    control(&handle, "gateway/bot", json!({"bot": "123456", "remaining": 1})).await;
    let me = format!("GET /api/v10/users/@me HTTP/1.1\r\nHost: x\r\nAuthorization: Bot {TOKEN}\r\n\r\n");
    let url = format!("ws://{}/?v=10", handle.addr);
    let mut first = Bot::connect(&url).await;
    first.next().await.unwrap();
    first.identify().await;
    assert_eq!(crate::client::raw(&handle, me.as_bytes()).await.unwrap().status, 200);
    let mut second = Bot::connect(&url).await;
    second.next().await.unwrap();
    second.send(json!({"op": 2, "d": {"token": TOKEN, "intents": 0}})).await;
    assert_eq!((second.next().await, first.next().await), (Err(Some(4004)), Err(Some(4004))));
    assert_eq!(crate::client::raw(&handle, me.as_bytes()).await.unwrap().status, 401);
    control(&handle, "reset", json!({})).await;
    assert_eq!(crate::client::raw(&handle, me.as_bytes()).await.unwrap().status, 200);
}

#[tokio::test]
async fn whoever_reads_nothing_is_cut() {
    let handle = start(1.0).await;
    let mut bot = Bot::connect(&format!("ws://{}/?v=10", handle.addr)).await;
    bot.next().await.unwrap();
    bot.identify().await;
    for _ in 0..8 {
        control(&handle, "gateway/dispatch", json!({"count": 10_000, "bytes": 2000})).await;
    }
    let mut cut = Value::Null;
    for _ in 0..200 {
        cut = get(&handle, "/__sandbox/gateway/stats").await.json()["closes"].clone();
        if cut != json!({}) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(cut, json!({"1006": 1}));
}

#[tokio::test]
async fn wrong_use_of_the_control_is_explained() {
    let handle = start(1.0).await;
    for (what, body, expected) in [
        ("weather", json!({"on": "live", "do": "snow"}), "dead_resume_url"),
        ("random", json!({"live": ["snow"]}), "dead_resume_url"),
        ("random", json!({"sed": 1}), "live_mean_ms"),
        ("now", json!({"do": "cut", "when": 1}), "shard"),
        ("load", json!({"for_ms": 1}), "per_second"),
        ("bot", json!({"total": 1}), "bot"),
        ("settings", json!({"heartbeat_close": 1000}), "4000"),
        ("now", json!({"do": {"delay_ms": 1}}), "live"),
        ("dispatch", json!({"t": 1}), "string"),
        ("dispatch", json!({"shard": -1}), "whole number"),
    ] {
        let reply = control(&handle, &format!("gateway/{what}"), body).await;
        assert!(reply.status == 400 && reply.text().contains(expected), "{what}: {}", reply.text());
    }
    let settings = json!({"heartbeat_interval_ms": 20000, "guilds": 0, "heartbeat_close": 4000});
    assert_eq!(control(&handle, "gateway/settings", settings).await.json(), json!({"ok": true}));
    let mut bot = Bot::connect(&format!("ws://{}/?v=10", handle.addr)).await;
    assert_eq!(bot.next().await.unwrap()["d"]["heartbeat_interval"], 20000);
}
