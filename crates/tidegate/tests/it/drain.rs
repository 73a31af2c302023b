//! The end, in order.

use std::sync::Arc;
use std::time::Duration;

use crate::client::Client;
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

const SLOW: &str = "[policy.telegram.buckets.chat_second]\nbucket = \"1/600s\"\nburst = 1\n";
const PATIENT: [(&str, &str); 1] = [("X-Tidegate-Max-Hold", "10min")];

#[test]
fn what_is_out_is_answered_what_is_held_is_refused_and_polls_end() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |_, seen| match seen.target.rsplit('/').next() {
        Some("getUpdates" | "sendPhoto") => Act::Wait(Arc::clone(&opened), Box::new(Act::ok("1"))),
        _ => Act::ok("true"),
    });
    let mut house = House::before(&fake, &format!("drain_timeout = \"2s\"\n{SLOW}"));
    house.call("sendMessage", "chat_id=5&text=a");
    let mut poll = house.begin("getUpdates", &[], "");
    let mut out = house.begin("sendPhoto", &[], "chat_id=6");
    let mut held = house.begin("sendMessage", &PATIENT, "chat_id=5&text=b");
    until("all are there", || fake.count() == 3 && house.held() == 1);
    house.terminate();
    assert_eq!(poll.read().unwrap().status, 503);
    assert_eq!(house.admin("/readyz").text(), "draining\n");
    until("no new connection is taken", || std::net::TcpStream::connect(house.listen).is_err());
    gate.open();
    assert_eq!(out.read().unwrap().status, 200);
    let refused = held.read().unwrap();
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert_eq!(house.wait(), Some(0));
    assert_eq!(fake.count(), 3);
    house.has_said("held=1 in_flight=2 seconds=2");
    house.has_said("what is still held is refused held=1");
    house.has_said("stopped");
}

#[test]
fn with_nothing_to_do_it_ends_at_once() {
    let fake = Fake::start(|_, _| Act::ok("true"));
    let mut house = House::before(&fake, "drain_timeout = \"10min\"");
    house.call("getMe", "");
    house.terminate();
    assert_eq!(house.wait(), Some(0));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let gate = Arc::new(Gate::default());
    let shut = Arc::clone(&gate);
    let fake = Fake::start(move |_, _| Act::Wait(Arc::clone(&shut), Box::new(Act::ok("1"))));
    let mut house = House::before(&fake, "drain_timeout = \"10min\"");
    let _out = house.begin("sendPhoto", &[], "chat_id=6");
    until("it is out", || fake.count() == 1);
    house.terminate();
    house.has_said("in_flight=1 seconds=600");
    house.terminate();
    assert_eq!(house.wait(), Some(1));
    house.has_said("cut off calls=1");
    gate.open();
}

/// A tidegate whose two platforms are one fake, both with budgets that are used up by one write.
fn both(fake: &Fake, config: &str) -> House {
    House::before(fake, &format!("discord.api = \"http://{}\"\n{config}{SLOW}", fake.address))
}

const AUTHORIZATION: (&str, &str) =
    ("Authorization", "Bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0");

fn discord(house: &House, method: &str, path: &str) -> Client {
    let mut client = Client::connect(house.listen);
    let headers = [AUTHORIZATION, ("Content-Type", "application/json"), PATIENT[0]];
    client.send(method, &format!("/api/v10{path}"), &headers, b"{}");
    client
}

/// A platform that never answers what is slow.
fn silent(gate: &Arc<Gate>) -> Fake {
    let shut = Arc::clone(gate);
    Fake::start(move |_, seen| {
        let is_slow = seen.target.contains("slow") || seen.text().contains("slow");
        if is_slow { Act::Wait(Arc::clone(&shut), Box::new(Act::ok("1"))) } else { Act::ok("true") }
    })
}

