//! A hold that is made shorter while it runs: the platform has become slower, or the program goes down.

use std::sync::Arc;

use tidegate_core::governor::{Answer, Governor, Input, Output, RefuseReason, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MessageKey, MethodKey, Peer, Span, Time};

struct Desk {
    gate: Governor,
    policy: Arc<Policy>,
    now_ms: u64,
    tickets: u64,
    chat: i64,
}

impl Desk {
    /// A chat whose burst of three is used up: the fourth send can go after one second, the fifth after two.
    fn new() -> Self {
        let policy = Arc::new(Policy::load("telegram", &[]).unwrap());
        let mut desk = Self { gate: Governor::new(Arc::clone(&policy), false), policy, now_ms: 0, tickets: 0, chat: 5 };
        for _ in 0..3 {
            let ticket = desk.write("sendMessage", None);
            assert!(matches!(desk.outputs()[..], [Output::Send { .. }]));
            desk.tell(Input::Done { ticket, result: Answer::Ok });
        }
        desk
    }

    fn tell(&mut self, input: Input) {
        self.gate.handle(Time::from_millis(self.now_ms), input);
        self.gate.check_invariants();
    }

    /// Enters a write whose client waits for 4 s.
    fn write(&mut self, method: &str, message: Option<u64>) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        let write = Write {
            ticket,
            row: self.policy.row_of(&Call { method, has_chat: true, rich: false, paid: false }),
            method: MethodKey::of(method),
            peer: Some(Peer::Id(self.chat)),
            thread: None,
            message: message.map(MessageKey),
            class: None,
            weight: 1,
            fields: Box::default(),
            max_hold: None,
            auto_hold: Some(Span::from_secs(4)),
            wider: None,
        };
        self.tell(Input::Write(write));
        ticket
    }

    fn hold_until(&mut self, ticket: Ticket, ms: u64) {
        self.tell(Input::HoldUntil { ticket, until: Time::from_millis(ms) });
    }

    fn at(&mut self, ms: u64) {
        self.now_ms = ms;
        self.tell(Input::Tick);
    }

    fn outputs(&mut self) -> Vec<Output> {
        std::iter::from_fn(|| self.gate.poll_output()).collect()
    }
}

fn refused(ticket: Ticket, ms: u64) -> Output {
    Output::Refuse { ticket, retry_after: Span::from_millis(ms), reason: RefuseReason::MaxHold }
}

#[test]
fn one_that_would_go_too_late_is_refused_at_once_with_its_time_and_its_place_kept() {
    let mut desk = Desk::new();
    let (fourth, fifth) = (desk.write("sendMessage", None), desk.write("sendMessage", None));
    desk.now_ms = 300;
    desk.hold_until(fifth, 1_500);
    assert_eq!(desk.outputs(), [refused(fifth, 1_700)]);
    // The one before it is not touched, and a later one comes behind the place that is kept.
    let sixth = desk.write("sendMessage", None);
    desk.hold_until(sixth, 300);
    let told = desk.outputs();
    assert!(
        matches!(told[..], [Output::Refuse { ticket, retry_after, .. }]
        if ticket == sixth && retry_after > Span::from_millis(1_700)),
        "{told:?}"
    );
    desk.at(1_000);
    assert!(matches!(desk.outputs()[..], [Output::Send { ticket, .. }] if ticket == fourth));
}

#[test]
fn one_that_goes_in_time_goes_and_a_later_moment_changes_nothing() {
    let mut desk = Desk::new();
    let fourth = desk.write("sendMessage", None);
    desk.hold_until(fourth, 1_000);
    desk.hold_until(fourth, 60_000);
    assert_eq!(desk.outputs(), []);
    desk.at(1_000);
    assert!(matches!(desk.outputs()[..], [Output::Send { ticket, .. }] if ticket == fourth));
    // In flight it is not held, and neither is one that nobody knows.
    desk.hold_until(fourth, 0);
    desk.hold_until(Ticket(99), 0);
    assert_eq!(desk.outputs(), []);
    // Back from a failure it waits within what is left.
    desk.tell(Input::Refused { ticket: fourth, retry_after: Some(Span::from_secs(2)), scope: None });
    let told = desk.outputs();
    assert!(matches!(told[..], [Output::Refuse { ticket, .. }] if ticket == fourth), "{told:?}");
}

#[test]
fn what_is_dropped_past_its_hold_is_dropped() {
    let mut desk = Desk::new();
    // Drafts, each answered, until one waits for the draft's bucket.
    let held = (0..50).find_map(|_| {
        let ticket = desk.write("sendMessageDraft", Some(9));
        let is_held = desk.outputs().is_empty();
        desk.tell(Input::Done { ticket, result: Answer::Ok });
        is_held.then_some(ticket)
    });
    let held = held.expect("a bucket that runs dry");
    desk.hold_until(held, 0);
    let told = desk.outputs();
    assert!(matches!(told[..], [Output::Drop { ticket, .. }] if ticket == held), "{told:?}");
}

/// What only our own pacing keeps back goes as the shorter hold ends.
#[test]
fn pacing_keeps_nothing_back_past_the_shorter_hold() {
    let mut desk = Desk::new();
    desk.chat = -5;
    for message in 1..=3 {
        desk.now_ms += 1_000;
        let ticket = desk.write("editMessageText", Some(message));
        assert!(matches!(desk.outputs()[..], [Output::Send { .. }]));
        desk.tell(Input::Done { ticket, result: Answer::Ok });
    }
    desk.now_ms = 4_000;
    let paced = desk.write("editMessageText", Some(4));
    assert_eq!(desk.outputs(), []);
    desk.hold_until(paced, 4_500);
    assert_eq!(desk.outputs(), []);
    desk.at(4_499);
    assert_eq!(desk.outputs(), []);
    desk.at(4_500);
    assert!(matches!(desk.outputs()[..], [Output::Send { ticket, .. }] if ticket == paced));
}
