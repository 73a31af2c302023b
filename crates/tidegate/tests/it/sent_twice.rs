//! What may be sent again, and what never is.

use std::net::TcpListener;

use crate::client::ask;
use crate::fake::{Act, Fake};
use crate::house::{House, TOKEN};

#[test]
fn a_send_that_was_cut_off_is_not_sent_again() {
    let fake = Fake::start(|number, _| if number == 0 { Act::ok("true") } else { Act::Cut });
    let house = House::before(&fake, "");
    house.call("getMe", "");
    let answer = house.call("sendMessage", "chat_id=5&text=a");
    assert_eq!((answer.status, answer.outcome()), (503, "unknown"));
    assert_eq!(answer.header("retry-after"), Some("5"));
    assert_eq!(answer.json()["ok"], false);
    assert_eq!(fake.count(), 2);
    // The same by GET, which is no safe method here.
    let target = format!("/bot{TOKEN}/sendMessage?chat_id=5&text=a");
    assert_eq!(ask(house.listen, "GET", &target, &[], b"").status, 503);
    assert_eq!(fake.count(), 3);
    // One that only asks is.
    assert_eq!(ask(house.listen, "GET", &format!("/bot{TOKEN}/getMe"), &[], b"").status, 503);
    assert_eq!(fake.count(), 5);
}

#[test]
fn only_merged_edits_are_repeated_after_the_platforms_errors() {
    let fake = Fake::start(|number, seen| {
        if seen.target.ends_with("/editMessageText") && number == 4 {
            Act::ok("true")
        } else {
            Act::Answer(502, vec![("Content-Type", "text/html".into())], "<html>Bad Gateway".into())
        }
    });
    let house = House::before(&fake, "");
    assert_eq!(house.call("sendMessage", "chat_id=5&text=a").status, 502);
    assert_eq!(house.call("sendChatAction", "chat_id=5&action=typing").status, 502);
    assert_eq!(fake.count(), 2);
    let patient = [("X-Tidegate-Max-Hold", "60s")];
    let answer = house.call_with("editMessageText", &patient, "chat_id=6&message_id=9&text=a");
    assert_eq!((answer.status, fake.count()), (200, 5));
}

#[test]
fn a_platform_that_cannot_be_reached_is_503() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let house = House::start(&format!("telegram.api = \"http://{closed}\""));
    for method in ["getMe", "getUpdates", "sendMessage"] {
        let answer = house.call(method, "chat_id=5");
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{method}");
    }
}