#[test]
fn e4a_what_is_still_with_the_platform_at_the_end_is_told_that_nobody_knows() {
    let gate = Arc::new(Gate::default());
    let fake = silent(&gate);
    let mut house = both(&fake, "drain_timeout = \"1s\"\n");
    house.call("getMe", "");
    assert_eq!(discord(&house, "GET", "/users/@me").read().unwrap().status, 200);
    house.call("sendMessage", "chat_id=5&text=a");
    let telegram = ["sendMessage", "getMe", "answerCallbackQuery", "editMessageText"];
    let out_telegram: Vec<Client> = telegram
        .iter()
        .zip(6..)
        .map(|(method, chat)| house.begin(method, &[], &format!("chat_id={chat}&message_id=1&text=slow")))
        .collect();
    let paths = [
        ("POST", "/channels/7/messages?slow"),
        ("GET", "/channels/7?slow"),
        ("PATCH", "/channels/8/messages/9?slow"),
        ("POST", "/interactions/9/aToken/callback?slow"),
        ("POST", "/webhooks/9/aToken?slow"),
    ];
    let out_discord: Vec<Client> = paths.iter().map(|(method, path)| discord(&house, method, path)).collect();
    let mut file = Client::connect(house.listen);
    file.send("GET", &format!("/file/bot{TOKEN}/slow"), &[], b"");
    let mut held = house.begin("sendMessage", &PATIENT, "chat_id=5&text=b");
    until("all are there", || fake.count() == 13 && house.held() == 1);
    house.terminate();
    for (mut client, what) in out_telegram.into_iter().zip(telegram) {
        let answer = client.read().expect(what);
        assert_eq!(
            (answer.status, answer.outcome(), answer.json()["ok"].as_bool()),
            (503, "unknown", Some(false)),
            "{what}"
        );
        assert_eq!(answer.header("retry-after"), Some("5"), "{what}");
    }
    for (mut client, what) in out_discord.into_iter().zip(paths) {
        let answer = client.read().unwrap_or_else(|| panic!("{what:?}"));
        assert_eq!((answer.status, answer.outcome()), (503, "unknown"), "{what:?}");
        assert!(answer.json()["message"].is_string() && answer.header("retry-after") == Some("5"), "{what:?}");
    }
    assert_eq!(file.read().expect("an answer for a file").status, 503);
    let refused = held.read().unwrap();
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    let wait = refused.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert!((300..=600).contains(&wait), "its place's time: {wait}");
    assert_eq!(house.wait(), Some(0));
    assert_eq!(fake.count(), 13, "nothing was sent again");
    gate.open();
}

