//! Nobody starves: the bot's bucket goes round.

use proptest::collection::vec;
use proptest::prelude::*;
use tidegate_core::governor::Class;
use tidegate_core::{Span, Time};

use super::config;
use crate::reference::Table;
use crate::world::{Act, Ask, World};

proptest! {
    #![proptest_config(config())]

    /// However much the others hold, a peer that comes with one send waits for one turn of each of them.
    #[test]
    fn a_quiet_peer_leaves_within_one_round(busy in vec(1_u64..4, 1..90), chrome in vec(0_u64..3, 0..20), after in 0_u64..1_500) {
        let mut world = World::new(Table::Telegram, true);
        for (chat, writes) in (1_000..).zip(&busy) {
            for _ in 0..*writes {
                world.plan(Time::ZERO, send(chat, Class::Send));
            }
        }
        for (chat, writes) in (5_000..).zip(&chrome) {
            for _ in 0..*writes {
                world.plan(Time::ZERO, send(chat, Class::Status));
            }
        }
        let came = Time::from_millis(after);
        let quiet = world.plan(came, send(77, Class::Send));
        world.run();
        let left = world.judge.first_releases().into_iter().find(|(ticket, _)| *ticket == quiet).map(|(_, at)| at);
        // Three turns in four are theirs; 25 turns a second.
        let turns = u64::try_from(busy.len() + 1).unwrap() * 4 / 3 + 1;
        let bound = Span::from_secs(turns.div_ceil(25) + 1);
        prop_assert!(left.is_some_and(|left| left <= came + bound), "came {came:?}, left {left:?}, bound {bound:?}");
    }
}

fn send(peer: i64, class: Class) -> Act {
    Act::Write(Ask {
        method: "sendMessage",
        peer: Some(peer),
        thread: None,
        message: None,
        class: Some(class),
        weight: 1,
        max_hold: Some(Span::from_secs(600)),
        answers: Vec::new(),
    })
}
