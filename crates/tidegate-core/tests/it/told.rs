//! A refused write is told when it could have gone: the same one that may wait goes then, whatever the weights.

use std::sync::Arc;

use tidegate_core::governor::{Answer, Governor, Input, Output, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};

const GROUP: i64 = -5;
const ELSEWHERE: i64 = -6;

/// A write of so many messages at a moment in ms.
#[derive(Clone, Copy, Debug)]
struct Post(u64, i64, u32);

fn write(policy: &Policy, ticket: u64, Post(_, chat, weight): Post, hold_ms: u64) -> Input {
    let method = if weight > 1 { "sendMediaGroup" } else { "sendMessage" };
    Input::Write(Write {
        ticket: Ticket(ticket),
        row: policy.row_of(&Call { method, has_chat: true, rich: false }),
        method: MethodKey::of(method),
        peer: Some(Peer::Id(chat)),
        thread: None,
        message: None,
        class: None,
        weight,
        fields: Box::default(),
        max_hold: Some(Span::from_millis(hold_ms)),
        auto_hold: None,
        wider: None,
    })
}

/// When posts are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answered {
    AtOnce,
    BeforeTheLast,
    Never,
}

/// When the last of these posts leaves, or is told that it would; whether it left.
fn last(posts: &[Post], hold_ms: u64, answered: Answered) -> (Time, bool) {
    let policy = Arc::new(Policy::load("telegram", &[]).unwrap());
    let mut gate = Governor::new(Arc::clone(&policy), answered == Answered::AtOnce);
    let ticket = posts.len() as u64;
    let mut now = Time::ZERO;
    let mut found = None;
    let mut tell = |gate: &mut Governor, now: Time, input: Input| {
        gate.handle(now, input);
        while let Some(output) = gate.poll_output() {
            match output {
                Output::Send { ticket: Ticket(sent), .. } if sent == ticket => found = Some((now, true)),
                Output::Refuse { ticket: Ticket(refused), retry_after, .. } if refused == ticket => {
                    found = Some((now + retry_after, false));
                }
                _ => {}
            }
        }
        found
    };
    for (place, post) in posts.iter().enumerate() {
        let at = Time::from_millis(post.0);
        while let Some((due, _)) = gate.poll_timeout().filter(|(due, _)| *due <= at) {
            tell(&mut gate, due.max(now), Input::Tick);
            now = now.max(due);
        }
        now = at;
        if answered == Answered::BeforeTheLast && place + 1 == posts.len() {
            for ticket in 1..ticket {
                tell(&mut gate, now, Input::Done { ticket: Ticket(ticket), result: Answer::Ok });
            }
        }
        let mine = place + 1 == posts.len();
        tell(&mut gate, now, write(&policy, place as u64 + 1, *post, if mine { hold_ms } else { 600_000 }));
    }
    loop {
        if let Some(found) = tell(&mut gate, now, Input::Tick) {
            return found;
        }
        now = now.max(gate.poll_timeout().unwrap().0);
    }
}

/// A stamp is a quarter of a millisecond coarse.
fn agree(posts: &[Post], unanswered: bool) {
    let (before, then) =
        if unanswered { (Answered::Never, Answered::BeforeTheLast) } else { (Answered::AtOnce, Answered::AtOnce) };
    // With no time to wait at all it would be told a second at least.
    let (told, _) = last(posts, 1, before);
    let (went, sent) = last(posts, 600_000, then);
    assert!(sent, "{posts:?} waits for longer than a write may");
    let apart = told.since(went).max(went.since(told));
    assert!(apart <= Span::from_millis(1), "{posts:?}: told {told:?}, went {went:?}");
}

#[test]
fn after_one_of_any_weight() {
    for heavy in [1, 2, 17, 18, 19, 25, 26, 35, 36, 37, 50, 54, 75, 76, 100, 150] {
        for weight in [1, 2, 10, 18, 19, 24, 25, 26, 40] {
            for at in [1, 990, 1_001, 3_500, 59_990, 60_001, 121_000] {
                for chat in [GROUP, ELSEWHERE] {
                    agree(&[Post(0, GROUP, heavy), Post(at, chat, weight)], false);
                }
            }
        }
    }
}

#[test]
fn after_several_that_add_up() {
    for heavy in [10, 20, 36, 47, 100] {
        for at in [2_000, 3_100, 61_500] {
            for weight in [1, 7, 30] {
                let posts = [Post(0, GROUP, 4), Post(1_000, GROUP, heavy), Post(at, GROUP, weight)];
                agree(&posts, false);
            }
        }
    }
}

#[test]
fn behind_one_that_waits() {
    for heavy in [19, 40, 100] {
        for waiting in [1, 18, 19, 40] {
            agree(&[Post(0, GROUP, heavy), Post(1, GROUP, waiting), Post(2, GROUP, 1)], false);
        }
    }
}

#[test]
fn beside_one_without_an_answer_as_if_it_came_now() {
    for heavy in [18, 19, 36, 100] {
        for weight in [1, 18, 19] {
            for (at, chat) in [(5, GROUP), (40_000, GROUP), (5, ELSEWHERE), (5_000, ELSEWHERE)] {
                agree(&[Post(0, GROUP, heavy), Post(at, chat, weight)], true);
            }
        }
    }
}

/// A day's worth of periods would not fit into a stamp.
#[test]
fn of_the_heaviest_there_is() {
    let change = ("buckets.group_minute.window".to_owned(), "1/24h".into());
    let policy = Arc::new(Policy::load("telegram", &[change]).unwrap());
    let mut gate = Governor::new(Arc::clone(&policy), true);
    gate.handle(Time::ZERO, write(&policy, 1, Post(0, GROUP, 10_000), 0));
    gate.handle(Time::from_millis(1), write(&policy, 2, Post(1, GROUP, 1), 0));
    let outputs: Vec<Output> = std::iter::from_fn(|| gate.poll_output()).collect();
    let day = Span::from_secs(86_400);
    assert!(matches!(outputs[1], Output::Refuse { retry_after, .. } if retry_after > day), "{outputs:?}");
}
