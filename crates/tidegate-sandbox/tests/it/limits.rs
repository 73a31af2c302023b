use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{call, start};

#[tokio::test]
async fn the_21st_message_of_a_group_is_refused_in_telegrams_shape() {
    let handle = start(1.0).await;
    for id in 1..=20 {
        let reply = call(&handle, "sendMessage", json!({"chat_id": -5, "text": format!("#{id}")})).await;
        assert_eq!(reply.json()["result"]["message_id"], id);
        assert_eq!(
            reply.json()["result"]["chat"],
            json!({"id": -5, "type": "group", "title": "Group -5",
            "all_members_are_administrators": false, "accepted_gift_types": reply.json()["result"]["chat"]["accepted_gift_types"]})
        );
    }
    let reply = call(&handle, "sendMessage", json!({"chat_id": "-5", "text": "#21"})).await;
    assert_eq!((reply.status, reply.header("content-type")), (429, Some("application/json")));
    assert_eq!(reply.header("retry-after"), Some("60"));
    assert_eq!(
        reply.json(),
        json!({"ok": false, "error_code": 429, "description": "Too Many Requests: retry after 60",
        "parameters": {"retry_after": 60}})
    );
    // Another chat is free.
    assert_eq!(call(&handle, "sendMessage", json!({"chat_id": -6, "text": "x"})).await.status, 200);
}

#[tokio::test]
async fn with_a_scale_the_wire_speaks_platform_time() {
    let handle = start(0.02).await;
    for _ in 0..20 {
        call(&handle, "sendMessage", json!({"chat_id": -5, "text": "x"})).await;
    }
    let told = Instant::now();
    let reply = call(&handle, "sendMessage", json!({"chat_id": -5, "text": "x"})).await;
    let retry_after = reply.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert!((40..=60).contains(&retry_after), "{retry_after}");
    tokio::time::sleep(Duration::from_secs(retry_after).mul_f64(0.02)).await;
    assert_eq!(call(&handle, "sendMessage", json!({"chat_id": -5, "text": "x"})).await.status, 200);
    assert!(told.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_ban_called_into_grows() {
    let handle = start(1.0).await;
    for _ in 0..3 {
        assert_eq!(call(&handle, "sendMessage", json!({"chat_id": 5, "text": "x"})).await.status, 200);
    }
    let told = |reply: crate::client::Reply| reply.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert_eq!(told(call(&handle, "sendMessage", json!({"chat_id": 5, "text": "x"})).await), 1);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(told(call(&handle, "sendMessage", json!({"chat_id": 5, "text": "x"})).await), 2);
    assert_eq!(told(call(&handle, "editMessageText", json!({"chat_id": 5, "message_id": 1, "text": "y"})).await), 4);
    let stats = handle.stats();
    assert_eq!((stats.total.refused_429, stats.total.into_ban, stats.bans[0].length_ms), (3, 2, 4000));
}
