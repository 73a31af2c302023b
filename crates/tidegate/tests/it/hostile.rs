//! Clients that do not speak HTTP well, and platforms that do not answer well.

use std::fmt::Write as _;

use crate::client::{Client, ask};
use crate::fake::{Act, Fake, until};
use crate::house::{House, TOKEN};

fn ok() -> Fake {
    Fake::start(|_, _| Act::ok("true"))
}

#[test]
fn what_cannot_be_read_is_answered_in_both_shapes() {
    let fake = ok();
    let house = House::before(&fake, "");
    let line = format!("GET /bot{TOKEN}/getMe HTTP/1.1\r\n");
    let mut crowd = line.clone();
    for number in 0..300 {
        write!(crowd, "X-{number}: a\r\n").unwrap();
    }
    let long = "x".repeat(1_000_000);
    for (status, request) in [
        (431, format!("{crowd}\r\n")),
        (431, format!("{line}X-Long: {long}\r\n\r\n")),
        (414, format!("GET /bot{TOKEN}/getMe?x={} HTTP/1.1\r\n\r\n", &long[..70_000])),
        (400, format!("{line}Content-Length: -1\r\n\r\n")),
        (400, format!("GET /bot{TOKEN}/get Me HTTP/1.1\r\n\r\n")),
        (400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0".to_owned()),
        (400, "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".repeat(40)),
    ] {
        let mut client = Client::connect(house.listen);
        client.write(request.as_bytes());
        let answer = client.read().expect("an answer");
        let told = answer.json();
        assert_eq!(answer.status, status, "{told}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!((told["ok"].as_bool(), told["error_code"].as_u64()), (Some(false), Some(status.into())));
        assert!(told["message"].is_string() && told["description"].is_string() && told["code"] == 0, "{told}");
        assert!(!answer.text().contains(TOKEN));
    }
    assert_eq!(fake.count(), 0);
    assert_eq!(house.call("getMe", "").status, 200);
}

#[test]
fn tunnels_and_two_hosts_go_nowhere() {
    let fake = ok();
    let house = House::before(&fake, "");
    for target in [format!("/bot{TOKEN}/getMe"), "/api/v10/gateway".to_owned()] {
        assert_eq!(ask(house.listen, "CONNECT", &target, &[], b"").status, 400);
        let hosts = [("Host", "one.example"), ("Host", "two.example")];
        assert_eq!(ask(house.listen, "GET", &target, &hosts, b"").status, 400);
    }
    assert_eq!(fake.count(), 0);
}

#[test]
fn a_name_written_otherwise_is_the_same_name() {
    let fake = ok();
    let house = House::start(&format!("telegram.api = \"http://{0}\"\ndiscord.api = \"http://{0}\"", fake.address));
    for (target, gate) in [
        (format!("/bot{TOKEN}/%73end%4dessage?chat_id=5&text=a"), "telegram/send"),
        (
            format!("/bot{}/%74est/%65ditMessageText?chat_id=5&message_id=1&text=a", TOKEN.replace(':', "%3A")),
            "telegram/edit",
        ),
        ("/api/v10/ch%61nnels/%37/mess%61ges".to_owned(), "discord/send"),
        ("/api/%7610/channels/7/%74yping".to_owned(), "discord/typing"),
    ] {
        let answer = ask(house.listen, "POST", &target, &[], b"");
        assert_eq!((answer.status, answer.header("x-tidegate-gate")), (200, Some(gate)), "{target}");
        assert_eq!(fake.seen().last().unwrap().target, target, "it goes on as it came");
    }
    let status = house.status();
    let mut bots: Vec<&str> =
        status["bots"].as_array().unwrap().iter().map(|bot| bot["bot"].as_str().unwrap()).collect();
    bots.sort_unstable();
    assert_eq!(bots, ["123456", "123456", "tokenless"], "one of them of the test servers");
}

#[test]
fn a_client_that_uploads_on_reads_why_it_was_refused() {
    let fake = ok();
    let house = House::before(&fake, "");
    let boundary = ("Content-Type", "multipart/form-data; boundary=abc");
    let mut body = b"--abc\r\nContent-Disposition: form-data; name=\"document\"; filename=\"x\"\r\n\r\n".to_vec();
    body.resize(30 << 20, b'x');
    for (status, target, header) in [
        (413, "sendDocument", ("X-One", "1")),
        (400, "getMe", ("X-Tidegate-Class", "none")),
        (400, "%2e%2e", ("X-One", "1")),
    ] {
        let mut client = Client::connect(house.listen);
        // It fails where the connection is reset.
        client.send("POST", &format!("/bot{TOKEN}/{target}"), &[boundary, header], &body);
        let answer = client.read().expect("an answer");
        assert_eq!((answer.status, answer.json()["error_code"].as_u64()), (status, Some(status.into())));
    }
    assert_eq!(fake.count(), 0);
}

#[test]
fn a_client_that_closes_nothing_does_not_hold_up_the_end() {
    let fake = ok();
    let mut house = House::before(&fake, "");
    let mut client = Client::connect(house.listen);
    client.send("POST", &format!("/bot{TOKEN}/getMe"), &[], b"");
    assert_eq!(client.read().unwrap().status, 200);
    let begun = std::time::Instant::now();
    house.terminate();
    assert_eq!(house.wait(), Some(0));
    assert!(begun.elapsed().as_secs() < 4, "{:?}", begun.elapsed());
}

#[test]
fn half_an_answer_is_none() {
    let fake = Fake::start(|_, seen| {
        let framing = match seen.header("x-framing") {
            Some("length") => "Content-Length: 100\r\n\r\n{\"ok\":",
            Some("switch") => return Act::Says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n".to_owned()),
            Some(_) => "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"ok\"\r\n",
            None => return Act::ok("true"),
        };
        Act::Says(format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{framing}"))
    });
    let house = House::start(&format!(
        "time_scale = 0.01\ntelegram.api = \"http://{0}\"\ndiscord.api = \"http://{0}\"",
        fake.address
    ));
    assert_eq!(house.call("getMe", "").status, 200);
    for framing in ["length", "chunks", "switch"] {
        for method in ["sendMessage", "getUpdates", "getMe"] {
            let answer = house.call_with(method, &[("X-Framing", framing)], "chat_id=1&text=a");
            assert_eq!((answer.status, answer.json()["ok"].as_bool()), (503, Some(false)), "{framing} {method}");
        }
        let path = format!("/file/bot{TOKEN}/a");
        let answer = ask(house.listen, "GET", &path, &[("X-Framing", framing)], b"");
        assert_eq!(answer.status, 503, "{framing} of a file");
        let answer = ask(house.listen, "POST", "/api/v10/channels/1/messages", &[("X-Framing", framing)], b"{}");
        assert_eq!((answer.status, answer.json()["message"].is_string()), (503, true), "{framing} of Discord");
    }
    let before = fake.count();
    assert_eq!(house.call("getMe", "").status, 200);
    until("the platform is asked", || fake.count() > before);
}

#[test]
fn an_answer_with_many_headers_is_passed_on() {
    let fake = Fake::start(|_, _| {
        let mut said = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n".to_owned();
        for number in 0..200 {
            write!(said, "X-{number}: a\r\n").unwrap();
        }
        Act::Says(format!("{said}\r\n{{\"ok\":true}}"))
    });
    let house = House::before(&fake, "");
    let answer = house.call("sendMessage", "chat_id=1&text=a");
    assert_eq!((answer.status, answer.header("x-199")), (200, Some("a")));
}
