//! What bots are told of the Gateway: tidegate's own address, and the session starts that tidegate still lets them have.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_LENGTH, ETAG};
use serde_json::Value;

use crate::reply::Reply;

/// An answer of `GET /gateway` or `GET /gateway/bot`, with `address` in the place of Discord's. What cannot be read is
/// handed on as it came.
pub(crate) fn told(mut reply: Reply, address: &str, starts_left: Option<u64>) -> Reply {
    if reply.status != StatusCode::OK {
        return reply;
    }
    let Ok(Value::Object(mut body)) = serde_json::from_slice::<Value>(&reply.body) else { return reply };
    let Some(url) = body.get_mut("url") else { return reply };
    *url = address.into();
    let remaining = body.get_mut("session_start_limit").and_then(|limit| limit.get_mut("remaining"));
    if let (Some(remaining), Some(left)) = (remaining, starts_left) {
        *remaining = remaining.as_u64().map_or(left, |theirs| theirs.min(left)).into();
    }
    reply.body = Bytes::from(Value::Object(body).to_string());
    // They are those of the body before.
    reply.headers.remove(CONTENT_LENGTH);
    reply.headers.remove(ETAG);
    reply
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::HeaderValue;

    use super::*;

    fn reply(body: &'static str) -> Reply {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Reply { status: StatusCode::OK, headers, body: Bytes::from_static(body.as_bytes()) }
    }

    #[test]
    fn the_address_is_ours_and_all_else_is_as_it_came() {
        let answer = r#"{"url":"wss://gateway.discord.gg","shards":3,"session_start_limit":{"remaining":7},"new":[1]}"#;
        let told = told(reply(answer), "ws://here:1", None);
        let body: Value = serde_json::from_slice(&told.body).unwrap();
        let expected = r#"{"url":"ws://here:1","shards":3,"session_start_limit":{"remaining":7},"new":[1]}"#;
        assert_eq!(body, serde_json::from_str::<Value>(expected).unwrap());
        assert!(!told.headers.contains_key(CONTENT_LENGTH));
    }

    #[test]
    fn what_cannot_be_read_is_handed_on() {
        for body in ["", "[]", r#"{"message":"?"}"#] {
            assert_eq!(told(reply(body), "ws://here:1", None).body, body);
        }
    }
}
