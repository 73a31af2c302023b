//! The operators' port.

use std::process::Command;

use crate::client::ask;
use crate::fake::{Act, Fake};
use crate::house::House;

fn house(config: &str) -> House {
    House::before(&Fake::start(|_, _| Act::ok("true")), config)
}

#[test]
fn it_tells_what_is_going_on() {
    // In real time: a chat is forgotten a minute after its last message.
    let fake = Fake::start(|_, _| Act::ok("true"));
    let house = House::start(&format!("telegram.api = \"http://{}\"\n", fake.address));
    assert_eq!((house.admin("/healthz").status, house.admin("/readyz").text().as_str()), (200, "ready\n"));
    assert!(house.admin("/").text().contains("<title>tidegate</title>"));
    house.call("sendMessage", "chat_id=5&text=a");
    let status = house.status();
    assert_eq!((&status["store"], &status["bots"][0]["bot"]), (&"memory".into(), &"123456".into()));
    assert_eq!((&status["bots"][0]["peers"], &status["bots"][0]["token"]), (&1.into(), &"accepted".into()));
    let metrics = house.admin("/metrics").text();
    let line = metrics.lines().find(|line| line.contains("outcome=\"delivered\"")).unwrap();
    assert!(line.starts_with("tidegate_writes_total{platform=\"telegram\",bot=\"123456\",key=\""), "{line}");
    assert!(line.ends_with("surface=\"send\",class=\"send\",outcome=\"delivered\"} 1"), "{line}");
}

#[test]
fn methods_of_strangers_make_no_series() {
    let house = house("");
    for n in 0..20 {
        house.call(&format!("evil{n}\u{7f}").replace('\u{7f}', ""), "chat_id=5&text=a");
    }
    let metrics = house.admin("/metrics").text();
    assert!(!metrics.contains("evil"));
    assert_eq!(metrics.lines().filter(|line| line.contains("outcome=\"accepted\"")).count(), 1);
}

#[test]
fn it_answers_only_to_its_own_names_and_changes_need_more() {
    let house = house("admin_hosts = [\"tide.example\"]");
    assert_eq!(ask(house.admin, "GET", "/v1/status", &[], b"").status, 403, "bot.example is no name of it");
    let raw = |host: &str, more: &str, verb: &str| {
        let mut client = crate::client::Client::connect(house.admin);
        client.write(format!("{verb} /v1/status HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").as_bytes());
        client.read().unwrap().status
    };
    for (host, status) in [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:8788", 200),
        ("tide.example", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
    ] {
        assert_eq!(raw(host, "", "GET"), status, "{host}");
    }
    assert_eq!(raw("localhost", "Content-Length: 0\r\n", "POST"), 415);
    let json = "Content-Length: 0\r\nContent-Type: application/json\r\n";
    assert_eq!(raw("localhost", &format!("{json}Origin: http://evil.example\r\n"), "POST"), 403);
    assert_eq!(raw("localhost", &format!("{json}Origin: http://localhost\r\n"), "POST"), 405);
}

#[test]
fn a_token_where_set_is_needed() {
    let house = house("admin_token = \"letmein\"");
    let raw = |path: &str, more: &str| {
        let mut client = crate::client::Client::connect(house.admin);
        client.write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n").as_bytes());
        client.read().unwrap().status
    };
    assert_eq!((raw("/v1/status", ""), raw("/", ""), raw("/metrics", ""), raw("/healthz", "")), (401, 401, 401, 200));
    assert_eq!(raw("/v1/status", "Authorization: Bearer letmeim\r\n"), 401);
    assert_eq!(raw("/v1/status", "Authorization: Bearer letmein\r\n"), 200);
    let admin = format!("http://{}", house.admin);
    let status = |token: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
        command.args(["status", "--json", "--admin", &admin]);
        token.map(|token| command.env("TIDEGATE_ADMIN_TOKEN", token));
        command.output().unwrap()
    };
    assert_eq!(status(None).status.code(), Some(1));
    let told = status(Some("letmein"));
    assert!(serde_json::from_slice::<serde_json::Value>(&told.stdout).unwrap()["bots"].is_array());
    assert!(!house.output().contains("letmein"));
}
