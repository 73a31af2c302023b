//! E3: a held call ends before its library gives up, so that it is not sent twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, ask};
use crate::fake::{Act, Fake, Gate, until};
use crate::house::{House, TOKEN};

const PTB: [(&str, &str); 2] = [
    ("User-Agent", "python-telegram-bot v22.8 (https://python-telegram-bot.org)"),
    ("Content-Type", "application/x-www-form-urlencoded"),
];
/// A fifth of real time: what takes the platform 1.5 s takes 300 ms here.
const SCALE: &str = "time_scale = 0.2\n";

/// A chat takes one message, and the next after so long.
fn chat(every: &str) -> String {
    format!("[policy.telegram.buckets.chat_second]\nbucket = \"1/{every}\"\nburst = 1\n")
}

/// A platform that takes so long for everything.
fn slow(took: Duration) -> Fake {
    Fake::start(move |_, _| {
        std::thread::sleep(took);
        Act::ok("true")
    })
}

fn house(fake: &Fake, config: &str) -> House {
    House::start(&format!("{SCALE}telegram.api = \"http://{0}\"\ndiscord.api = \"http://{0}\"\n{config}", fake.address))
}

fn begin(house: &House, form: &str) -> Client {
    let mut client = Client::connect(house.listen);
    client.send("POST", &format!("/bot{TOKEN}/sendMessage"), &PTB, form.as_bytes());
    client
}

fn send(house: &House, form: &str) -> crate::client::Answer {
    begin(house, form).read().unwrap()
}

/// python-telegram-bot at its defaults: it gives up after 5 s, and its bot sends the text again.
#[test]
fn e3a_no_text_stands_twice_where_the_platform_is_slow() {
    let fake = slow(Duration::from_millis(300));
    let house = house(&fake, &chat("3800ms"));
    send(&house, "chat_id=1&text=first");
    let mut sending: Vec<_> =
        (0..2).map(|number| (number, begin(&house, &format!("chat_id=5&text={number}")))).collect();
    while let Some((number, mut client)) = sending.pop() {
        client.gives_up_after(Duration::from_secs(1));
        match client.read() {
            Some(answer) if answer.status == 429 => {
                let wait = answer.json()["parameters"]["retry_after"].as_u64().unwrap();
                std::thread::sleep(Duration::from_millis(200 * wait));
            }
            Some(answer) => {
                assert_eq!(answer.status, 200);
                continue;
            }
            None => {}
        }
        sending.push((number, begin(&house, &format!("chat_id=5&text={number}"))));
    }
    let mut texts = HashMap::new();
    for seen in fake.seen() {
        *texts.entry(seen.text()).or_insert(0) += 1;
    }
    assert!(texts.len() == 3 && texts.values().all(|times| *times == 1), "{texts:?}");
}

#[test]
fn e3b_a_hold_leaves_room_for_the_platforms_recent_slow_answers() {
    // 2.5 s may be held before a platform that takes 1.5 s, and not 3.5 s.
    let fake = slow(Duration::from_millis(300));
    let house = house(&fake, &chat("3500ms"));
    send(&house, "chat_id=1&text=a");
    let figure = house.status()["telegram"]["slow_answers_ms"].as_u64().unwrap();
    assert!((1500..10_000).contains(&figure), "{figure}");
    assert!(house.admin("/metrics").text().contains("tidegate_slow_answers_seconds{platform=\"telegram\"} "));
    let mut first = begin(&house, "chat_id=5&text=a");
    until("it is out", || fake.count() == 2);
    assert_eq!(send(&house, "chat_id=5&text=b").status, 429);
    assert_eq!(first.read().unwrap().status, 200);
}

#[test]
fn e3c_a_hold_that_began_before_the_platform_was_seen_to_be_slow_becomes_shorter() {
    let gate = Arc::new(Gate::default());
    let opened = Arc::clone(&gate);
    let fake = Fake::start(move |number, _| match number {
        1 => Act::Wait(Arc::clone(&opened), Box::new(Act::ok("true"))),
        _ => Act::ok("true"),
    });
    let house = house(&fake, &chat("3800ms"));
    send(&house, "chat_id=1&text=a");
    let mut out = begin(&house, "chat_id=4&text=a");
    until("it is out", || fake.count() == 2);
    assert_eq!(send(&house, "chat_id=5&text=a").status, 200);
    let mut held = begin(&house, "chat_id=5&text=b");
    until("it is held", || house.held() == 1);
    // The call to another chat took more than 1.3 s until now, which are 260 ms here.
    std::thread::sleep(Duration::from_millis(280));
    gate.open();
    assert_eq!((out.read().unwrap().status, held.read().unwrap().status), (200, 429));
}

#[test]
fn e3d_polls_and_uploads_say_nothing_of_how_slow_the_platform_is() {
    let fake = Fake::start(|_, seen| {
        if seen.target.ends_with("getUpdates")
            || seen.target.ends_with("sendDocument")
            || seen.target.contains("/file/")
        {
            std::thread::sleep(Duration::from_millis(600));
        }
        Act::ok("[]")
    });
    let house = house(&fake, "");
    house.call("getMe", "");
    let figure = || house.status()["telegram"]["slow_answers_ms"].as_u64().unwrap();
    let quick = figure();
    assert!(quick < 2_000, "{quick}");
    house.call("getUpdates", "timeout=3");
    ask(house.listen, "GET", &format!("/file/bot{TOKEN}/a"), &[], b"");
    let part = "--B\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n7\r\n--B\r\n\
                Content-Disposition: form-data; name=\"document\"; filename=\"f\"\r\n\r\n";
    let body = [part.as_bytes(), &vec![b'x'; 1 << 20], b"\r\n--B--\r\n"].concat();
    let kind = [("Content-Type", "multipart/form-data; boundary=B")];
    let answer = ask(house.listen, "POST", &format!("/bot{TOKEN}/sendDocument"), &kind, &body);
    assert_eq!((answer.status, figure()), (200, quick));
}

#[test]
fn e3e_the_same_holds_for_discord() {
    let fake = slow(Duration::from_millis(500));
    let house = house(&fake, "[policy.discord.buckets.reactions]\nbucket = \"1/7s\"\nburst = 1\n");
    let headers = [
        ("Authorization", "Bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GsEcRe.discordsecretdiscordsecret0"),
        ("User-Agent", "DiscordBot (https://twilight.rs/, 0.18.0)"),
    ];
    let react = |message: u64| {
        let mut client = Client::connect(house.listen);
        client.send("PUT", &format!("/api/v10/channels/5/messages/{message}/reactions/a/@me"), &headers, b"");
        client
    };
    assert_eq!(ask(house.listen, "GET", "/api/v10/users/@me", &headers, b"").status, 200);
    let mut first = react(1);
    until("it is out", || fake.count() == 2);
    // 7 s is less than twilight's 10 s less a fifth, and more than 10 s less twice 2.5 s.
    let second = react(2).read().unwrap();
    assert_eq!((second.status, second.outcome()), (429, "refused"));
    assert_eq!(first.read().unwrap().status, 200);
}

/// A token that is new lets one call out; the others stand in line, and that is a part of their hold.
#[test]
fn e3f_waiting_in_line_counts() {
    let fake = slow(Duration::from_millis(600));
    let house = house(&fake, &chat("6s"));
    let mut first = begin(&house, "chat_id=5&text=a");
    until("it is out", || fake.count() == 1);
    // 3 s in line, then 3 s more until the chat takes another: longer than 4 s.
    let second = send(&house, "chat_id=5&text=b");
    assert_eq!((second.status, first.read().unwrap().status), (429, 200));
}
