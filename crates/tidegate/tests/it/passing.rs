//! What comes is what goes.

use std::sync::Arc;

use crate::client::{Client, ask};
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

fn echo() -> Fake {
    Fake::start(|_, _| Act::ok("true"))
}

#[test]
fn method_target_headers_and_body_pass_untouched() {
    let fake = echo();
    let house = House::before(&fake, "");
    let body = br#"{"chat_id":"-5","text":"a\u00e9 %20"}"#;
    let target = format!("/bot{TOKEN}/SendMessage?x=%20y&z=+");
    let headers = [
        ("Content-Type", "application/json"),
        ("User-Agent", "mine/1"),
        ("X-Other", "kept"),
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "gone"),
        ("Keep-Alive", "timeout=5"),
        ("X-Tidegate-Class", "interactive"),
        ("X-Tidegate-Peer", "7"),
        ("X-Tidegate-Whatever", "1"),
    ];
    let answer = ask(house.listen, "POST", &target, &headers, body);
    assert_eq!((answer.status, answer.outcome()), (200, "admitted"));
    assert_eq!(answer.header("x-tidegate-gate"), Some("telegram/send"));
    assert_eq!(answer.header("x-tidegate-held-ms"), Some("0"));
    let seen = &fake.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", target.as_str()));
    assert_eq!(seen.body, body);
    assert_eq!(seen.header("host"), Some(fake.address.to_string().as_str()));
    assert_eq!(seen.header("user-agent"), Some("mine/1"));
    assert_eq!(seen.header("x-other"), Some("kept"));
    assert_eq!(seen.header("content-length"), Some(body.len().to_string().as_str()));
    for gone in
        ["x-hop", "keep-alive", "x-tidegate-class", "x-tidegate-peer", "x-tidegate-whatever", "transfer-encoding"]
    {
        assert_eq!(seen.header(gone), None, "{gone}");
    }
}

#[test]
fn answers_pass_untouched_but_for_the_platforms_own_words_to_us() {
    let fake = Fake::start(|_, seen| match seen.target.rsplit('/').next() {
        Some("getMe") => Act::Answer(
            302,
            vec![("Location", "http://elsewhere/".into()), ("X-Tidegate-Outcome", "lie".into()), ("X-Y", "z".into())],
            "body".into(),
        ),
        _ => Act::Answer(404, vec![], "{\"ok\":false,\"description\":\"Not Found: method not found\"}".into()),
    });
    let house = House::before(&fake, "");
    let answer = house.call("getMe", "");
    assert_eq!((answer.status, answer.header("location")), (302, Some("http://elsewhere/")));
    assert_eq!((answer.outcome(), answer.header("x-y"), answer.text().as_str()), ("bypass", Some("z"), "body"));
    let answer = house.call("methodOfTomorrow", "chat_id=4");
    assert_eq!((answer.status, answer.header("x-tidegate-gate")), (404, Some("telegram/write")));
    assert_eq!(fake.count(), 2);
}

