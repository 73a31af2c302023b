//! Edits of one message by all methods, routes and classes at once, with a message as their judge: whatever is refused,
//! fails, waits or leaves, the message ends as if all had been sent in order.

mod judge;
mod message;
mod world;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tidegate_core::Span;
use tidegate_core::governor::Class;

use self::world::{Ask, GROUP, SUPERGROUP, Step, World};
use crate::properties::config;
use crate::world::Reply;

const TELEGRAM: [&str; 9] = [
    "editMessageText",
    "editMessageReplyMarkup",
    "editMessageCaption",
    "editMessageMedia",
    "editMessageLiveLocation",
    "stopMessageLiveLocation",
    "editMessageChecklist",
    "stopPoll",
    "setGameScore",
];
const DISCORD: [&str; 5] = [
    "PATCH /channels/5/messages/9",
    "PATCH /webhooks/3/token/messages/9",
    "PATCH /webhooks/3/other/messages/9",
    "PATCH /webhooks/3/token/messages/@original",
    "PATCH /channels/5/messages/8",
];
const FIELDS: [&str; 3] = ["content", "embeds", "components"];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn telegram_messages_end_as_if_all_were_sent_in_order(plan in plan(telegram(false))) {
        World::new("telegram").run(migrated(plan));
    }

    #[test]
    fn forum_messages_end_as_if_all_were_sent_in_order(plan in plan(telegram(true))) {
        World::new("telegram-forum").run(migrated(plan));
    }

    #[test]
    fn discord_messages_end_as_if_all_were_sent_in_order(plan in plan(discord())) {
        World::new("discord").run(plan);
    }

    #[test]
    fn an_agents_messages_end_as_if_all_were_sent_in_order(plan in plan(discord())) {
        World::new("discord-agent").run(plan);
    }
}

proptest! {
    #![proptest_config(config())]

    /// What leaves by one name while the other is not known to be the same cannot be kept in order; but all ends.
    #[test]
    fn a_chat_by_two_names_becomes_one(plan in plan(telegram(false))) {
        World::new("telegram").by_two_names().run(plan);
    }
}

fn plan(ask: impl Strategy<Value = Ask>) -> impl Strategy<Value = Vec<(u64, Step)>> {
    let step = prop_oneof![
        40 => ask.prop_map(Step::Write),
        3 => (0_usize..4).prop_map(Step::Leave),
        1 => (0_u64..4_000).prop_map(|ms| Step::CoolBot(Span::from_millis(ms))),
        1 => (0_u64..4_000).prop_map(|ms| Step::CoolChat(GROUP, Span::from_millis(ms))),
        1 => Just(Step::Migrate),
        1 => any::<bool>().prop_map(Step::Enable),
    ];
    vec((gap(), step), 1..45)
}

/// Nobody knows the group's new id before it has it.
fn migrated(mut plan: Vec<(u64, Step)>) -> Vec<(u64, Step)> {
    let mut moved = false;
    for (_, step) in &mut plan {
        match step {
            Step::Migrate => moved = true,
            Step::Write(ask) if !moved && ask.chat == SUPERGROUP => ask.chat = GROUP,
            _ => {}
        }
    }
    plan
}

fn telegram(rich: bool) -> impl Strategy<Value = Ask> {
    let method = prop_oneof![
        6 => Just(TELEGRAM[0]),
        4 => Just(TELEGRAM[1]),
        4 => (0..TELEGRAM.len()).prop_map(|at| TELEGRAM[at]),
        3 => Just(if rich { "sendRichMessage" } else { "sendMessage" }),
    ];
    let chat = prop_oneof![6 => Just(GROUP), 2 => Just(SUPERGROUP), 2 => Just(77)];
    (method, chat, any::<bool>(), 1_u64..3, manner()).prop_map(move |(method, chat, as_rich, message, manner)| {
        let (class, hold, answers) = manner;
        let edits = !method.starts_with("send");
        let fields = if rich && as_rich && method == TELEGRAM[0] { vec!["rich_message"] } else { Vec::new() };
        Ask { method, chat, message: edits.then_some(message), fields, class, hold, answers }
    })
}

fn discord() -> impl Strategy<Value = Ask> {
    let method = prop_oneof![
        12 => (0..DISCORD.len()).prop_map(|at| DISCORD[at]),
        6 => Just(DISCORD[0]),
        2 => Just("POST /channels/5/messages"),
    ];
    (method, 1_usize..8, manner()).prop_map(|(method, fields, (class, hold, answers))| {
        let fields =
            FIELDS.iter().zip(0..).filter(|(_, bit)| fields & (1 << bit) != 0).map(|(name, _)| *name).collect();
        let message = method.starts_with("PATCH").then_some(0);
        Ask { method, chat: 0, message, fields, class, hold, answers }
    })
}

type Manner = (Option<Class>, Option<Span>, Vec<(Span, Reply)>);

fn manner() -> impl Strategy<Value = Manner> {
    let class = option::weighted(0.5, (0..Class::ALL.len()).prop_map(|at| Class::ALL[at]));
    let hold = option::weighted(0.4, prop_oneof![Just(0_u64), 0_u64..4_000, Just(600_000)]);
    (class, hold.prop_map(|hold| hold.map(Span::from_millis)), vec((delay(), reply()), 0..4))
}

fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 8 => 0_u64..200, 2 => 0_u64..1_500, 1 => 0_u64..10_000]
}

fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![2 => Just(0_u64), 8 => 1_u64..900, 1 => 1_000_u64..70_000].prop_map(Span::from_millis)
}

fn reply() -> impl Strategy<Value = Reply> {
    let ms = || (100_u64..4_000).prop_map(Span::from_millis);
    prop_oneof![
        10 => Just(Reply::Ok),
        6 => Just(Reply::Transient),
        1 => Just(Reply::Permanent),
        2 => ms().prop_map(Reply::Refused),
        1 => ms().prop_map(Reply::RefusedBot),
        2 => ms().prop_map(Reply::Deferred),
    ]
}
