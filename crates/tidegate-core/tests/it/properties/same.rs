//! Where the specification leaves no choice, the governor does the same as the sentences say, to the microsecond.

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_core::{Span, Time};

use super::config;
use crate::reference::Table;
use crate::world::{Act, Ask, World};

proptest! {
    #![proptest_config(config())]

    /// Few enough that the bot's window is never full: each peer is alone with its own two limits.
    #[test]
    fn sends_leave_when_the_sentences_say(arrivals in vec((0_u64..4_000, 0_usize..5), 1..60)) {
        let peers = [-5, -6, 77, 78, 79];
        let mut world = World::new(Table::Telegram, true);
        let mut expected = Vec::new();
        let mut left: Vec<Vec<Time>> = vec![Vec::new(); peers.len()];
        let mut at = Time::ZERO;
        for (gap, peer) in arrivals {
            at += Span::from_millis(gap);
            let ticket = world.plan(at, send(peers[peer]));
            let leaves = leaves(at, &left[peer], peers[peer] < 0);
            left[peer].push(leaves);
            expected.push((ticket, leaves));
        }
        world.run();
        prop_assert_eq!(world.judge.first_releases(), expected);
    }
}

/// The first moment not before its arrival and not before the one ahead of it, at which fewer than 18 left within the
/// last minute (groups) and a token is there: 3 at most, one more each second.
fn leaves(arrived: Time, before: &[Time], group: bool) -> Time {
    let mut at = before.last().map_or(arrived, |last| arrived.max(*last));
    loop {
        let full = group && before.iter().filter(|left| at.since(**left) < Span::from_secs(60)).count() >= 18;
        let oldest = before.iter().rev().nth(17);
        if let (true, Some(oldest)) = (full, oldest) {
            at = *oldest + Span::from_secs(60);
            continue;
        }
        match missing(at, before) {
            Span::ZERO => return at,
            wait => at += wait,
        }
    }
}

/// How long after `at` a token is there.
fn missing(at: Time, before: &[Time]) -> Span {
    let second = 1_000_000;
    let (mut level, mut then) = (3 * second, Time::ZERO);
    for left in before {
        level = (level + left.since(then).as_micros()).min(3 * second) - second;
        then = *left;
    }
    level = (level + at.since(then).as_micros()).min(3 * second);
    Span::from_micros(second.saturating_sub(level))
}

fn send(peer: i64) -> Act {
    Act::Write(Ask {
        method: "sendMessage",
        peer: Some(peer),
        thread: None,
        message: None,
        class: None,
        weight: 1,
        max_hold: Some(Span::from_secs(600)),
        answers: Vec::new(),
    })
}
