//! `/identify`: a place in the line for bots that keep their own Gateway connection.

use std::thread;
use std::time::Duration;

use super::{TOKEN, Tide};
use crate::client::ask;

#[test]
fn each_bucket_is_granted_at_once_and_then_spaced() {
    let tide = Tide::far(20);
    let first = place(&tide, "GET", "shard=0");
    assert_eq!(
        (first.status, first.header("x-tidegate-grant"), first.json()["grant"].as_u64()),
        (200, Some("1"), Some(1))
    );
    let freed = place(&tide, "DELETE", "shard=0");
    assert_eq!(freed.status, 204);
    let second = place(&tide, "GET", "shard=1&max_concurrency=16");
    assert_eq!((second.status, second.header("x-tidegate-grant")), (200, Some("2")));
    assert_eq!(second.header("x-tidegate-outcome"), Some("held"));
    let held_ms: u64 = second.header("x-tidegate-held-ms").unwrap().parse().unwrap();
    assert!(held_ms >= 4_000, "spacing counts from the release: {held_ms}");
}

#[test]
fn a_newer_request_has_the_older_ones_place() {
    let tide = Tide::far(20);
    assert_eq!(place(&tide, "GET", "shard=0").status, 200);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let older = scope.spawn(|| place(&tide, "GET", "shard=7").status);
        thread::sleep(Duration::from_millis(100));
        let newer = scope.spawn(|| place(&tide, "GET", "shard=7").status);
        [older, newer].map(|asked| asked.join().unwrap()).into()
    });
    assert_eq!(statuses, [409, 200]);
}

#[test]
fn a_place_that_is_given_back_is_told_so() {
    let tide = Tide::far(20);
    assert_eq!(place(&tide, "GET", "shard=0").status, 200);
    let waited = thread::scope(|scope| {
        let waits = scope.spawn(|| place(&tide, "GET", "shard=7"));
        thread::sleep(Duration::from_millis(100));
        assert_eq!(place(&tide, "DELETE", "shard=7").status, 204);
        waits.join().unwrap()
    });
    assert_eq!(waited.status, 409);
    assert!(waited.json()["message"].as_str().unwrap().contains("given back"), "{}", waited.text());
}

#[test]
fn what_is_wrong_is_said_in_discords_shape() {
    let tide = Tide::new("");
    for (method, query, status) in
        [("GET", "", 400), ("GET", "shard=-1", 400), ("GET", "shard=x", 400), ("POST", "shard=0", 405)]
    {
        let answer = place(&tide, method, query);
        assert_eq!(answer.status, status, "{method} {query}");
        assert!(answer.json()["message"].as_str().is_some_and(|text| text.starts_with(&status.to_string())));
    }
    let nobody = ask(tide.house.listen, "GET", "/identify?shard=0", &[], b"");
    assert_eq!(nobody.status, 401);
}

fn place(tide: &Tide, method: &str, query: &str) -> crate::client::Answer {
    let target = format!("/identify?{query}");
    ask(tide.house.listen, method, &target, &[("Authorization", &format!("Bot {TOKEN}"))], b"")
}
