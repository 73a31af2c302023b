use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tidegate_sandbox::discord::{Handle, Options, serve};
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
