//! All tables, all surfaces, and whatever may happen to a write: limits hold, everything ends, counters add up.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tidegate_core::discord::Headers;
use tidegate_core::governor::{Class, Scope};
use tidegate_core::{MethodKey, Peer, Span};

use super::config;
use crate::fair::{Act, Ask, Call, Fair, Reply};

const TELEGRAM: [Call; 14] = [
    Call::chat("sendMessage"),
    Call::chat("sendMessage"),
    Call::heavy("sendMediaGroup"),
    Call::chat("sendRichMessage"),
    Call::paid("copyMessage"),
    Call::paid("sendMediaGroup"),
    Call::message("editMessageText"),
    Call::message("editMessageCaption"),
    Call::rich("editMessageText"),
    Call::chat("sendChatAction"),
    Call::message("sendMessageDraft"),
    Call::message("deleteMessage"),
    Call::chat("banChatMember"),
    Call::chatless("setMyCommands"),
];

const DISCORD: [Call; 11] = [
    Call::chat("POST /channels/{channel}/messages"),
    Call::message("PATCH /channels/{channel}/messages/{message}"),
    Call::message("PATCH /channels/{channel}/messages/{message}"),
    Call::chat("POST /channels/{channel}/typing"),
    Call::message("DELETE /channels/{channel}/messages/{message} recent"),
    Call::chat("REACT /channels/{channel}/messages/{message}/reactions"),
    Call::chat("PATCH /channels/{channel} name"),
    Call::chat("PUT /channels/{channel}/things"),
    Call::chat("POST /webhooks/{webhook}/{token}"),
    Call::chat("POST /interactions/{interaction}/{token}/callback"),
    Call::chatless("GET /invites/{code}"),
];

/// Chats of every kind.
fn chats() -> BoxedStrategy<usize> {
    (0_usize..8).boxed()
}

/// Few channels and a webhook, or so many that all together may be too fast.
fn channels() -> BoxedStrategy<usize> {
    prop_oneof![2 => 4_usize..8, 1 => 8_usize..90].boxed()
}

fn ask(calls: &'static [Call], peers: BoxedStrategy<usize>) -> impl Strategy<Value = Ask> {
    let hold = option::weighted(0.5, prop_oneof![Just(0_u64), Just(1_000), Just(4_000), 0_u64..20_000, Just(600_000)]);
    let class = option::weighted(0.4, (0..Class::ALL.len()).prop_map(|at| Class::ALL[at]));
    let details =
        (1_u64..4, option::weighted(0.3, 1_i64..3), class, prop_oneof![8 => 1_u32..11, 1 => Just(40_u32)], 0_u8..4);
    (0..calls.len(), peers, details, hold, vec((delay(), reply()), 0..4)).prop_map(
        |(call, peer, (message, thread, class, weight, fields), hold_ms, answers)| Ask {
            call: calls[call],
            peer,
            message,
            thread,
            class,
            weight,
            fields,
            max_hold: hold_ms.map(Span::from_millis),
            answers,
        },
    )
}

fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![3 => Just(0_u64), 6 => 1_u64..400_000, 1 => 1_000_000_u64..90_000_000].prop_map(Span::from_micros)
}

fn reply() -> impl Strategy<Value = Reply> {
    let headers = (1_u64..3, 1_u32..6, 0_u32..6, 0_u64..3_000).prop_map(|(hash, limit, remaining, ms)| {
        let reset_after = Span::from_millis(ms);
        Headers { hash, limit, remaining: remaining.min(limit - 1), reset_after }
    });
    prop_oneof![
        10 => Just(Reply::Ok),
        4 => headers.prop_map(Reply::Learned),
        2 => Just(Reply::Transient),
        1 => Just(Reply::Permanent),
        3 => (200_u64..8_000).prop_map(|ms| Reply::Refused(Span::from_millis(ms))),
        2 => (100_u64..3_000).prop_map(|ms| Reply::Deferred(Span::from_millis(ms))),
    ]
}

fn act(calls: &'static [Call], peers: BoxedStrategy<usize>) -> impl Strategy<Value = Act> {
    let scope = prop_oneof![
        1 => Just(Scope::Bot),
        2 => peers.clone().prop_map(|at| Scope::Peer(Fair::peer(at))),
        1 => (0..calls.len()).prop_map(|at| Scope::Method(MethodKey::of(calls[at].method))),
        1 => (peers.clone(), 0..calls.len())
            .prop_map(|(peer, at)| Scope::PeerMethod(Fair::peer(peer), MethodKey::of(calls[at].method))),
    ];
    prop_oneof![
        40 => ask(calls, peers).prop_map(|ask| Act::Write(Box::new(ask))),
        3 => (1_usize..8).prop_map(Act::CancelBack),
        2 => (scope, 0_u64..12_000).prop_map(|(scope, ms)| Act::Cool(scope, Span::from_millis(ms))),
        1 => (-8_i64..-4, -8_i64..-4).prop_map(|(from, to)| Act::Migrate(Peer::Id(from), Peer::Id(to))),
    ]
}

fn plan(calls: &'static [Call], peers: BoxedStrategy<usize>) -> impl Strategy<Value = Vec<(u64, Act)>> {
    let gap = prop_oneof![8 => Just(0_u64), 6 => 0_u64..400, 2 => 0_u64..3_000, 1 => 0_u64..30_000];
    vec((gap, act(calls, peers)), 1..160)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn telegram(plan in plan(&TELEGRAM, chats())) {
        Fair::judge("telegram", plan);
    }

    #[test]
    fn telegram_forum(plan in plan(&TELEGRAM, chats())) {
        Fair::judge("telegram-forum", plan);
    }

    #[test]
    fn discord(plan in plan(&DISCORD, channels())) {
        Fair::judge("discord", plan);
    }

    #[test]
    fn discord_agent(plan in plan(&DISCORD, channels())) {
        Fair::judge("discord-agent", plan);
    }
}
