//! A message is what all of its edits, sent in order, make of it.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::client::Client;
use crate::fake::{Act, Fake, Gate, Seen, until};
use crate::house::House;

/// A Discord with one message. The first PATCH makes the route's bucket known, the second one fails.
fn discord() -> (Fake, House, Arc<Mutex<Value>>) {
    let message = Arc::new(Mutex::new(json!({"id": "9", "channel_id": "5"})));
    let kept = Arc::clone(&message);
    let fake = Fake::start(move |number, seen: &Seen| {
        if number == 1 {
            return Act::Answer(502, vec![("Content-Type", "text/html".into())], "<html>Bad Gateway".into());
        }
        let mut message = kept.lock().unwrap();
        let body: Value = serde_json::from_slice(&seen.body).unwrap();
        for (key, value) in body.as_object().unwrap() {
            message[key] = value.clone();
        }
        let headers = [
            ("Content-Type", "application/json"),
            ("X-RateLimit-Bucket", "abc"),
            ("X-RateLimit-Limit", "50"),
            ("X-RateLimit-Remaining", "49"),
            ("X-RateLimit-Reset-After", "30.0"),
        ];
        let headers = headers.map(|(name, value)| (name, value.to_owned())).to_vec();
        Act::Answer(200, headers, message.to_string())
    });
    // Slower than the platform's time, so that the pause before the retry is long.
    let house = House::start(&format!("time_scale = 4.0\ndiscord.api = \"http://{}\"\n", fake.address));
    (fake, house, message)
}

fn patch(house: &House, path: &str, body: &Value) -> Client {
    let token = format!("Bot {}", crate::discord::TOKEN);
    let headers =
        [("Content-Type", "application/json"), ("X-Tidegate-Max-Hold", "10min"), ("Authorization", token.as_str())];
    let mut client = Client::connect(house.listen);
    client.send("PATCH", &format!("/api/v10{path}"), &headers, body.to_string().as_bytes());
    client
}

fn bodies(fake: &Fake) -> Vec<Value> {
    fake.seen().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect()
}

#[test]
fn e9_an_edit_that_failed_once_is_not_sent_over_a_newer_one() {
    let (fake, house, message) = discord();
    let path = "/channels/5/messages/9";
    let (older, newer) = (json!({"content": "a", "embeds": []}), json!({"embeds": [{"title": "E"}]}));
    assert_eq!(patch(&house, path, &json!({})).read().unwrap().status, 200);
    let mut first = patch(&house, path, &older);
    until("it failed", || fake.count() == 2 && house.held() == 1);
    let mut second = patch(&house, path, &newer);
    let statuses = [first.read().unwrap().status, second.read().unwrap().status];
    assert_eq!((statuses, bodies(&fake)), ([200, 200], vec![json!({}), older.clone(), older, newer]));
    let message = message.lock().unwrap();
    assert_eq!((&message["content"], &message["embeds"][0]["title"]), (&json!("a"), &json!("E")));
}

/// A Telegram whose first edit is answered with a failure once the gate opens.
fn telegram(failure: Act) -> (Fake, House, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        1 => Act::Wait(Arc::clone(&opened), Box::new(failure.clone())),
        _ => Act::ok("true"),
    });
    let house = House::before(&fake, "");
    house.call("getMe", "");
    (fake, house, gate)
}

fn counted(house: &House, class: &str, outcome: &str) -> bool {
    house.admin("/metrics").text().contains(&format!("class=\"{class}\",outcome=\"{outcome}\"}} 1"))
}

#[test]
fn e9_an_edit_whose_client_left_in_flight_is_not_sent_again() {
    for failure in [Act::status(502, "{}"), Act::refused("1")] {
        let (fake, house, gate) = telegram(failure);
        let leaving = house.begin("editMessageText", &[], "chat_id=5&message_id=9&text=left");
        until("it is out", || fake.count() == 2);
        drop(leaving);
        until("its client is gone", || house.status()["connections"] == 0);
        gate.open();
        until("it is given up", || counted(&house, "final", "cancelled"));
        // What comes later meets no retry of it.
        let patient = [("X-Tidegate-Max-Hold", "10min")];
        let next = house.call_with("editMessageText", &patient, "chat_id=5&message_id=9&text=next");
        assert_eq!((next.status, fake.count()), (200, 3));
        assert!(fake.seen()[2].text().ends_with("text=next"));
    }
}

/// What may be repeated is repeated for those who wait for it.
#[test]
fn e9_a_call_that_was_cut_off_is_not_sent_again_for_a_client_that_left() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        1 => Act::Wait(Arc::clone(&opened), Box::new(Act::Cut)),
        _ => Act::status(200, "{}"),
    });
    let house = House::start(&format!("time_scale = 0.01\ndiscord.api = \"http://{}\"\n", fake.address));
    let token = format!("Bot {}", crate::discord::TOKEN);
    let begin = |verb: &str, path: &str| {
        let mut client = Client::connect(house.listen);
        client.send(verb, path, &[("Authorization", token.as_str())], b"");
        client
    };
    assert_eq!(begin("GET", "/api/v10/users/@me").read().unwrap().status, 200);
    let leaving = begin("DELETE", "/api/v10/channels/5/pins/9");
    until("it is out", || fake.count() == 2);
    drop(leaving);
    until("its client is gone", || house.status()["connections"] == 0);
    gate.open();
    until("it is over", || counted(&house, "send", "failed"));
    assert_eq!(begin("GET", "/api/v10/users/@me").read().unwrap().status, 200);
    assert_eq!(fake.seen().iter().filter(|seen| seen.method == "DELETE").count(), 1);
}

/// It took the place of another client's edit, who still waits for its answer.
#[test]
fn e9_one_that_another_client_waits_for_is_sent_again() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        1 => Act::Wait(Arc::clone(&opened), Box::new(Act::ok("true"))),
        2 => Act::status(502, "{}"),
        _ => Act::ok("true"),
    });
    let house = House::before(&fake, "");
    house.call("getMe", "");
    let patient = [("X-Tidegate-Max-Hold", "10min")];
    let edit = |text: &str| house.begin("editMessageText", &patient, &format!("chat_id=5&message_id=9&text={text}"));
    let mut first = edit("a");
    until("the first is out", || fake.count() == 2);
    let mut older = edit("b");
    until("the second is held", || house.held() == 1);
    let newer = edit("c");
    until("the third took its place", || counted(&house, "final", "superseded"));
    drop(newer);
    gate.open();
    assert_eq!(first.read().unwrap().status, 200);
    let answer = older.read().unwrap();
    assert_eq!((answer.status, answer.outcome(), fake.count()), (200, "superseded", 4));
    assert!(fake.seen()[3].text().ends_with("text=c"));
}