#[test]
fn e4b_a_request_that_comes_while_it_goes_down_is_answered() {
    let gate = Arc::new(Gate::default());
    let fake = silent(&gate);
    let mut house = both(&fake, "drain_timeout = \"2s\"\n");
    house.call("getMe", "");
    let mut out = house.begin("sendMessage", &[], "chat_id=6&text=slow");
    until("it is out", || fake.count() == 2);
    // Clients that ask again as soon as they are answered: each of their requests has an answer, the last says that it is.
    let listen = house.listen;
    let busy: Vec<_> = (0..8)
        .map(|number| {
            std::thread::spawn(move || {
                let mut client = Client::connect(listen);
                for asked in 0.. {
                    if number % 2 == 0 {
                        client.send("POST", &format!("/bot{TOKEN}/getMe"), &[], b"");
                    } else {
                        client.send("POST", "/api/v10/interactions/9/aToken/callback", &[AUTHORIZATION], b"{}");
                    }
                    let answer = client.read().unwrap_or_else(|| panic!("request {asked} has no answer"));
                    if answer.header("connection") == Some("close") {
                        return answer;
                    }
                    assert_eq!(answer.status, 200);
                }
                unreachable!()
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    house.terminate();
    for client in busy {
        let last = client.join().unwrap();
        assert!(last.status == 200 || (last.status, last.outcome()) == (429, "refused"), "{last:?}");
    }
    assert_eq!(out.read().unwrap().status, 503);
    assert_eq!(house.wait(), Some(0));
    gate.open();
}

#[test]
fn e4c_uploads_under_way_and_bodies_half_read_are_answered() {
    let gate = Arc::new(Gate::default());
    let fake = silent(&gate);
    let mut house = both(&fake, "drain_timeout = \"1s\"\ndecision_timeout = \"60s\"\n");
    house.call("getMe", "");
    let begins = |target: &str, kind: &str, length: usize, body: &[u8]| {
        let mut client = Client::connect(house.listen);
        let (name, value) = AUTHORIZATION;
        client.write(
            format!("POST {target} HTTP/1.1\r\nHost: x\r\n{name}: {value}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n")
                .as_bytes(),
        );
        client.write(body);
        client
    };
    let form = "application/x-www-form-urlencoded";
    let mut half = begins(&format!("/bot{TOKEN}/sendMessage"), form, 100, b"chat_id=5&te");
    let mut half_of_discords = begins("/api/v10/channels/7/messages", "application/json", 100, b"{");
    let part = b"--B\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n7\r\n--B\r\n\
                 Content-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n";
    let upload = [&part[..], &vec![b'x'; 200_000]].concat();
    let mut upload = begins(&format!("/bot{TOKEN}/sendDocument"), "multipart/form-data; boundary=B", 1 << 20, &upload);
    until("they are being read", || house.status()["buffered_bytes"].as_u64() > Some(60_000));
    house.terminate();
    for half in [&mut half, &mut half_of_discords] {
        let answer = half.read().expect("an answer");
        assert_eq!((answer.status, answer.outcome(), answer.header("connection")), (429, "refused", Some("close")));
    }
    let answer = upload.read().expect("an answer");
    assert_eq!((answer.status, answer.outcome(), answer.header("connection")), (503, "unknown", Some("close")));
    assert_eq!(house.wait(), Some(0));
    gate.open();
}

/// Of the time that is left the platform's slow answers are kept: what is sent later would be answered too late.
#[test]
fn e4d_nothing_is_sent_that_would_not_be_answered_in_time() {
    let fake = Fake::start(|_, _| {
        std::thread::sleep(Duration::from_millis(400));
        Act::ok("true")
    });
    // The next message of a chat goes after 900 ms of real time.
    let chat = "[policy.telegram.buckets.chat_second]\nbucket = \"1/90s\"\nburst = 1\n";
    let mut house = House::before(&fake, &format!("drain_timeout = \"1s\"\n{chat}"));
    house.call("getMe", "");
    let mut out = house.begin("sendMessage", &[], "chat_id=5&text=a");
    until("it is out", || fake.count() == 2);
    let mut held = house.begin("sendMessage", &PATIENT, "chat_id=5&text=b");
    until("it is held", || house.held() == 1);
    house.terminate();
    assert_eq!(out.read().unwrap().status, 200);
    let refused = held.read().unwrap();
    assert_eq!((refused.status, refused.outcome()), (429, "refused"));
    assert_eq!(house.wait(), Some(0));
    assert_eq!(fake.count(), 2);
}

#[test]
fn e4e_a_call_that_never_left_is_not_told_that_it_may_have() {
    // Connecting there takes for ever: a listener whose queue is full.
    let full = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = full.local_addr().unwrap();
    let listener = socket2::SockRef::from(&full);
    listener.listen(0).unwrap();
    let filled: Vec<_> =
        (0..4).map_while(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok()).collect();
    let mut house = House::start(&format!("drain_timeout = \"1s\"\ntelegram.api = \"http://{address}\""));
    let mut out = house.begin("sendMessage", &[], "chat_id=5&text=a");
    until("it is under way", || house.status()["bots"][0]["calls"] == 1);
    house.terminate();
    let answer = out.read().expect("an answer");
    assert_eq!((answer.status, answer.outcome(), answer.header("retry-after")), (503, "refused", Some("5")));
    assert_eq!(house.wait(), Some(0));
    drop(filled);
}

#[test]
fn e4f_an_edit_that_another_took_the_place_of_is_told_what_that_one_is_told() {
    let gate = Arc::new(Gate::default());
    let fake = silent(&gate);
    let mut house = both(&fake, "drain_timeout = \"1s\"\n");
    house.call("sendMessage", "chat_id=5&text=a");
    let edit = |text: &str| house.begin("editMessageText", &PATIENT, &format!("chat_id=5&message_id=9&text={text}"));
    let mut older = edit("a");
    until("it is held", || house.held() == 1);
    let mut newer = edit("b");
    house.terminate();
    let (older, newer) = (older.read().unwrap(), newer.read().unwrap());
    assert_eq!((newer.status, older.status), (429, 429), "{older:?} {newer:?}");
    assert_eq!(house.wait(), Some(0));
    assert_eq!(fake.count(), 1);
    gate.open();
}
