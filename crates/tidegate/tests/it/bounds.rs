//! Past a bound the new is refused and the old kept.

use std::sync::Arc;

use crate::client::{Client, ask};
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

fn ok() -> Fake {
    Fake::start(|_, _| Act::ok("true"))
}

#[test]
fn bad_targets_go_nowhere() {
    let fake = ok();
    let house = House::before(&fake, "");
    let bot = format!("/bot{TOKEN}");
    for target in [
        format!("{bot}/../getMe"),
        format!("{bot}/%2e%2E/getMe"),
        format!("{bot}/./getMe"),
        format!("{bot}/a%2Fb"),
        format!("{bot}/a%5cb"),
        format!("{bot}/a%00b"),
        format!("{bot}/a%d9%a3"),
        format!("{bot}/a%zz"),
        format!("{bot}/a%0d%0ab"),
        format!("/file{bot}/a/%2e%2e/b"),
        format!("http://elsewhere{bot}/getMe"),
    ] {
        let answer = ask(house.listen, "GET", &target, &[], b"");
        assert_eq!(answer.status, 400, "{target}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{target}");
    }
    assert_eq!(fake.count(), 0);
}

#[test]
fn smuggling_by_headers_goes_nowhere() {
    let fake = ok();
    let house = House::before(&fake, "");
    for named in ["Authorization", "host", "Content-Length", "content-type", "X-Tidegate-Class"] {
        let answer = house.call_with("getMe", &[("Connection", &format!("close, {named}"))], "");
        assert_eq!(answer.status, 400, "{named}");
    }
    for framing in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: +3",
        "Transfer-Encoding: gzip",
        "Content-Length: 3, 4",
    ] {
        let mut client = Client::connect(house.listen);
        client.write(format!("POST /bot{TOKEN}/getMe HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\nabcd").as_bytes());
        assert_eq!(client.read().unwrap().status, 400, "{framing}");
    }
    assert_eq!(fake.count(), 0);
    // Two framings, whichever stands first, whatever the platform.
    let chunks = "2\r\nok\r\n0\r\n\r\n";
    for framing in
        ["Content-Length: 3\r\nTransfer-Encoding: chunked", "transfer-encoding: chunked\r\ncontent-length: 3"]
    {
        for target in [format!("/bot{TOKEN}/getMe"), "/api/v10/gateway".to_owned()] {
            let mut client = Client::connect(house.listen);
            client.write(format!("POST {target} HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n{chunks}").as_bytes());
            let answer = client.read().unwrap();
            assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{framing}");
            assert!(answer.json()["message"].is_string() && answer.json()["ok"] == false, "{}", answer.text());
            assert!(client.read().is_none());
        }
    }
    for framing in ["gzip, chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked"] {
        let mut client = Client::connect(house.listen);
        let head = format!("POST /bot{TOKEN}/getMe HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {framing}\r\n\r\n");
        client.write(format!("{head}{chunks}").as_bytes());
        assert_eq!(client.read().unwrap().status, 400, "{framing}");
    }
    assert_eq!(fake.count(), 0);
}

#[test]
fn of_two_framings_in_a_later_request_one_goes_on_and_nothing_behind_it() {
    let fake = ok();
    let house = House::before(&fake, "");
    let post = format!("POST /bot{TOKEN}/getMe HTTP/1.1\r\nHost: x\r\n");
    let mut client = Client::connect(house.listen);
    client.write(format!("{post}Content-Length: 0\r\n\r\n").as_bytes());
    assert_eq!(client.read().unwrap().status, 200);
    // By the length the body would be the chunks and a request behind them.
    let behind = format!("0\r\n\r\n{post}X-Behind: 1\r\n\r\n");
    let both = format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n\r\n", behind.len());
    client.write(format!("{post}{both}{behind}").as_bytes());
    assert_eq!(client.read().unwrap().header("connection"), Some("close"));
    assert!(client.read().is_none());
    assert!(fake.seen().iter().all(|seen| seen.header("x-behind").is_none() && seen.text().is_empty()));
}

