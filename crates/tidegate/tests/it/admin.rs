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
    // "operator:letmein", ":letmeim"
    assert_eq!(raw("/", "Authorization: Basic b3BlcmF0b3I6bGV0bWVpbg==\r\n"), 200);
    for wrong in ["Basic OmxldG1laW0=", "Basic bGV0bWVpbg==", "Basic ?", "Basic", "letmein"] {
        assert_eq!(raw("/", &format!("Authorization: {wrong}\r\n")), 401, "{wrong}");
    }
    let asked = house.admin("/");
    let ways: Vec<&str> =
        asked.headers.iter().filter(|(n, _)| n == "www-authenticate").map(|(_, v)| v.as_str()).collect();
    assert_eq!(ways, ["Bearer", "Basic realm=\"tidegate\""]);
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

#[test]
fn a_platform_that_does_not_answer_is_told() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let house = House::start(&format!("telegram.api = \"http://{address}\"\n"));
    assert_eq!(house.status()["telegram"]["reachable"], serde_json::Value::Null);
    for _ in 0..3 {
        assert_eq!(house.call("getMe", "").status, 503);
    }
    house.has_said("no answer from upstream: bots get 503");
    assert_eq!(house.status()["telegram"]["reachable"], false);
    let (told, _) = status(&["--admin", &format!("http://{}", house.admin)]);
    assert!(told.contains(&format!("Telegram does not answer at http://{address}/")), "{told}");
    let back = Fake::start_at(address, |_, _| Act::ok("true"));
    assert_eq!(house.call("getMe", "").status, 200);
    house.has_said("upstream answers again");
    assert_eq!((house.status()["telegram"]["reachable"].as_bool(), back.count()), (Some(true), 1));
    assert_eq!(house.output().matches("bots get 503").count(), 1, "once a minute: {}", house.output());
    assert!(!house.output().contains(crate::house::SECRET));
}

#[test]
fn a_bot_at_the_operators_port_is_told_where_to_go() {
    let house = house("admin_token = \"letmein\"");
    for path in [&format!("/bot{}/sendMessage", crate::house::TOKEN), "/api/v10/channels/1/messages"] {
        let told = ask(house.admin, "POST", path, &[("Content-Type", "text/plain")], b"x");
        assert_eq!(told.status, 404, "{path}");
        assert!(told.json()["description"].as_str().unwrap().contains("operators' port"), "{}", told.text());
        assert!(!told.text().contains(crate::house::SECRET));
    }
}

#[test]
fn a_wrong_address_is_named() {
    let house = house("");
    let (told, code) = status(&["--admin", &format!("http://{}", house.listen)]);
    assert_eq!(code, Some(1));
    assert!(told.contains("is the port for bots") && !told.contains('{'), "{told}");
    let (told, code) = status(&["--admin", "nowhere.invalid"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("nowhere.invalid (port 8788)"), "{told}");
}

/// What `tidegate status` prints, and how it ends.
fn status(arguments: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_tidegate")).arg("status").args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.code())
}
