//! Calls that wait.

use std::sync::Arc;

use crate::client::{Answer, Client};
use crate::fake::{Act, Fake, Gate, until};
use crate::house::House;

/// One send a minute and chat, so that the second waits.
const SLOW: &str = "[policy.telegram.buckets.chat_second]\nbucket = \"1/60s\"\nburst = 1\n";
const PATIENT: [(&str, &str); 1] = [("X-Tidegate-Max-Hold", "10min")];

fn texts(fake: &Fake) -> Vec<String> {
    let text = |form: String| form.rsplit_once("text=").map(|(_, text)| text.to_owned());
    fake.seen().iter().filter_map(|seen| text(seen.text())).collect()
}

#[test]
fn a_held_call_goes_when_its_time_has_come_and_says_so() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    assert_eq!(house.call("sendMessage", "chat_id=5&text=a").outcome(), "admitted");
    let held = house.call_with("sendMessage", &PATIENT, "chat_id=5&text=b");
    assert_eq!((held.status, held.outcome()), (200, "held"));
    let held_ms: u64 = held.header("x-tidegate-held-ms").unwrap().parse().unwrap();
    assert!(held_ms > 0);
    assert_eq!(texts(&fake), ["a", "b"]);
}

#[test]
fn a_client_that_leaves_while_held_is_never_sent() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    house.call("sendMessage", "chat_id=5&text=a");
    let leaving = house.begin("sendMessage", &PATIENT, "chat_id=5&text=left");
    until("it is held", || house.held() == 1);
    drop(leaving);
    until("it is cancelled", || house.held() == 0);
    assert_eq!(house.call_with("sendMessage", &PATIENT, "chat_id=5&text=b").status, 200);
    assert_eq!(texts(&fake), ["a", "b"]);
}

#[test]
fn a_client_that_leaves_while_its_call_is_out_still_teaches() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        1 => Act::Wait(Arc::clone(&opened), Box::new(Act::refused("500"))),
        _ => Act::ok("true"),
    });
    let house = House::before(&fake, "");
    house.call("getMe", "");
    let leaving = house.begin("sendMessage", &[], "chat_id=5&text=a");
    until("it is out", || fake.count() == 2);
    drop(leaving);
    gate.open();
    until("the chat cools", || house.status()["bots"][0]["cooldowns"][0]["peer"] == "5");
    let refused = house.call_with("sendMessage", &[("X-Tidegate-Max-Hold", "1s")], "chat_id=5&text=b");
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert_eq!((fake.count(), fake.left()), (2, 0));
}

#[test]
fn a_refusal_has_telegrams_shape() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    house.call("sendMessage", "chat_id=5&text=a");
    let refused = house.call_with("sendMessage", &[("X-Tidegate-Max-Hold", "0s")], "chat_id=5&text=b");
    let seconds = refused.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let said = format!(
        "{{\"description\":\"Too Many Requests: retry after {seconds}\",\"error_code\":429,\"ok\":false,\
         \"parameters\":{{\"retry_after\":{seconds}}}}}"
    );
    assert_eq!((refused.status, refused.text()), (429, said));
    assert_eq!(refused.header("retry-after"), Some(seconds.to_string().as_str()));
    assert_eq!(refused.header("via"), Some("1.1 tidegate"));
    assert_eq!(refused.header("content-type"), Some("application/json"));
    assert_eq!(refused.outcome(), "refused");
    assert_eq!(fake.count(), 1);
}

#[test]
fn merged_edits_all_get_the_answer_to_the_last() {
    let fake = Fake::start(|_, _| Act::ok(r#"{"message_id":9,"date":1,"chat":{"id":5,"type":"private"}}"#));
    let house = House::before(&fake, SLOW);
    house.call("sendMessage", "chat_id=5&text=first");
    let edit = |text: &str| house.begin("editMessageText", &PATIENT, &format!("chat_id=5&message_id=9&text={text}"));
    let mut clients: Vec<Client> = Vec::new();
    for number in 0..5 {
        clients.push(edit(&format!("e{number}")));
        until("it is taken in", || {
            let status = house.status();
            let counters = status["bots"][0]["counters"].as_array().unwrap().clone();
            let accepted = |count: &&serde_json::Value| count["surface"] == "edit" && count["outcome"] == "accepted";
            counters.iter().find(accepted).is_some_and(|count| count["count"] == number + 1)
        });
    }
    let answers: Vec<_> = clients.iter_mut().map(|client| client.read().unwrap()).collect();
    let outcomes: Vec<&str> = answers.iter().map(Answer::outcome).collect();
    assert_eq!(outcomes, ["superseded", "superseded", "superseded", "superseded", "held"]);
    assert!(answers.iter().all(|answer| answer.json()["result"]["message_id"] == 9));
    assert_eq!(texts(&fake), ["first", "e4"]);
}

#[test]
fn an_edit_that_took_anothers_place_goes_without_its_client() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, SLOW);
    house.call("sendMessage", "chat_id=5&text=first");
    let mut older = house.begin("editMessageText", &PATIENT, "chat_id=5&message_id=9&text=older");
    until("it is held", || house.held() == 1);
    let newer = house.begin("editMessageText", &PATIENT, "chat_id=5&message_id=9&text=newer");
    until("it took its place", || house.admin("/metrics").text().contains("class=\"final\",outcome=\"superseded\"} 1"));
    drop(newer);
    assert_eq!(older.read().unwrap().outcome(), "superseded");
    assert_eq!(texts(&fake), ["first", "newer"]);
}

