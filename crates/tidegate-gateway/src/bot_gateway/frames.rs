//! Frames that are written to Discord.

use bytes::{BufMut as _, Bytes, BytesMut};
use tidegate_core::send_queue::Guild;

pub(super) const BEAT: u8 = 1;
pub(super) const IDENTIFY: u8 = 2;
pub(super) const RESUME: u8 = 6;
pub(super) const SUBSCRIBE: u8 = 37;

pub(super) fn beat(seq: Option<u64>) -> Bytes {
    seq.map_or_else(|| r#"{"op":1,"d":null}"#.to_owned(), |seq| format!(r#"{{"op":1,"d":{seq}}}"#)).into()
}

/// The bot's own data, as it came.
pub(super) fn identify(d: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(d.len() + 16);
    frame.put_slice(br#"{"op":2,"d":"#);
    frame.put_slice(d);
    frame.put_u8(b'}');
    frame.freeze()
}

pub(super) fn resume(token: &str, session: &str, seq: u64) -> Bytes {
    let d = serde_json::json!({"token": token, "session_id": session, "seq": seq});
    format!(r#"{{"op":6,"d":{d}}}"#).into()
}

/// Each guild's newest snapshot.
pub(super) fn subscribe(guilds: &[(Guild, Bytes)]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_slice(br#"{"op":37,"d":{"subscriptions":{"#);
    for (index, (guild, snapshot)) in guilds.iter().enumerate() {
        if index > 0 {
            frame.put_u8(b',');
        }
        frame.put_slice(serde_json::Value::from(&**guild).to_string().as_bytes());
        frame.put_u8(b':');
        frame.put_slice(snapshot);
    }
    frame.put_slice(b"}}}");
    frame.freeze()
}

/// How much an entry of that map takes.
pub(super) fn entry(guild: &Guild, snapshot: &Bytes) -> usize {
    serde_json::Value::from(&**guild).to_string().len() + 1 + snapshot.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_discord_reads_them() {
        assert_eq!(beat(None), r#"{"op":1,"d":null}"#);
        assert_eq!(beat(Some(7)), r#"{"op":1,"d":7}"#);
        assert_eq!(identify(br#"{"token":"t", "x":1}"#), r#"{"op":2,"d":{"token":"t", "x":1}}"#);
        let resume: serde_json::Value = serde_json::from_slice(&resume("t\"", "s", 5)).unwrap();
        assert_eq!(resume, serde_json::json!({"op": 6, "d": {"token": "t\"", "session_id": "s", "seq": 5}}));
        let guilds = [("1".into(), "{}".into()), ("2\"".into(), "[1]".into())];
        let map = subscribe(&guilds);
        assert_eq!(map, r#"{"op":37,"d":{"subscriptions":{"1":{},"2\"":[1]}}}"#);
        let entries: usize = guilds.iter().map(|(guild, snapshot)| entry(guild, snapshot)).sum();
        assert_eq!(map.len(), br#"{"op":37,"d":{"subscriptions":{}}}"#.len() + entries + 1);
    }
}
