//! Whatever is asked and answered: limits hold, order is kept, nothing is lost, everything ends.

use proptest::prelude::*;
use tidegate_core::{Span, Time};

use super::config;
use super::plans::{Plan, Step, everything, in_steps, sends};
use crate::reference::Table;
use crate::world::{Act, World};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sends_leave_in_order_and_as_early_as_they_may(plan in sends(70), instant in any::<bool>()) {
        judge(Table::Telegram, instant, &plan);
    }

    #[test]
    fn what_can_go_as_its_hold_ends_goes(plan in in_steps(150), instant in any::<bool>()) {
        judge(Table::Telegram, instant, &plan);
    }

    #[test]
    fn telegram_keeps_its_limits(plan in everything(60), instant in prop::bool::weighted(0.2)) {
        judge(Table::Telegram, instant, &plan);
    }

    #[test]
    fn telegram_forum_keeps_its_limits(plan in everything(60), instant in prop::bool::weighted(0.2)) {
        judge(Table::Forum, instant, &plan);
    }
}

/// Runs a plan under the judge's eyes, until all is at rest and forgotten.
fn judge(table: Table, instant: bool, plan: &Plan) {
    let mut world = World::new(table, instant);
    let mut at = Time::ZERO;
    let mut tickets = Vec::new();
    for (gap, step) in plan {
        at += Span::from_millis(*gap);
        let act = match step {
            Step::Act(act) => act.clone(),
            Step::CancelBack(back) if *back <= tickets.len() => Act::Cancel(tickets[tickets.len() - back]),
            Step::CancelBack(_) => continue,
        };
        let is_write = matches!(act, Act::Write(_));
        let number = world.plan(at, act);
        tickets.extend(is_write.then_some(number));
    }
    world.run();
    assert!(world.judge.at_rest(), "something never ended");
    assert_eq!(world.peers_after(Span::from_secs(200)), 0, "somebody is never forgotten");
}
