//! A token shows nowhere.

use crate::client::ask;
use crate::fake::{Act, Fake};
use crate::house::{House, SECRET, TOKEN};

#[test]
fn no_token_in_logs_metrics_status_pages_or_errors() {
    let fake = Fake::start(|number, _| match number {
        0..4 => Act::ok("true"),
        4 => Act::Cut,
        5 => Act::Answer(502, vec![], String::new()),
        _ => Act::error(401, "Unauthorized"),
    });
    let mut house = House::before(&fake, "");
    let mut shown = Vec::new();
    for method in ["getMe", "sendMessage", "editMessageText", "sendMessage"] {
        shown.push(house.call(method, "chat_id=5&message_id=3&text=a"));
    }
    for _ in 0..6 {
        shown.push(house.call("sendPhoto", "chat_id=5"));
    }
    shown.push(ask(house.listen, "GET", &format!("/bot{TOKEN}/%2e%2e/x"), &[], b""));
    shown.push(ask(house.listen, "GET", &format!("/bot{TOKEN}"), &[], b""));
    shown.push(ask(house.listen, "GET", &format!("/other/{TOKEN}"), &[], b""));
    shown.push(ask(house.listen, "GET", &format!("/bot{}/getMe", TOKEN.replace('A', "%41")), &[], b""));
    shown.push(ask(house.listen, "GET", &format!("/bot{}/getMe", TOKEN.replace('A', "!")), &[], b""));
    shown.extend(["/", "/metrics", "/v1/status", "/readyz", "/nothing"].map(|path| house.admin(path)));
    let admin = format!("http://{}", house.admin);
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["status", "--admin", &admin])
        .output()
        .unwrap();
    assert!(status.status.success());
    let table = String::from_utf8(status.stdout).unwrap();
    assert!(table.contains("123456"), "{table}");
    house.terminate();
    assert_eq!(house.wait(), Some(0));
    for answer in &shown {
        assert!(!format!("{:?} {}", answer.headers, answer.text()).contains(SECRET), "{answer:?}");
    }
    house.has_said("123456#"); // the bot
    let output = house.output();
    assert!(!table.contains(SECRET) && !output.contains(SECRET), "{output}");
}
