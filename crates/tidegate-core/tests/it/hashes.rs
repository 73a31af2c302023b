//! A route whose answers name two buckets: no request is refused, and none waits for ever.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::discord::Headers;
use tidegate_core::governor::{Answer, Governor, Input, Output, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};

/// A bucket of the platform: so many requests from the first of a window on.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    limit: u32,
    period_ms: u64,
    used: u32,
    ends_ms: u64,
}

impl Bucket {
    fn new(limit: u32, period_ms: u64) -> Self {
        Self { limit, period_ms, used: 0, ends_ms: 0 }
    }

    /// What its answer says; whether the request was refused.
    fn take(&mut self, at_ms: u64, hash: u64) -> (Headers, bool) {
        if at_ms >= self.ends_ms {
            (self.used, self.ends_ms) = (0, at_ms + self.period_ms);
        }
        let refused = self.used >= self.limit;
        self.used = (self.used + 1).min(self.limit);
        let reset_after = Span::from_millis(self.ends_ms - at_ms);
        (Headers { hash, limit: self.limit, remaining: self.limit - self.used, reset_after }, refused)
    }
}

enum Event {
    Ask(u64),
    Arrive(u64),
    Answer(u64, Headers, bool),
}

/// How 20 deletions in one channel fared: how many were refused, and when the last was answered.
fn deletions(mut buckets: Vec<Bucket>, turn: fn(usize) -> usize, way_ms: fn(u64) -> u64, gap_ms: u64) -> (u32, u64) {
    let policy = Arc::new(Policy::load("discord", &[]).unwrap());
    let method = "DELETE /channels/{channel}/messages/{message} recent";
    let row = policy.row_of(&Call { method, has_chat: true, rich: false, paid: false });
    let mut gate = Governor::new(policy, false);
    let mut events: BTreeMap<(u64, u64), Event> = BTreeMap::new();
    let mut count = 0;
    for ticket in 1..=20 {
        count += 1;
        events.insert((ticket * gap_ms, count), Event::Ask(ticket));
    }
    let (mut arrived, mut refusals, mut answered, mut now_ms) = (0, 0, 0, 0);
    while answered < 20 {
        let due = gate.poll_timeout().map(|(at, _)| at.as_micros().div_ceil(1_000).max(now_ms));
        let next = events.first_key_value().map(|((at, _), _)| *at);
        let mut inputs = vec![Input::Tick];
        match next.filter(|next| due.is_none_or(|due| *next <= due)) {
            None => now_ms = due.expect("it waits for nothing"),
            Some(next) => {
                now_ms = next;
                let (_, event) = events.pop_first().unwrap();
                match event {
                    Event::Ask(ticket) => inputs = vec![Input::Write(delete(ticket, row, method))],
                    Event::Arrive(ticket) => {
                        let place = turn(arrived) % buckets.len();
                        arrived += 1;
                        let (headers, refused) = buckets[place].take(now_ms, place as u64 + 1);
                        count += 1;
                        events.insert((now_ms + way_ms(count), count), Event::Answer(ticket, headers, refused));
                    }
                    Event::Answer(ticket, headers, refused) => {
                        let ticket = Ticket(ticket);
                        inputs = vec![Input::Learned { ticket, headers: Some(headers) }];
                        if refused {
                            refusals += 1;
                            let retry_after = Some(headers.reset_after);
                            inputs.push(Input::Refused { ticket, retry_after, scope: None });
                        } else {
                            answered += 1;
                            inputs.push(Input::Done { ticket, result: Answer::Ok });
                        }
                    }
                }
            }
        }
        for input in inputs {
            gate.handle(Time::from_millis(now_ms), input);
            while let Some(output) = gate.poll_output() {
                let Output::Send { ticket, .. } = output else { panic!("{output:?}") };
                count += 1;
                events.insert((now_ms + way_ms(count), count), Event::Arrive(ticket.0));
            }
        }
        assert!(now_ms < 120_000, "it stands still: {answered} of 20");
    }
    (refusals, now_ms)
}

fn delete(ticket: u64, row: tidegate_core::policy::RowId, method: &str) -> Write {
    Write {
        ticket: Ticket(ticket),
        row,
        method: MethodKey::of(method),
        peer: Some(Peer::Id(55)),
        wider: None,
        thread: None,
        message: None,
        class: None,
        weight: 1,
        fields: Box::default(),
        max_hold: Some(Span::from_secs(600)),
        auto_hold: None,
    }
}

const TURNS: [fn(usize) -> usize; 4] = [|n| n, |n| n / 2, |n| n / 3, |n| n * n / 3 + n / 5];
const WAYS: [fn(u64) -> u64; 4] = [|_| 0, |_| 25, |n| 20 + n * 37 % 60, |n| 5 + n * 53 % 200];

#[test]
fn two_buckets_by_turns_refuse_nothing_and_stop_nothing() {
    for turn in TURNS {
        for way in WAYS {
            for gap in [0, 30, 110] {
                let buckets = vec![Bucket::new(5, 1_000), Bucket::new(3, 333)];
                let (refused, ended_ms) = deletions(buckets, turn, way, gap);
                assert_eq!(refused, 0, "they end at {ended_ms} ms");
                assert!(ended_ms < 12_000, "the last was answered at {ended_ms} ms");
            }
        }
    }
}

#[test]
fn of_three_buckets_too_the_tightest_decides() {
    for turn in TURNS {
        for way in WAYS {
            let buckets = vec![Bucket::new(4, 1_000), Bucket::new(4, 333), Bucket::new(10, 2_000)];
            let (refused, ended_ms) = deletions(buckets, turn, way, 0);
            assert!(refused == 0 && ended_ms < 20_000, "{refused} refused, the last answered at {ended_ms} ms");
        }
    }
}
