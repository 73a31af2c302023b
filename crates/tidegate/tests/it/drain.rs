//! The end, in order.

use std::sync::Arc;

use crate::fake::{Act, Fake, Gate, until};
use crate::house::House;

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
