//! Where the two halves of Discord meet.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::discord::{Call, Model, Settings};

const TOKEN: &str = "MTIzNDU2.x.y";
const MESSAGES: u64 = 1 << 9;

struct Both {
    model: Model,
    now: Duration,
}

impl Both {
    fn new() -> Self {
        let gateway = crate::discord::Gateway { max_concurrency: 8, ..Default::default() };
        Self { model: Model::new(Settings { gateway, ..Settings::default() }), now: Duration::ZERO }
    }

    fn identify(&mut self, shard: [u32; 2], intents: u64) -> ConnId {
        let handshake = Handshake { from: [127, 0, 0, 1].into(), path: "/".into(), query: Vec::new() };
        let conn = self.model.gateway().connect(self.now, &handshake).unwrap().conn;
        let d = json!({"token": TOKEN, "intents": intents, "shard": shard});
        self.model.gateway().receive(self.now, conn, json!({"op": 2, "d": d}).to_string().as_bytes());
        conn
    }

    fn call(&mut self, method: &str, path: &str, body: Value) -> crate::discord::Answer {
        self.model.call(self.now, &Call::new(method, path).bot(TOKEN).body(body)).answer
    }

    /// Events since the last look: the connection, the name and the content.
    fn events(&mut self) -> Vec<(ConnId, String, Value)> {
        let outputs = std::iter::from_fn(|| self.model.gateway().poll());
        let events = outputs.filter_map(|output| match output {
            Output::Write { conn, frame: Frame { kind: Kind::Dispatch { event, .. }, text } } => {
                Some((conn, event.to_string(), serde_json::from_slice(&text).unwrap()))
            }
            _ => None,
        });
        events.map(|(conn, event, text): (_, _, Value)| (conn, event, text["d"].clone())).collect()
    }
}

#[test]
fn what_rest_writes_is_told_to_the_sessions_that_ask_for_it() {
    let mut both = Both::new();
    let told = both.identify([0, 2], MESSAGES);
    both.identify([1, 2], MESSAGES);
    both.identify([0, 3], 0);
    both.events();
    let sent = both.call("POST", "/channels/5/messages", json!({"content": "one"})).json();
    let path = format!("/channels/5/messages/{}", sent["id"].as_str().unwrap());
    both.call("PATCH", &path, json!({"content": "two"}));
    both.call("DELETE", &path, Value::Null);
    let events = both.events();
    let names: Vec<(ConnId, &str, &Value)> =
        events.iter().map(|(conn, name, d)| (*conn, name.as_str(), &d["content"])).collect();
    assert_eq!(
        names,
        [
            (told, "MESSAGE_CREATE", &json!("one")),
            (told, "MESSAGE_UPDATE", &json!("two")),
            (told, "MESSAGE_DELETE", &Value::Null)
        ]
    );
    assert!(events.iter().all(|(_, _, d)| d["id"] == sent["id"] && d["guild_id"] == "1" && d["channel_id"] == "5"));
    both.call("DELETE", &path, Value::Null);
    assert_eq!(both.events(), [], "it was gone already");
}

#[test]
fn gateway_bot_tells_what_is_left() {
    let mut both = Both::new();
    let limit = |both: &mut Both, ms: u64| {
        both.now += Duration::from_millis(ms);
        both.call("GET", "/gateway/bot", Value::Null).json()["session_start_limit"].clone()
    };
    assert_eq!(
        limit(&mut both, 0),
        json!({"total": 1000, "remaining": 1000, "reset_after": 14_400_000, "max_concurrency": 8})
    );
    for shard in 0..3 {
        both.identify([shard, 3], 0);
    }
    assert_eq!(limit(&mut both, 10_000)["remaining"], 997);
    let next_day = limit(&mut both, 14_400_000);
    assert_eq!((&next_day["remaining"], &next_day["reset_after"]), (&json!(1000), &json!(86_390_000)));
}

#[test]
fn a_token_that_is_revoked_ends_its_connections() {
    let mut both = Both::new();
    both.identify([0, 1], 0);
    both.model.revoke(TOKEN);
    let last = std::iter::from_fn(|| both.model.gateway().poll()).last();
    assert!(matches!(last, Some(Output::Close { code: 4004, .. })), "{last:?}");
    assert_eq!(both.call("GET", "/users/@me", Value::Null).status, 401);
    both.identify([0, 1], 0);
    let last = std::iter::from_fn(|| both.model.gateway().poll()).last();
    assert!(matches!(last, Some(Output::Close { code: 4004, .. })), "{last:?}");
}