#[test]
fn large_heads_are_told_so() {
    let fake = ok();
    let house = House::before(&fake, "header_block = \"4KiB\"\ntarget_max = \"2KiB\"");
    let long = "x".repeat(5_000);
    let answer = house.call_with("getMe", &[("X-Long", &long)], "");
    assert_eq!((answer.status, answer.json()["error_code"].as_u64()), (431, Some(431)));
    let answer = ask(house.listen, "GET", &format!("/bot{TOKEN}/getMe?x={}", &long[..3000]), &[], b"");
    assert_eq!((answer.status, answer.json()["error_code"].as_u64()), (414, Some(414)));
    assert_eq!(fake.count(), 0);
    // What is allowed by default arrives.
    let house = House::before(&fake, "");
    let target = format!("/bot{TOKEN}/sendMessage?chat_id=5&text={}", "y".repeat(60_000));
    assert_eq!(ask(house.listen, "GET", &target, &[("X-Long", &"z".repeat(30_000))], b"").status, 200);
    assert_eq!(fake.seen()[0].target, target);
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let fake = ok();
    let house = House::before(&fake, "decision_timeout = \"50ms\"");
    let mut client = Client::connect(house.listen);
    client.write(
        format!("POST /bot{TOKEN}/sendMessage HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nchat").as_bytes(),
    );
    assert_eq!(client.read().unwrap().status, 408);
    assert_eq!(fake.count(), 0);
}

#[test]
fn an_idle_connection_is_closed() {
    let house = House::before(&ok(), "idle_timeout = \"100ms\"");
    let mut client = Client::connect(house.listen);
    client.send("GET", &format!("/bot{TOKEN}/getMe"), &[], b"");
    assert_eq!(client.read().unwrap().status, 200);
    assert!(client.read().is_none(), "closed");
    let mut silent = Client::connect(house.listen);
    assert!(silent.read().is_none_or(|answer| answer.status == 408), "closed");
}

#[test]
fn one_connection_too_many_is_turned_away_with_an_answer() {
    let house = House::before(&ok(), "connections_max = 2");
    let mut kept: Vec<Client> = (0..2).map(|_| Client::connect(house.listen)).collect();
    until("both are taken", || house.status()["connections"] == 2);
    let answer = ask(house.listen, "GET", &format!("/bot{TOKEN}/getMe"), &[], b"");
    assert_eq!((answer.status, answer.outcome(), answer.json()["ok"].as_bool()), (429, "refused", Some(false)));
    for client in &mut kept {
        client.send("GET", &format!("/bot{TOKEN}/getMe"), &[], b"");
        assert_eq!(client.read().unwrap().status, 200);
    }
}

#[test]
fn held_bodies_have_a_total() {
    let slow = "[policy.telegram.buckets.chat_second]\nbucket = \"1/600s\"\nburst = 1\n";
    let fake = ok();
    let house = House::before(&fake, &format!("buffer_total = \"100KiB\"\n{slow}"));
    let patient = [("X-Tidegate-Max-Hold", "10min")];
    house.call("sendMessage", "chat_id=5");
    let body = format!("chat_id=5&text={}", "x".repeat(60_000));
    let held = house.begin("sendMessage", &patient, &body);
    until("it is held", || house.held() == 1);
    let refused = house.call_with("sendMessage", &patient, &body);
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert_eq!((house.held(), fake.count()), (1, 1));
    drop(held);
    until("it is given back", || house.status()["buffered_bytes"] == 0);
}

#[test]
fn the_table_of_bots_is_bounded() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |_, seen| {
        if seen.target.contains("/getUpdates") {
            Act::Wait(Arc::clone(&opened), Box::new(Act::ok("[]")))
        } else {
            Act::ok("true")
        }
    });
    let house = House::before(&fake, "bots_max = 2");
    let ask = |token: &str| ask(house.listen, "GET", &format!("/bot{token}/getMe"), &[], b"").status;
    assert_eq!((ask("1:AA"), ask("2:AA")), (200, 200));
    assert_eq!(ask("3:AA"), 429, "both were used lately");
    assert_eq!(ask("1:AA"), 200);
    gate.open();
    let house = House::before(&fake, "bots_max = 2\nbots_idle = \"1us\"");
    let ask = |token: &str| crate::client::ask(house.listen, "GET", &format!("/bot{token}/getMe"), &[], b"").status;
    assert_eq!((ask("1:AA"), ask("2:AA"), ask("3:AA")), (200, 200, 200));
}