#[test]
fn a_get_with_a_body_and_a_chunked_body_arrive_whole() {
    let fake = echo();
    let house = House::before(&fake, "");
    let target = format!("/bot{TOKEN}/getMe");
    ask(house.listen, "GET", &target, &[("Content-Type", "application/json")], b"{}");
    let mut client = Client::connect(house.listen);
    client.write(format!("POST {target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes());
    client.write(b"3\r\nabc\r\n");
    client.write(b"4\r\ndefg\r\n0\r\n\r\n");
    assert_eq!(client.read().unwrap().status, 200);
    let seen = fake.seen();
    assert_eq!((seen[0].method.as_str(), seen[0].text().as_str()), ("GET", "{}"));
    assert_eq!(seen[1].text(), "abcdefg");
}

#[test]
fn a_large_upload_streams_wherever_its_chat_stands_before_the_file() {
    let fake = echo();
    let house = House::before(&fake, "");
    let file = vec![b'x'; 3 << 20];
    let field = |name: &str, value: &str| {
        format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").into_bytes()
    };
    let part = b"--B\r\nContent-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n";
    let first = [field("chat_id", "-7"), part.to_vec(), file.clone(), b"\r\n--B--\r\n".to_vec()].concat();
    let kind = [("Content-Type", "multipart/form-data; boundary=B")];
    let target = format!("/bot{TOKEN}/sendDocument");
    let answer = ask(house.listen, "POST", &target, &kind, &first);
    assert_eq!((answer.status, answer.header("x-tidegate-gate")), (200, Some("telegram/send")));
    assert_eq!(fake.seen()[0].body, first);
    // Chunked, as most libraries send files.
    let mut client = Client::connect(house.listen);
    client.write(
        format!(
            "POST {target} HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
            kind[0].1
        )
        .as_bytes(),
    );
    for chunk in first.chunks(100_000) {
        client.write(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    client.write(b"0\r\n\r\n");
    assert_eq!(client.read().unwrap().status, 200);
    assert_eq!(fake.seen()[1].body, first);
    assert_eq!(fake.seen()[1].header("content-length"), None);
    // Behind a small file it is found as well.
    let small =
        [part.to_vec(), vec![b'y'; 300_000], b"\r\n".to_vec(), field("chat_id", "-7"), b"--B--\r\n".to_vec()].concat();
    assert_eq!(ask(house.listen, "POST", &target, &kind, &small).status, 200);
    assert_eq!(fake.seen()[2].body, small);
    let mut peers = house.status()["bots"][0]["peers"].as_u64();
    assert_eq!(peers.take(), Some(1), "all three went to one peer");
}

#[test]
fn an_upload_that_hides_its_chat_is_told_the_fix() {
    let fake = echo();
    let house = House::before(&fake, "multipart_max = \"128KiB\"");
    let part = b"--B\r\nContent-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n".to_vec();
    let body = [part, vec![b'x'; 2 << 20], b"\r\n--B--\r\n".to_vec()].concat();
    let kind = [("Content-Type", "multipart/form-data; boundary=B")];
    let mut client = Client::connect(house.listen);
    client.write(
        format!(
            "POST /bot{TOKEN}/sendDocument HTTP/1.1\r\nHost: x\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n",
            kind[0].1,
            body.len()
        )
        .as_bytes(),
    );
    client.write(&body[..200_000]);
    let answer = client.read().unwrap();
    assert_eq!(answer.status, 413);
    assert!(answer.json()["description"].as_str().unwrap().contains("chat_id before the file"));
    assert_eq!(fake.count(), 0);
    // A method that needs no chat takes its file all the same.
    let answer = ask(house.listen, "POST", &format!("/bot{TOKEN}/uploadStickerFile"), &kind, &body);
    assert_eq!((answer.status, fake.seen()[0].body.len()), (200, body.len()));
}

#[test]
fn long_polls_pass_and_their_clients_leaving_ends_them() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        0 => Act::error(409, "Conflict: terminated by other getUpdates request"),
        _ => Act::Wait(Arc::clone(&opened), Box::new(Act::ok("[]"))),
    });
    let house = House::before(&fake, "");
    let answer = house.call("GetUpdates", "timeout=50");
    assert_eq!((answer.status, answer.header("x-tidegate-outcome")), (409, None));
    let leaving = house.begin("getUpdates", &[], "timeout=50");
    until("the poll arrives", || fake.count() == 2);
    drop(leaving);
    until("the poll is cancelled", || fake.left() == 1);
    let mut staying = house.begin("getUpdates", &[], "timeout=50");
    until("the poll arrives", || fake.count() == 3);
    gate.open();
    assert_eq!(staying.read().unwrap().text(), "{\"ok\":true,\"result\":[]}");
}

/// T34: two pollers are two calls to the platform, which says which of them may stay. Also when the first came before
/// anything had shown that the token works.
#[test]
fn t34_a_second_poll_never_waits_for_the_first() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |_, seen| {
        if seen.target.ends_with("/getUpdates") {
            Act::Wait(Arc::clone(&opened), Box::new(Act::ok("[]")))
        } else {
            Act::ok("true")
        }
    });
    let house = House::before(&fake, "");
    let mut first = house.begin("getUpdates", &[], "timeout=50");
    until("the first poll arrives", || fake.count() == 1);
    // The token is unproven still: this one stands in line until a call has worked.
    let mut second = house.begin("getUpdates", &[], "timeout=50");
    assert_eq!(house.call("getMe", "").status, 200);
    until("the second poll arrives", || fake.count() == 3);
    let mut third = house.begin("getUpdates", &[], "timeout=50");
    until("the third poll arrives", || fake.count() == 4);
    gate.open();
    for poll in [&mut first, &mut second, &mut third] {
        assert_eq!(poll.read().unwrap().status, 200);
    }
}

#[test]
fn files_and_the_test_environment_pass() {
    let fake = Fake::start(|_, seen| {
        if seen.target.starts_with("/file/") {
            Act::Answer(200, vec![("Content-Type", "image/png".into())], "x".repeat(200_000))
        } else {
            Act::ok("true")
        }
    });
    let house = House::before(&fake, "");
    let target = format!("/file/bot{TOKEN}/photos/file_1%20a.png");
    let answer = ask(house.listen, "GET", &target, &[("Range", "bytes=0-")], b"");
    assert_eq!((answer.status, answer.body.len()), (200, 200_000));
    let target = format!("/bot{TOKEN}/test/getMe");
    assert_eq!(ask(house.listen, "GET", &target, &[], b"").status, 200);
    let seen = fake.seen();
    assert_eq!(seen[0].header("range"), Some("bytes=0-"));
    assert_eq!(seen[1].target, target);
    assert_eq!(house.status()["bots"].as_array().unwrap().len(), 2, "the test environment has bots of its own");
}

#[test]
fn what_is_not_served_says_what_is() {
    let house = House::before(&echo(), "");
    for path in ["/", "/nothing", "/bot", "/bot/getMe"] {
        let answer = ask(house.listen, "GET", path, &[], b"");
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
        assert!(answer.json()["description"].is_string(), "{path}");
    }
}
