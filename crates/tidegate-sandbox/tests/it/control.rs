use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{TOKEN, call, control, get, start, try_call};

async fn script(handle: &tidegate_sandbox::telegram::Handle, script: Value) {
    let reply = control(handle, "script", script).await;
    assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})));
}

#[tokio::test]
async fn figures_log_and_messages_are_read_over_http() {
    let handle = start(1.0).await;
    for text in ["#1", "#3", "#2"] {
        call(&handle, "sendMessage", json!({"chat_id": -5, "text": text})).await;
    }
    call(&handle, "editMessageText", json!({"chat_id": -5, "message_id": 3, "text": "final #9"})).await;
    let stats = get(&handle, "/__sandbox/stats").await.json();
    assert_eq!((&stats["calls"], &stats["accepted"], &stats["refused_429"]), (&json!(4), &json!(4), &json!(0)));
    assert_eq!((&stats["inversions"], &stats["chats"][0]["chat"]), (&json!(1), &json!("-5")));
    assert_eq!(stats["by_method"]["editMessageText"]["calls"], 1);

    let messages = get(&handle, "/__sandbox/messages?chat=-5").await.json();
    let last = &messages["messages"][2];
    assert_eq!((&last["message_id"], &last["text"], &last["edit_count"]), (&json!(3), &json!("final #9"), &json!(1)));
    assert_eq!(last["edits"][0]["text"], "final #9");

    let log = get(&handle, "/__sandbox/log?since=2&chat=-5").await;
    let calls = log.json()["calls"].as_array().unwrap().clone();
    let markers: Vec<&Value> = calls.iter().map(|entry| &entry["marker"]).collect();
    assert_eq!(markers, [&json!(2), &json!(9)]);
    assert_eq!((&calls[1]["bot"], &calls[1]["status"]), (&json!(123456), &json!(200)));
    assert!(!log.text().contains(&TOKEN[7..]) && !stats.to_string().contains(&TOKEN[7..]));

    control(&handle, "reset", json!({})).await;
    assert_eq!(get(&handle, "/__sandbox/stats").await.json()["calls"], 0);
    assert_eq!(get(&handle, "/__sandbox/messages?chat=-5").await.json()["messages"], json!([]));
}

#[tokio::test]
async fn wrong_use_is_explained() {
    let handle = start(1.0).await;
    let reply = control(&handle, "script", json!({"answer": "nonsense"})).await;
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("drop_before_answer"), "{}", reply.text());
    assert_eq!(get(&handle, "/__sandbox/messages").await.status, 400);
    assert_eq!(get(&handle, "/__sandbox/reset").await.status, 404);
    assert_eq!(control(&handle, "update", json!({"bot": "x"})).await.status, 400);
}

#[tokio::test]
async fn answers_are_forced_for_the_named_chat_alone() {
    let handle = start(1.0).await;
    let send = async |chat: i64| call(&handle, "sendMessage", json!({"chat_id": chat, "text": "x"})).await;
    script(
        &handle,
        json!({"method": "sendMessage", "chat": "-5", "times": 1, "answer": {"status": 429, "retry_after": 3}}),
    )
    .await;
    assert_eq!(send(-6).await.status, 200);
    let reply = send(-5).await;
    assert_eq!((reply.status, reply.header("retry-after")), (429, Some("3")));
    assert_eq!(get(&handle, "/__sandbox/stats").await.json()["bans"][0]["chat"], "-5");

    for (answer, status) in
        [(json!("500"), 500), (json!("502"), 502), (json!("401"), 401), (json!({"status": 403}), 403)]
    {
        script(&handle, json!({"chat": -6, "answer": answer})).await;
        assert_eq!(send(-6).await.status, status);
    }
    script(&handle, json!({"chat": -6, "answer": "not_modified"})).await;
    assert!(send(-6).await.json()["description"].as_str().unwrap().contains("message is not modified"));
    script(&handle, json!({"chat": -6, "answer": {"kind": "migrate", "to": -1007}})).await;
    assert_eq!(send(-6).await.json()["parameters"], json!({"migrate_to_chat_id": -1007}));
    assert_eq!(send(-6).await.json()["parameters"], json!({"migrate_to_chat_id": -1007}));
    assert_eq!(send(-1007).await.status, 200);
}

#[tokio::test]
async fn a_connection_is_cut_and_an_answer_is_late() {
    let handle = start(0.1).await;
    let args = json!({"chat_id": -5, "text": "x"});
    script(&handle, json!({"answer": "drop_before_answer"})).await;
    assert!(try_call(&handle, "sendMessage", args.clone()).await.is_none());
    script(&handle, json!({"answer": "lose_answer"})).await;
    assert!(try_call(&handle, "sendMessage", args.clone()).await.is_none());
    assert_eq!(handle.with(|model| model.messages(123456, "-5").len()), 1);
    // 3 s of the platform are 0.3 s here.
    script(&handle, json!({"answer": {"hang_ms": 3000}})).await;
    let asked = Instant::now();
    assert_eq!(call(&handle, "sendMessage", args).await.status, 200);
    assert!((Duration::from_millis(300)..Duration::from_secs(2)).contains(&asked.elapsed()));
}

#[tokio::test]
async fn headers_meant_for_tidegate_are_noticed() {
    let handle = start(1.0).await;
    let request = format!("GET /bot{TOKEN}/getMe HTTP/1.1\r\nHost: x\r\nX-Tidegate-Class: final\r\n\r\n");
    crate::client::raw(&handle, request.as_bytes()).await.unwrap();
    assert_eq!(
        (handle.tidegate_headers(), get(&handle, "/__sandbox/stats").await.json()["tidegate_headers"].as_u64()),
        (1, Some(1))
    );
}
