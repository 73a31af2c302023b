//! Plans of random worlds: what clients ask for and how the platform answers.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tidegate_core::Span;
use tidegate_core::governor::Class;

use crate::world::{Act, Ask, Reply};

/// Acts, each so many milliseconds after the one before.
pub(super) type Plan = Vec<(u64, Step)>;

/// An act before tickets are known.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Act(Act),
    /// The client of the write that was planned so many steps ago leaves.
    CancelBack(usize),
}

const LONG: Span = Span::from_secs(600);

/// New content alone, held for as long as may be, answered with ok sooner or later.
pub(super) fn sends(most: usize) -> impl Strategy<Value = Plan> {
    let ask = (
        prop_oneof![4 => Just("sendMessage"), 1 => Just("sendRichMessage"), 1 => Just("sendMediaGroup")],
        peer(),
        option::weighted(0.2, prop_oneof![Just(Class::Interactive), Just(Class::Status), Just(Class::Send)]),
        1_u32..5,
        delay(),
    );
    let step = ask.prop_map(|(method, peer, class, items, delay)| {
        let weight = if method == "sendMediaGroup" { items } else { 1 };
        let answers = vec![(delay, Reply::Ok)];
        let (thread, message, max_hold) = (None, None, Some(LONG));
        Step::Act(Act::Write(Ask { method, peer: Some(peer), thread, message, class, weight, max_hold, answers }))
    });
    vec((gap(), step), 1..most)
}

/// New content to many chats in steps of 100 ms, held for as many: holds end as buckets have room.
pub(super) fn in_steps(most: usize) -> impl Strategy<Value = Plan> {
    let ask = (
        prop_oneof![3 => Just("sendMessage"), 1 => Just("sendMediaGroup")],
        prop_oneof![1 => -6_i64..-4, 6 => 70_i64..90],
        option::weighted(0.3, prop_oneof![Just(Class::Interactive), Just(Class::Status)]),
        1_u32..11,
        0_u64..20,
        prop_oneof![3 => Just(0_u64), 1 => 1_u64..12],
    );
    let step = ask.prop_map(|(method, peer, class, items, hold, delay)| {
        let weight = if method == "sendMediaGroup" { items } else { 1 };
        let answers = vec![(Span::from_millis(delay * 100), Reply::Ok)];
        let (thread, message, max_hold) = (None, None, Some(Span::from_millis(hold * 100)));
        Step::Act(Act::Write(Ask { method, peer: Some(peer), thread, message, class, weight, max_hold, answers }))
    });
    vec((prop_oneof![6 => Just(0), 3 => (1_u64..4).prop_map(|steps| steps * 100)], step), 1..most)
}

/// Everything at once.
pub(super) fn everything(most: usize) -> impl Strategy<Value = Plan> {
    let step = prop_oneof![
        30 => ask().prop_map(|ask| Step::Act(Act::Write(ask))),
        2 => (1_usize..6).prop_map(Step::CancelBack),
        1 => (0_u64..12_000).prop_map(|ms| Step::Act(Act::CoolBot(Span::from_millis(ms)))),
        1 => (peer(), 0_u64..12_000).prop_map(|(peer, ms)| Step::Act(Act::CoolPeer(peer, Span::from_millis(ms)))),
    ];
    vec((gap(), step), 1..most)
}

fn ask() -> impl Strategy<Value = Ask> {
    let method = prop_oneof![
        4 => Just("sendMessage"),
        1 => Just("sendRichMessage"),
        1 => Just("sendMediaGroup"),
        6 => Just("editMessageText"),
        1 => Just("editMessageCaption"),
        2 => Just("sendChatAction"),
        2 => Just("sendMessageDraft"),
        1 => Just("banChatMember"),
        1 => Just("getMe"),
    ];
    let class = option::weighted(0.5, (0..Class::ALL.len()).prop_map(|at| Class::ALL[at]));
    let hold = option::weighted(0.4, prop_oneof![Just(Span::ZERO), Just(Span::from_secs(3)), Just(LONG)]);
    let weight = prop_oneof![6 => 1_u32..5, 1 => Just(20_u32), 1 => Just(40_u32)];
    let thread = option::weighted(0.3, 1_i64..3);
    (method, peer(), thread, 1_u64..4, class, weight, hold, vec((delay(), reply()), 0..4)).prop_map(
        |(method, peer, thread, message, class, weight, max_hold, answers)| Ask {
            method,
            peer: (method != "getMe").then_some(peer),
            thread,
            message: (method.starts_with("edit") || method.ends_with("Draft")).then_some(message),
            class,
            weight: if method == "sendMediaGroup" { weight } else { 1 },
            max_hold,
            answers,
        },
    )
}

fn peer() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(-5), 3 => Just(77), 1 => Just(-6), 1 => Just(78)]
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 6 => 0_u64..400, 2 => 0_u64..3_000, 1 => 0_u64..30_000]
}

fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![2 => Just(Span::ZERO), 6 => (1_u64..400_000).prop_map(Span::from_micros), 1 => (1_u64..90).prop_map(Span::from_secs)]
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        12 => Just(Reply::Ok),
        2 => Just(Reply::Transient),
        1 => Just(Reply::Permanent),
        3 => (200_u64..8_000).prop_map(|ms| Reply::Refused(Span::from_millis(ms))),
        1 => (200_u64..4_000).prop_map(|ms| Reply::RefusedBot(Span::from_millis(ms))),
        1 => (100_u64..3_000).prop_map(|ms| Reply::Deferred(Span::from_millis(ms))),
    ]
}
