//! E6: an answer that comes before the request was read to its end reaches a client that reads nothing before it has sent
//! all, and the client's next call on that connection, where the answer lets it stay, works.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::client::{Answer, Client};
use crate::fake::{Act, Fake};
use crate::house::{House, TOKEN};

const AUTHORIZATION: (&str, &str) =
    ("Authorization", "Bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0");
const MULTIPART: (&str, &str) = ("Content-Type", "multipart/form-data; boundary=B");
const MIB: usize = 1 << 20;

/// A platform that refuses what has a body as soon as it has seen the head, and reads no more; it answers other calls.
fn hasty(body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while stream.read(&mut byte).is_ok_and(|read| read == 1) {
                    head.push(byte[0]);
                    if !head.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    let has_body = String::from_utf8_lossy(&head).to_ascii_lowercase().contains("multipart");
                    let (status, body) = if has_body { ("413 Too Large", body) } else { ("200 OK", "{\"ok\":true}") };
                    let length = body.len();
                    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
                    stream.write_all(answer.as_bytes()).unwrap();
                    if has_body {
                        // Neither read on nor closed: that is the other side's matter.
                        std::thread::sleep(Duration::from_secs(20));
                        return;
                    }
                    head.clear();
                }
            });
        }
    });
    address
}

fn house(platform: SocketAddr, config: &str) -> House {
    House::start(&format!("telegram.api = \"http://{platform}\"\ndiscord.api = \"http://{platform}\"\n{config}"))
}

