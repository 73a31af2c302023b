//! Tokens that do not work, or no longer.

use std::sync::Arc;

use crate::client::ask;
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

const UNAUTHORIZED: &str = "Unauthorized";

#[test]
fn malformed_tokens_and_bots_that_are_not_served_never_leave() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, "bots = [\"123456\"]");
    for token in ["", "123", "123:", ":abc", "a23:abc", "123:ab%20c", "123:a%FFb", "\u{663}:abc", "123:abc:def"] {
        let answer = ask(house.listen, "GET", &format!("/bot{token}/getMe"), &[], b"");
        assert!(matches!(answer.status, 400 | 404), "{token}: {}", answer.status);
    }
    let answer = ask(house.listen, "GET", "/bot999:AAAA/getMe", &[], b"");
    assert_eq!(answer.status, 403);
    assert_eq!(fake.count(), 0);
    assert_eq!(house.call("getMe", "").status, 200);
}

#[test]
fn a_token_refused_twice_is_not_tried_for_a_while_and_then_once() {
    let fake = Fake::start(|_, _| Act::error(401, UNAUTHORIZED));
    let house = House::before(&fake, "breaker = \"10min\"");
    for expected in [1, 2, 2, 2] {
        let answer = house.call("sendMessage", "chat_id=5&text=a");
        assert_eq!((answer.status, answer.json()["description"].as_str()), (401, Some(UNAUTHORIZED)));
        assert_eq!(fake.count(), expected);
    }
    assert_eq!(house.call("getUpdates", "").status, 401);
    assert_eq!(fake.count(), 2);
    assert_eq!(house.status()["bots"][0]["token"], "refused");
    // Shorter than the time between two calls: each is a probe.
    let house = House::before(&fake, "breaker = \"1us\"");
    (0..4).for_each(|_| assert_eq!(house.call("getMe", "").status, 401));
    assert_eq!(fake.count(), 6);
}

#[test]
fn held_calls_fail_at_once_when_the_token_goes() {
    let fake =
        Fake::start(
            |_, seen| if seen.target.ends_with("/getMe") { Act::error(404, "Not Found") } else { Act::ok("true") },
        );
    let slow = "[policy.telegram.buckets.chat_second]\nbucket = \"1/600s\"\nburst = 1\n";
    let house = House::before(&fake, slow);
    house.call("sendMessage", "chat_id=5&text=a");
    let mut held = house.begin("sendMessage", &[("X-Tidegate-Max-Hold", "10min")], "chat_id=5&text=b");
    until("it is held", || house.held() == 1);
    assert_eq!(house.call("getMe", "").status, 404);
    assert_eq!(house.call("getMe", "").status, 404);
    assert_eq!(held.read().unwrap().status, 401);
    assert_eq!((house.held(), fake.count()), (0, 3));
}

#[test]
fn an_unknown_method_says_nothing_of_the_token() {
    let fake = Fake::start(|_, _| Act::error(404, "Not Found: method not found"));
    let house = House::before(&fake, "");
    (0..4).for_each(|_| assert_eq!(house.call("sendWhatever", "chat_id=5").status, 404));
    assert_eq!(fake.count(), 4);
}

#[test]
fn an_unproven_token_has_one_call_out() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |_, _| Act::Wait(Arc::clone(&opened), Box::new(Act::ok("true"))));
    let house = House::before(&fake, "");
    let patient = [("X-Tidegate-Max-Hold", "10min")];
    let mut clients: Vec<_> = (0..8).map(|n| house.begin("sendMessage", &patient, &format!("chat_id={n}"))).collect();
    until("one is out", || fake.count() == 1);
    gate.open();
    for client in &mut clients {
        assert_eq!(client.read().unwrap().status, 200);
    }
    assert_eq!(fake.count(), 8);
    assert_eq!(fake.seen().len(), 8);
}

#[test]
fn random_tokens_may_fail_so_often_and_no_more() {
    let fake = Fake::start(
        |_, seen| if seen.target.contains(TOKEN) { Act::ok("true") } else { Act::error(401, UNAUTHORIZED) },
    );
    let house = House::before(&fake, "unproven_failures = 5");
    assert_eq!(house.call("getMe", "").status, 200);
    let threads: Vec<_> = (0..40)
        .map(|n| {
            let listen = house.listen;
            std::thread::spawn(move || ask(listen, "GET", &format!("/bot{n}00:AAAA{n}/getMe"), &[], b"").status)
        })
        .collect();
    let statuses: Vec<u16> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let failed = statuses.iter().filter(|status| **status == 401).count();
    assert_eq!(statuses.iter().filter(|status| !matches!(status, 401 | 429)).count(), 0);
    assert_eq!(fake.count(), failed + 1);
    assert!(fake.most_at_once() <= 5, "{}", fake.most_at_once());
    assert_eq!(house.call("getMe", "").status, 200, "a proven one is not touched");
}

#[test]
fn a_first_call_that_hangs_does_not_silence_its_bot() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |_, seen| {
        let hangs = seen.text().contains("hangs");
        if hangs { Act::Wait(Arc::clone(&opened), Box::new(Act::ok("true"))) } else { Act::ok("true") }
    });
    let house = House::before(&fake, "");
    let mut first = house.begin("sendMessage", &[], "chat_id=5&text=hangs");
    until("it is out", || fake.count() == 1);
    assert_eq!(house.call_with("sendMessage", &[("X-Tidegate-Max-Hold", "10min")], "chat_id=6&text=b").status, 200);
    assert_eq!(fake.count(), 2);
    gate.open();
    assert_eq!(first.read().unwrap().status, 200);
}
