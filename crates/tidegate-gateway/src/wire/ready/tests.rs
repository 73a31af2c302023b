use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::scan::scan;
use super::*;

const READY: &str = concat!(
    r#"{"t":"READY","s":1,"op":0,"d":{"v":10,"user":{"session_id":"no","username":"a\"}"},"guilds":[{"id":"1"}],"#,
    r#""session_id":"30f32c5d54ae86130fc4a215c7474263","resume_gateway_url":"wss:\/\/gateway-us-east1-b.discord.gg","#,
    r#""shard":[0,1]}}"#
);

fn data(payload: &str) -> Range<usize> {
    scan(payload.as_bytes()).unwrap().d.unwrap()
}

#[test]
fn ready_names_its_session() {
    let read = ready(READY.as_bytes(), &data(READY)).unwrap();
    assert_eq!(read.session_id, "30f32c5d54ae86130fc4a215c7474263");
    assert_eq!(read.resume_gateway_url, "wss://gateway-us-east1-b.discord.gg");
    for (d, missing) in [
        (r#"{"session_id":"x"}"#, "resume_gateway_url"),
        (r#"{"resume_gateway_url":"x"}"#, "session_id"),
        (r#"{"session_id":1,"resume_gateway_url":"x"}"#, "session_id"),
        (r#"{"session_id":"x","resume_gateway_url":null}"#, "resume_gateway_url"),
    ] {
        assert_eq!(ready(d.as_bytes(), &(0..d.len())), Err(Malformed::Field(missing)), "{d}");
    }
    assert_eq!(ready(b"[]", &(0..2)), Err(Malformed::NotJson));
}

#[test]
fn only_the_url_is_rewritten() {
    let rewritten = with_resume_url(READY.as_bytes(), &data(READY), "ws://127.0.0.1:8787").unwrap();
    let expected = READY.replace(r"wss:\/\/gateway-us-east1-b.discord.gg", "ws://127.0.0.1:8787");
    assert_eq!(std::str::from_utf8(&rewritten).unwrap(), expected);
}

#[test]
fn a_url_that_comes_twice_is_rewritten_twice_and_one_that_is_missing_not() {
    let twice = r#"{"op":0,"d":{"resume_gateway_url" : 1 ,"resume_gateway_url":{"a":1}}}"#;
    let rewritten = with_resume_url(twice.as_bytes(), &data(twice), "u").unwrap();
    assert_eq!(&*rewritten, br#"{"op":0,"d":{"resume_gateway_url" : "u" ,"resume_gateway_url":"u"}}"#);
    let none = r#"{"resume_gateway_url":"a","op":0,"d":{}}"#;
    assert_eq!(&*with_resume_url(none.as_bytes(), &data(none), "u").unwrap(), none.as_bytes());
}

#[test]
fn hello_and_op_9() {
    assert_eq!(hello(br#"{"_trace":[],"heartbeat_interval":41250}"#), Ok(41250));
    for bad in ["{}", "null", r#"{"heartbeat_interval":0}"#, r#"{"heartbeat_interval":"1"}"#] {
        assert_eq!(hello(bad.as_bytes()), Err(Malformed::Field("heartbeat_interval")), "{bad}");
    }
    assert!(resumable(Some(b"true")));
    assert!(!resumable(Some(b"false")) && !resumable(Some(b"1")) && !resumable(None));
}

#[test]
fn a_request_that_discord_dropped() {
    let d = br#"{"opcode":8,"retry_after":29.5,"meta":{"guild_id":"613425648685547541","nonce":"n","more":1}}"#;
    let limited = rate_limited(d).unwrap();
    assert_eq!((limited.opcode, limited.retry_after), (8, 29.5));
    assert_eq!(limited.meta.guild_id.as_deref(), Some("613425648685547541"));
    assert_eq!(limited.meta.nonce.as_deref(), Some("n"));
    assert_eq!(rate_limited(br#"{"opcode":3,"retry_after":1}"#).unwrap().meta, RateLimitedMeta::default());
    assert!(rate_limited(br#"{"opcode":8,"retry_after":-1}"#).is_err());
    assert!(rate_limited(br#"{"opcode":8}"#).is_err());
}

proptest! {
    #[test]
    fn all_else_stays_as_it_came(before in any::<String>(), url in any::<String>(), after in any::<String>(), ours in any::<String>()) {
        let payload = |url: &str| {
            format!("{{\"op\":0 ,\"d\":{{\"a\":{}, \"resume_gateway_url\":{},\"z\":[{}] }} }}", json!(before), json!(url), json!(after))
        };
        let came = payload(&url);
        let rewritten = with_resume_url(came.as_bytes(), &data(&came), &ours).unwrap();
        prop_assert_eq!(std::str::from_utf8(&rewritten).unwrap(), payload(&ours));
        let read: Value = serde_json::from_slice(&rewritten).unwrap();
        prop_assert_eq!(read["d"]["resume_gateway_url"].as_str(), Some(&*ours));
    }
}
