use std::time::{Duration, Instant};

use serde_json::json;
use tidegate_sandbox::telegram::{Options, serve};

use crate::client::{TOKEN, call, control, raw, start};

#[tokio::test]
async fn a_long_poll_waits_its_time_and_ends_with_an_update() {
    let handle = start(0.02).await;
    let asked = Instant::now();
    assert_eq!(call(&handle, "getUpdates", json!({"timeout": 20})).await.json()["result"], json!([]));
    assert!((Duration::from_millis(400)..Duration::from_secs(3)).contains(&asked.elapsed()));

    let asked = Instant::now();
    let poll = call(&handle, "getUpdates", json!({"timeout": 50}));
    let push = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        control(&handle, "update", json!({"bot": 123456, "update": {"message": {"text": "hi"}}})).await
    };
    let (poll, pushed) = tokio::join!(poll, push);
    assert_eq!(poll.json()["result"][0]["update_id"], pushed.json()["update_id"]);
    assert!(asked.elapsed() < Duration::from_millis(900));
}

#[tokio::test]
async fn a_second_poller_is_a_conflict_and_one_that_left_is_none() {
    let handle = start(1.0).await;
    let first = call(&handle, "getUpdates", json!({"timeout": 30}));
    let second = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let poll = call(&handle, "getUpdates", json!({"timeout": 30}));
        tokio::time::timeout(Duration::from_millis(200), poll).await
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.status, 409);
    assert_eq!(
        first.json()["description"],
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
    );
    assert!(second.is_err(), "the second waits");
    // Its connection was dropped: the next one is alone.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let third =
        tokio::time::timeout(Duration::from_millis(100), call(&handle, "getUpdates", json!({"timeout": 30}))).await;
    assert!(third.is_err());
    assert_eq!(handle.stats().by_status.get(&409), Some(&1));
}

#[tokio::test]
async fn answers_take_their_latency_and_a_stop_cuts_all() {
    let options = Options { latency: Duration::from_millis(80), ..Options::default() };
    let handle = serve("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
    let asked = Instant::now();
    assert_eq!(call(&handle, "getMe", json!({})).await.status, 200);
    assert!(asked.elapsed() >= Duration::from_millis(80));
    let request = format!("GET /bot{TOKEN}/getUpdates?timeout=50 HTTP/1.1\r\nHost: x\r\n\r\n");
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        handle.stop();
    };
    let (reply, ()) = tokio::join!(raw(&handle, request.as_bytes()), stop);
    assert!(reply.is_none());
    assert!(tokio::net::TcpStream::connect(handle.addr).await.is_err());
}
