//! Cases of docs/cases.md that are the governor's own matter.

use std::collections::BTreeSet;
use std::sync::Arc;

use tidegate_core::governor::{Counted, Governor, Input, Output, Scope, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};

/// A chat with topics.
const FORUM: i64 = -1009;

/// A governor whose released writes are answered with ok at once.
struct Gatekeeper {
    gate: Governor,
    policy: Arc<Policy>,
    tickets: u64,
    /// Writes that have not ended.
    open: BTreeSet<u64>,
}

impl Gatekeeper {
    fn new(policy: &str) -> Self {
        let policy = Arc::new(Policy::load(policy, &[]).unwrap());
        let gate = Governor::new(Arc::clone(&policy), true);
        Self { gate, policy, tickets: 0, open: BTreeSet::new() }
    }

    /// The writes that this makes leave.
    fn tell(&mut self, at_ms: u64, input: Input) -> Vec<u64> {
        self.gate.handle(Time::ZERO + Span::from_millis(at_ms), input);
        let mut sent = Vec::new();
        while let Some(output) = self.gate.poll_output() {
            let (Output::Send { ticket, .. } | Output::Drop { ticket, .. } | Output::Refuse { ticket, .. }) = output
            else {
                continue;
            };
            assert!(self.open.remove(&ticket.0), "{ticket:?} ended twice");
            if matches!(output, Output::Send { .. }) {
                sent.push(ticket.0);
            }
        }
        sent
    }

    fn write(&mut self, at_ms: u64, method: &str, chat: i64) -> Vec<u64> {
        self.tickets += 1;
        self.open.insert(self.tickets);
        let write = Write {
            ticket: Ticket(self.tickets),
            row: self.policy.row_of(&Call { method, has_chat: true, rich: false, paid: false }),
            method: MethodKey::of(method),
            peer: Some(Peer::Id(chat)),
            thread: (chat == FORUM).then_some(9),
            message: None,
            class: None,
            weight: 1,
            fields: Box::default(),
            max_hold: Some(Span::from_secs(600)),
            auto_hold: None,
            wider: None,
        };
        self.tell(at_ms, Input::Write(write))
    }

    fn due_ms(&self) -> Option<u64> {
        self.gate.poll_timeout().map(|(at, _)| at.as_micros().div_ceil(1000))
    }
}

#[test]
fn t20_every_surface_that_wrote_is_counted_and_none_is_named_by_hand() {
    let telegram = ["sendRichMessage", "sendMessage", "sendChatAction", "editMessageText", "setMyCommands"];
    let telegram = telegram.map(|method| ("telegram", method));
    for (policy, method) in
        [("telegram-forum", "sendRichMessage"), ("telegram-forum", "sendChatAction")].into_iter().chain(telegram)
    {
        let mut keeper = Gatekeeper::new(policy);
        keeper.write(0, method, FORUM);
        let counters = keeper.gate.counters();
        let row = keeper.policy.row_of(&Call { method, has_chat: true, rich: false, paid: false });
        let surface = &keeper.policy.row(row).name;
        assert!(counters.iter().all(|count| count.surface == *surface), "{method}: {counters:?}");
        let accepted = counters.iter().find(|count| count.what == Counted::Accepted);
        assert_eq!(accepted.map(|count| count.count), Some(1), "{method} alone: {counters:?}");
    }
}

#[test]
fn t49_a_hundred_thousand_chats_are_forgotten_and_the_active_one_is_not_set_back() {
    let mut keeper = Gatekeeper::new("telegram");
    // Its minute is spent, and goes on being spent while the others come and go.
    let busy = -1001;
    let mut sent = Vec::new();
    for _ in 0..400 {
        sent.extend(keeper.write(0, "sendMessage", busy).into_iter().map(|_| 0_u64));
    }
    let mut at_ms = 0;
    for chat in 1..=100_000 {
        keeper.write(at_ms, "sendChatAction", chat);
        at_ms += 5;
        while let Some(due) = keeper.due_ms().filter(|due| *due <= at_ms) {
            sent.extend(keeper.tell(due, Input::Tick).into_iter().map(|_| due));
        }
    }
    assert!(keeper.gate.peers() < 20_000, "{} peers after {at_ms} ms", keeper.gate.peers());
    for (last, first) in sent.iter().skip(18).zip(&sent) {
        assert!(last - first >= 60_000, "19 messages within {} ms", last - first);
    }
    assert!(sent.len() >= 140, "nor was it slowed: {}", sent.len());
}

#[test]
fn t51_whatever_waits_has_a_moment_and_waking_then_is_enough() {
    let mut keeper = Gatekeeper::new("telegram");
    let mut at_ms = 0;
    for round in 0..60 {
        for chat in 1..=12 {
            keeper.write(at_ms, "sendMessage", if chat % 3 == 0 { -chat } else { chat });
        }
        let input = match round % 5 {
            0 => Input::Cooldown { scope: Scope::Bot, duration: Span::from_secs(7) },
            1 => Input::Cooldown { scope: Scope::Peer(Peer::Id(1)), duration: Span::from_secs(90) },
            2 => Input::Migrate { from: Peer::Id(-3 * (round / 5 % 4 + 1)), to: Peer::Id(-1000 - round) },
            _ => {
                let ticket = Ticket(keeper.tickets - 5);
                keeper.open.remove(&ticket.0);
                Input::Cancel { ticket }
            }
        };
        keeper.tell(at_ms, input);
        assert!(keeper.gate.held() == 0 || keeper.due_ms().is_some(), "{} wait for nothing", keeper.gate.held());
        at_ms += 700;
    }
    let mut wakes = 0;
    while keeper.gate.held() > 0 {
        let due = keeper.due_ms().expect("a moment to wake at");
        assert!(due >= at_ms || wakes == 0, "it asks for a moment that is over");
        at_ms = at_ms.max(due);
        keeper.tell(at_ms, Input::Tick);
        wakes += 1;
        assert!(wakes < 5_000 && at_ms < 3_600_000, "{} still wait at {at_ms} ms", keeper.gate.held());
    }
    assert_eq!(keeper.open, BTreeSet::new(), "all have ended");
}

#[test]
fn t56_a_clock_that_goes_back_spends_nothing_twice_and_lengthens_no_wait() {
    // The clock is right once a second, and back by so much in between, when the writes come.
    let leave_ms = |back_ms: u64| {
        let mut keeper = Gatekeeper::new("telegram");
        let mut left = Vec::new();
        for at_ms in (0..200_000_u64).step_by(250) {
            let told_ms = if at_ms % 1000 == 0 { at_ms } else { at_ms.saturating_sub(back_ms) };
            let sent = if at_ms < 30_000 && at_ms % 1000 == 500 {
                keeper.write(told_ms, "sendMessage", -1001)
            } else {
                keeper.tell(told_ms, Input::Tick)
            };
            left.extend(sent.into_iter().map(|ticket| (ticket, at_ms)));
        }
        assert_eq!(keeper.open, BTreeSet::new(), "all have ended");
        left
    };
    let steady = leave_ms(0);
    assert_eq!(steady.len(), 30);
    for back_ms in [5_000, u64::MAX] {
        for ((ticket, at_ms), (same, right_ms)) in leave_ms(back_ms).into_iter().zip(&steady) {
            // Held to the last that it told, it is a second late at most.
            assert!(ticket == *same && at_ms.abs_diff(*right_ms) <= 1000, "{ticket}: {at_ms} and {right_ms} ms");
        }
    }
}