#[test]
fn a_dropped_edit_is_answered_with_the_message_as_last_delivered() {
    let delivered = r#"{"message_id":9,"date":1,"chat":{"id":-5,"type":"group"},"text":"v1"}"#;
    let fake = Fake::start(move |_, _| Act::ok(delivered));
    let house = House::before(&fake, SLOW);
    let chrome = [("X-Tidegate-Class", "status")];
    let built = house.call("sendMessage", "chat_id=-5&text=first");
    assert_eq!(built.status, 200);
    // Nothing was delivered for it yet: made from the request.
    let dropped = house.call_with("editMessageText", &chrome, "chat_id=-5&message_id=8&text=v0");
    let result = dropped.json()["result"].clone();
    assert_eq!((dropped.status, dropped.outcome()), (200, "dropped"));
    assert_eq!((&result["message_id"], &result["text"]), (&8.into(), &"v0".into()));
    assert_eq!((&result["chat"]["id"], &result["chat"]["type"]), (&(-5).into(), &"group".into()));
    house.call_with("editMessageText", &[("X-Tidegate-Class", "interactive")], "chat_id=-5&message_id=9&text=v1");
    let dropped = house.call_with("editMessageText", &chrome, "chat_id=-5&message_id=9&text=v2");
    assert_eq!(
        (dropped.outcome(), dropped.json()["result"].to_string()),
        ("dropped", serde_json::from_str::<serde_json::Value>(delivered).unwrap().to_string())
    );
    house.call("sendChatAction", "chat_id=-5&action=typing");
    let typing = house.call("sendChatAction", "chat_id=-5&action=typing");
    assert_eq!((typing.outcome(), typing.text().as_str()), ("dropped", "{\"ok\":true,\"result\":true}"));
}

#[test]
fn one_client_that_names_no_limit_of_its_own_holds_only_so_many() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, &format!("held_per_client = 2\ntelegram.auto_hold = \"10min\"\n{SLOW}"));
    house.call("sendMessage", "chat_id=5&text=a");
    let _held: Vec<Client> = (0..2).map(|_| house.begin("sendMessage", &[], "chat_id=5&text=h")).collect();
    until("two are held", || house.held() == 2);
    let refused = house.call("sendMessage", "chat_id=5&text=b");
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert!(refused.json()["parameters"]["retry_after"].as_u64().unwrap() > 60, "its place is behind the two");
    let _named = house.begin("sendMessage", &PATIENT, "chat_id=5&text=c");
    until("one that names its limit is held", || house.held() == 3);
    assert_eq!(house.call("sendMessage", "chat_id=6&text=free").outcome(), "admitted");
}

#[test]
fn wrong_words_to_tidegate_are_told() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, "");
    let long = "x".repeat(65);
    for (name, value) in [
        ("X-Tidegate-Class", "urgent"),
        ("X-Tidegate-Class", ""),
        ("X-Tidegate-Class", "final, send"),
        ("X-Tidegate-Max-Hold", "11min"),
        ("X-Tidegate-Max-Hold", "5"),
        ("X-Tidegate-Max-Hold", "-5s"),
        ("X-Tidegate-Peer", "a b"),
        ("X-Tidegate-Peer", &long),
    ] {
        let answer = house.call_with("sendMessage", &[(name, value)], "chat_id=5&text=a");
        assert_eq!(answer.status, 400, "{name}: {value}");
        assert_eq!(answer.json()["error_code"], 400);
    }
    let twice = [("X-Tidegate-Class", "send"), ("X-Tidegate-Class", "send")];
    assert_eq!(house.call_with("sendMessage", &twice, "chat_id=5").status, 400);
    assert_eq!(fake.count(), 0);
}

#[test]
fn calls_over_many_connections_keep_their_order() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::before(&fake, "");
    let sent: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    let begin = |text: &String| house.begin("sendMessage", &PATIENT, &format!("chat_id=5&text={text}"));
    let mut clients: Vec<Client> = sent.iter().map(begin).collect();
    for client in &mut clients {
        assert_eq!(client.read().unwrap().status, 200);
    }
    assert_eq!(texts(&fake), sent);
}