/// Sends all of an upload before it reads a word.
fn upload(client: &mut Client, target: &str, headers: &[(&str, &str)], length: usize, chunked: bool) -> Answer {
    let part = b"--B\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n7\r\n--B\r\n\
                 Content-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n";
    let body = [&part[..], &vec![b'x'; length], b"\r\n--B--\r\n"].concat();
    let mut head = format!("POST {target} HTTP/1.1\r\n");
    let host = [("Host", "bot.example")];
    let named = headers.iter().any(|(name, _)| *name == "Host");
    for (name, value) in headers.iter().chain(host.iter().filter(|_| !named)) {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if chunked {
        client.write(format!("{head}Transfer-Encoding: chunked\r\n\r\n").as_bytes());
        for chunk in body.chunks(64 << 10) {
            client.write(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
        }
        client.write(b"0\r\n\r\n");
    } else {
        client.write(format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        for piece in body.chunks(64 << 10) {
            client.write(piece);
        }
    }
    client.read().expect("an answer")
}

/// Either the answer says that the connection ends, and it does, or the next call works on it.
fn goes_on(client: &mut Client, answer: &Answer, next: (&str, &str), what: &str) {
    if answer.header("connection") == Some("close") {
        assert!(client.read().is_none(), "{what}: it ends");
    } else {
        client.send(next.0, next.1, &[AUTHORIZATION], b"");
        assert_eq!(client.read().expect(what).status, 200, "{what}");
    }
}

#[test]
fn e6a_a_platforms_early_answer_arrives_and_a_pooled_client_can_go_on() {
    let platform = hasty("{\"ok\":false,\"error_code\":413,\"description\":\"Request Entity Too Large\"}");
    let house = house(platform, "");
    let get_me = format!("/bot{TOKEN}/getMe");
    let document = format!("/bot{TOKEN}/sendDocument");
    let users = ("GET", "/api/v10/users/@me");
    for (target, next) in [(document.as_str(), ("GET", get_me.as_str())), ("/api/v10/channels/7/messages", users)] {
        let mut client = Client::connect(house.listen);
        client.send(next.0, next.1, &[AUTHORIZATION], b"");
        assert_eq!(client.read().unwrap().status, 200);
        for (mib, chunked) in [(1, false), (4, false), (7, false), (4, true), (7, true), (40, false), (40, true)] {
            let what = format!("{target} {mib} {chunked}");
            let mut client = Client::connect(house.listen);
            let answer = upload(&mut client, target, &[AUTHORIZATION, MULTIPART], mib * MIB, chunked);
            assert_eq!(answer.status, 413, "{what}");
            assert!(answer.text().contains("Too Large"), "{what}");
            goes_on(&mut client, &answer, next, &what);
        }
    }
}

/// Nothing of such an answer fits into what systems keep for a client that does not read.
#[test]
fn e6b_a_long_early_answer_waits_for_no_client_that_sends_first() {
    let long: &'static str = Box::leak("y".repeat(12 * MIB).into_boxed_str());
    let house = house(hasty(long), "");
    for chunked in [false, true] {
        let mut client = Client::connect(house.listen);
        let target = format!("/bot{TOKEN}/sendDocument");
        let answer = upload(&mut client, &target, &[MULTIPART], 30 * MIB, chunked);
        assert_eq!((answer.status, answer.body.len()), (413, long.len()), "{chunked}");
        assert_eq!(answer.header("connection"), Some("close"), "{chunked}");
    }
}

#[test]
fn e6c_refusals_of_tidegates_own_arrive_before_an_upload_is_over() {
    let fake = Fake::start(|_, seen| {
        if seen.target.contains("/bot1:gone/") { Act::error(401, "Unauthorized") } else { Act::ok("true") }
    });
    let slow = "multipart_max = \"128KiB\"\n[policy.telegram.buckets.chat_second]\nbucket = \"1/600s\"\nburst = 1\n";
    let house = house(fake.address, slow);
    let get_me = format!("/bot{TOKEN}/getMe");
    house.call("sendMessage", "chat_id=7&text=a");
    for _ in 0..2 {
        crate::client::ask(house.listen, "GET", "/bot1:gone/getMe", &[], b"");
    }
    let big = "z".repeat(70_000);
    for (target, header, status) in [
        (format!("/bot{TOKEN}/sendDocument"), MULTIPART, 429),
        (format!("/bot{TOKEN}/sendDocument"), ("Content-Type", "multipart/form-data; boundary=NONE"), 413),
        (format!("/bot{TOKEN}/%00"), MULTIPART, 400),
        (format!("/bot{TOKEN}/sendDocument"), ("X-Tidegate-Class", "urgent"), 400),
        ("/nothing".to_owned(), MULTIPART, 404),
        ("/bot/sendDocument".to_owned(), MULTIPART, 404),
        ("/bot1:gone/sendDocument".to_owned(), MULTIPART, 401),
        ("/identify?shard=0".to_owned(), MULTIPART, 405),
        ("/api/v10/channels/%00/messages".to_owned(), MULTIPART, 400),
        (format!("/bot{TOKEN}/sendDocument?{big}"), MULTIPART, 414),
    ] {
        for (mib, chunked) in [(1, false), (4, false), (7, true), (40, false), (40, true)] {
            let what = format!("{} {mib} {chunked}", &target[..target.len().min(60)]);
            let mut client = Client::connect(house.listen);
            let answer = upload(&mut client, &target, &[header, AUTHORIZATION], mib * MIB, chunked);
            assert_eq!(answer.status, status, "{what}");
            goes_on(&mut client, &answer, ("GET", &get_me), &what);
        }
    }
}

#[test]
fn e6d_a_client_that_waits_to_be_asked_is_not_made_to_send_what_nobody_wants() {
    let house = house(Fake::start(|_, _| Act::ok("true")).address, "");
    let mut client = Client::connect(house.listen);
    client.write(b"POST /nothing HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4000000\r\n\r\n");
    let answer = client.read().unwrap();
    assert_eq!((answer.status, answer.header("connection")), (404, Some("close")));
    assert!(client.read().is_none());
}

#[test]
fn e6e_the_operators_port_answers_uploads_too() {
    let house = house(Fake::start(|_, _| Act::ok("true")).address, "");
    let host = house.admin.to_string();
    for (target, status) in [("/v1/status", 405), ("/nothing", 404), ("/bot1:a/sendDocument", 404)] {
        for (mib, chunked) in [(1, false), (4, false), (7, true), (40, false), (40, true)] {
            let what = format!("{target} {mib} {chunked}");
            let mut client = Client::connect(house.admin);
            let headers = [("Content-Type", "application/json"), ("Host", host.as_str())];
            let answer = upload(&mut client, target, &headers, mib * MIB, chunked);
            assert_eq!(answer.status, status, "{what}");
            if answer.header("connection") == Some("close") {
                assert!(client.read().is_none(), "{what}");
            } else {
                client.send("GET", "/healthz", &[("Host", host.as_str())], b"");
                assert_eq!(client.read().expect(&what).status, 200, "{what}");
            }
        }
    }
}
