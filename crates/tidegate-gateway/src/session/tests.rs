use std::cell::Cell;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use tidegate_core::discord::Fatal;
use tidegate_core::shard::{StopReason, Why};
use tidegate_core::{Span, Time};

use super::{Input, Order, Session, Times, Word};
use crate::frame::{Identify, Said, said};
use crate::ring::{Bounds, Ring, Total};

pub(super) const TIMES: Times = Times {
    detach_timeout: Span::from_secs(60),
    logout_grace: Span::from_secs(5),
    place_hold: Span::from_secs(30),
    quiet_max: Span::from_secs(60),
    takeover_most: 3,
    takeover_window: Span::from_secs(300),
    takeover_wait: Span::from_secs(60),
};

/// A session, its ring, and what it ordered so far.
struct World {
    session: Session,
    ring: std::sync::Arc<Ring>,
    now: Time,
    log: String,
    seq: Cell<u64>,
}

impl World {
    fn new() -> Self {
        let ring = Ring::new(Bounds { events: 4, bytes: 1000 }, &Total::new(10_000));
        Self { session: Session::new(TIMES), ring, now: Time::ZERO, log: String::new(), seq: Cell::new(0) }
    }

    fn at(&mut self, seconds: u64) -> &mut Self {
        let to = Time::from_millis(seconds * 1000);
        while let Some(due) = self.session.due().filter(|due| *due <= to) {
            self.now = self.now.max(due);
            self.tell(Input::Tick);
        }
        self.now = to;
        self
    }

    fn tell(&mut self, input: Input) -> &mut Self {
        self.session.handle(self.now, input, &*self.ring);
        while let Some(order) = self.session.order() {
            let said = match order {
                Order::Tell { bot, word: Word::Close(close) } => {
                    format!("{bot}: close {} {}", close.code, close.reason)
                }
                Order::Tell { bot, word } => format!("{bot}: {word:?}"),
                Order::Shard(input) => format!("shard: {input:?}"),
                Order::Reopen { seq } => {
                    self.ring.reset(seq);
                    format!("reopen at {seq}")
                }
                Order::Clear => {
                    self.ring.reset(0);
                    continue;
                }
                Order::Forget => "forget".to_owned(),
            };
            let _ = writeln!(self.log, "{} s {said}", self.now.as_micros() / 1_000_000);
        }
        self
    }

    fn identify(&mut self, bot: u64, intents: u64) -> &mut Self {
        self.tell(Input::Identify { bot, identify: identify(intents) })
    }

    fn resume(&mut self, bot: u64, seq: u64) -> &mut Self {
        self.tell(Input::Resume { bot, seq })
    }

    fn left(&mut self, bot: u64, code: Option<u16>) -> &mut Self {
        self.tell(Input::Left { bot, code })
    }

    /// IDENTIFY is written, and READY comes.
    fn ready(&mut self) -> &mut Self {
        self.session.identify().expect("an IDENTIFY");
        self.ring.begin(1, "READY".into());
        self.seq.set(1);
        self.tell(Input::Ready { session: "s".into() })
    }

    fn dispatches(&mut self, count: u64) -> &mut Self {
        for _ in 0..count {
            self.seq.set(self.seq.get() + 1);
            self.ring.append([(self.seq.get(), "event".into())]);
        }
        self
    }

    fn check(&mut self, expected: &Expect) {
        expected.assert_eq(&std::mem::take(&mut self.log));
    }
}

/// An IDENTIFY with these intents.
pub(super) fn identify(intents: u64) -> std::sync::Arc<Identify> {
    let frame = format!(r#"{{"op":2,"d":{{"token":"a.b.c","intents":{intents}}}}}"#);
    let Ok(Said::Identify(identify)) = said(&frame.into()) else { panic!() };
    identify
}

/// A bot, 1, with intents 7, that has had READY.
fn live() -> World {
    let mut world = World::new();
    world.identify(1, 7).ready();
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 1: Begin
    "]]);
    world
}

#[test]
fn a_bot_that_resumes_gets_what_it_missed_without_a_word_to_discord() {
    let mut world = live();
    world.dispatches(2).left(1, None).at(10).resume(2, 2).at(1000);
    world.check(&expect![[r"
        10 s 2: Replay(Position(2))
    "]]);
}

#[test]
fn what_is_older_than_the_ring_is_fetched_from_discord() {
    let mut world = live();
    world.dispatches(10).left(1, Some(4000)).resume(2, 3).tell(Input::Resumed).tell(Input::Resumed);
    world.check(&expect![[r"
        0 s reopen at 3
        0 s 2: Follow
        0 s 2: Resumed
    "]]);
}

#[test]
fn no_wait_of_the_shards_is_cut_short_by_a_late_resume() {
    let cooldown = || Input::Waiting { until: Time::from_millis(1_800_000), why: Why::Cooldown };
    let mut world = live();
    world.dispatches(10).tell(cooldown()).at(1).resume(2, 3).at(1_800).tell(Input::Going).tell(Input::Resumed);
    world.check(&expect![[r"
        0 s 1: close 4000 Discord said that too much was sent (4008): held for 1800 s; come back, you are kept waiting quietly
        1 s reopen at 3
        1 s 2: Follow
        1800 s 2: Resumed
    "]]);
    // Nor is one that its shard keeps while it is off.
    let mut world = live();
    world.dispatches(10).left(1, None).at(100).resume(2, 3).tell(cooldown());
    world.check(&expect![[r"
        60 s shard: Stop
        100 s reopen at 3
        100 s 2: Follow
        100 s 2: close 4000 Discord said that too much was sent (4008): held for 1700 s; come back, you are kept waiting quietly
    "]]);
    world.at(101).resume(3, 3).left(3, None).tell(Input::Going).resume(4, 3).tell(Input::Lost);
    world.check(&expect![[r"
        101 s 3: Replay(Position(11))
        101 s 4: Replay(Position(11))
        101 s 4: Invalid
    "]]);
}

#[test]
fn a_seq_above_ours_and_a_session_that_is_gone_are_op_9_at_once() {
    let mut world = live();
    world.resume(2, 2);
    world.tell(Input::Lost).resume(3, 1);
    world.check(&expect![[r"
        0 s 2: Invalid
        0 s 1: Invalid
        0 s 3: Invalid
    "]]);
    assert_eq!(world.session.attached(), Some(1));
}

#[test]
fn an_equal_identify_gets_the_same_ready_again() {
    let mut world = live();
    world.dispatches(3).left(1, None).identify(2, 7).left(2, None).at(60).at(61).identify(3, 7);
    world.check(&expect![[r"
        0 s 2: Begin
        60 s shard: Stop
        61 s 3: Begin
        61 s shard: Start
    "]]);
}

#[test]
fn another_identify_or_a_ring_that_lost_its_begin_is_a_new_session() {
    let mut world = live();
    world.left(1, None).identify(2, 8).ready();
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 2: Begin
    "]]);
    world.dispatches(4).left(2, None).identify(3, 8);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: false }
    "]]);
}

#[test]
fn a_place_in_line_outlives_its_socket_by_30_s_whatever_it_closed_with() {
    let mut world = World::new();
    world.identify(1, 7).at(15).left(1, Some(1000)).at(16).identify(2, 7).at(31).left(2, Some(1000)).at(100);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        16 s shard: Fresh { differs: false }
        61 s shard: Stop
    "]]);
}

#[test]
fn a_ready_that_comes_between_two_sockets_is_kept() {
    let mut world = World::new();
    world.identify(1, 7).at(15).left(1, Some(1000)).at(16).ready().at(40).identify(2, 7).at(1000);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        40 s 2: Begin
    "]]);
}

#[test]
fn ready_of_an_older_identify_is_not_the_bots() {
    let mut world = World::new();
    world.identify(1, 7);
    world.session.identify().unwrap();
    world.left(1, None).identify(2, 8);
    world.ring.begin(1, "READY".into());
    world.tell(Input::Ready { session: "old".into() }).ready();
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s shard: Fresh { differs: true }
        0 s 2: Begin
    "]]);
}

#[test]
fn a_bot_that_logs_out_ends_its_session_after_a_grace() {
    for code in [1000, 1001] {
        let mut world = live();
        world.left(1, Some(code)).at(4).resume(2, 1).left(2, Some(code)).at(9).resume(3, 1);
        world.check(&expect![[r"
            4 s 2: Replay(Position(1))
            9 s shard: Logout
            9 s 3: Invalid
        "]]);
        world.at(10_000);
        world.check(&expect![[r"
            3609 s forget
        "]]);
    }
}

#[test]
fn a_session_without_a_bot_is_left_resumable_and_a_late_resume_starts_it_again() {
    let mut world = live();
    world.left(1, Some(4000)).at(59).at(60).at(200).resume(2, 1).left(2, None).at(10_000);
    world.check(&expect![[r"
        60 s shard: Stop
        200 s 2: Replay(Position(1))
        200 s shard: Start
        260 s shard: Stop
        3860 s forget
    "]]);
}

#[test]
fn the_newest_takes_over_and_the_third_time_it_waits() {
    let mut world = live();
    world.at(1).identify(2, 7).at(2).resume(3, 1).at(3).identify(4, 7).left(2, None);
    world.check(&expect![[r"
        1 s 1: close 4000 superseded by a newer connection
        1 s 2: Begin
        2 s 2: close 4000 superseded by a newer connection
        2 s 3: Replay(Position(1))
    "]]);
    assert_eq!(world.session.newcomer(), Some(Time::from_millis(63_000)));
    world.at(10).identify(5, 7).at(100);
    world.check(&expect![[r"
        10 s 4: close 4000 superseded by a newer connection
        63 s 3: close 4000 superseded by a newer connection
        63 s 5: Begin
    "]]);
    world.at(400).identify(6, 7);
    world.check(&expect![[r"
        400 s 5: close 4000 superseded by a newer connection
        400 s 6: Begin
    "]]);
}

#[test]
fn a_newcomer_that_gives_up_and_comes_again_waits_no_longer_for_it() {
    let mut world = live();
    world.identify(2, 7).identify(3, 7).at(1).identify(4, 7).at(16).left(4, Some(1000)).at(17).identify(5, 7);
    world.at(32).left(5, Some(1000)).at(70).identify(6, 7);
    world.check(&expect![[r"
        0 s 1: close 4000 superseded by a newer connection
        0 s 2: Begin
        0 s 2: close 4000 superseded by a newer connection
        0 s 3: Begin
        70 s 3: close 4000 superseded by a newer connection
        70 s 6: Begin
    "]]);
    world.at(71).identify(7, 7).at(130).at(131);
    world.check(&expect![[r"
        131 s 6: close 4000 superseded by a newer connection
        131 s 7: Begin
    "]]);
}

#[test]
fn a_newcomer_need_not_wait_for_a_bot_that_left() {
    let mut world = live();
    world.identify(2, 7).identify(3, 7).identify(4, 7).left(3, None);
    world.check(&expect![[r"
        0 s 1: close 4000 superseded by a newer connection
        0 s 2: Begin
        0 s 2: close 4000 superseded by a newer connection
        0 s 3: Begin
        0 s 4: Begin
    "]]);
}

#[test]
fn a_lost_session_is_told_once_and_the_next_identify_is_held_by_the_gate() {
    let mut world = live();
    world.tell(Input::Lost).tell(Input::Lost).identify(1, 7).ready();
    world.check(&expect![[r"
        0 s 1: Invalid
        0 s shard: Fresh { differs: false }
        0 s 1: Begin
    "]]);
}

#[test]
fn a_long_wait_is_told_once_in_five_minutes() {
    let mut world = World::new();
    let until = Time::from_millis(1_800_000);
    let waiting = |why| Input::Waiting { until, why };
    world.identify(1, 7).tell(Input::Waiting { until: Time::from_millis(60_000), why: Why::Backoff });
    world.tell(waiting(Why::Cooldown)).at(1).identify(2, 7).at(200).left(2, None).at(301).identify(3, 7);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 1: close 4000 Discord said that too much was sent (4008): held for 1800 s; come back, you are kept waiting quietly
        1 s shard: Fresh { differs: false }
        230 s shard: Stop
        301 s shard: Fresh { differs: false }
    "]]);
    world.tell(waiting(Why::Cooldown)).at(302).identify(4, 7).tell(Input::Going).at(800);
    world.check(&expect![[r"
        301 s 3: close 4000 Discord said that too much was sent (4008): held for 1499 s; come back, you are kept waiting quietly
        302 s shard: Fresh { differs: false }
    "]]);
}

#[test]
fn without_a_budget_a_bot_is_told_after_a_minute_and_again() {
    let mut world = World::new();
    let until = Time::from_millis(80_000_000);
    world.identify(1, 7).tell(Input::Waiting { until, why: Why::Budget }).at(59).at(61).identify(2, 7).at(400);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        60 s 1: Invalid
        60 s 1: close 4000 no session start is left: held for 79940 s; come back, you are kept waiting quietly
        61 s shard: Fresh { differs: false }
        360 s 2: Invalid
        360 s 2: close 4000 no session start is left: held for 79640 s; come back, you are kept waiting quietly
        390 s shard: Stop
    "]]);
}

#[test]
fn a_refusal_for_good_is_told_from_memory_until_the_identify_differs() {
    let stopped = || Input::Stopped(StopReason::Fatal(Fatal::DisallowedIntents));
    let backoff = Input::Waiting { until: Time::from_millis(8_000), why: Why::Backoff };
    let mut world = World::new();
    world.identify(1, 7).tell(Input::Going).tell(stopped()).at(3).identify(2, 7).tell(backoff);
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 1: close 4014 Discord closed with this: disallowed intents
        3 s shard: Fresh { differs: false }
        3 s 2: close 4014 Discord closed with this before: disallowed intents; the same IDENTIFY is tried again in 5 s
        3 s shard: Stop
    "]]);
    world.at(4).identify(3, 8).tell(Input::Going).tell(stopped()).at(9).identify(4, 8).tell(Input::Going).ready();
    world.check(&expect![[r"
        4 s shard: Fresh { differs: true }
        4 s 3: close 4014 Discord closed with this: disallowed intents
        9 s shard: Fresh { differs: false }
        9 s 4: Begin
    "]]);
}

#[test]
fn a_bot_that_follows_a_session_which_is_replaced_is_told() {
    let mut world = live();
    world.left(1, None).identify(2, 8).left(2, None).identify(3, 7).ready();
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 3: Begin
        0 s 3: Invalid
    "]]);
}

#[test]
fn whoever_left_before_changes_nothing() {
    let mut world = live();
    world.identify(2, 7).left(1, Some(1000)).at(1000);
    world.check(&expect![[r"
        0 s 1: close 4000 superseded by a newer connection
        0 s 2: Begin
    "]]);
}

#[test]
fn a_bot_that_logs_out_again_and_again_leaves_its_session_to_the_next() {
    let mut world = World::new();
    world.identify(1, 1).ready();
    for (bot, at) in [(1, 10), (2, 40), (3, 70)] {
        world.at(at).left(bot, Some(1000)).at(at + 10).identify(bot + 1, 1);
        if bot < 3 {
            world.ready();
        }
    }
    world.check(&expect![[r"
        0 s shard: Fresh { differs: true }
        0 s 1: Begin
        15 s shard: Logout
        20 s shard: Fresh { differs: false }
        20 s 2: Begin
        45 s shard: Logout
        50 s shard: Fresh { differs: false }
        50 s 3: Begin
        75 s shard: Stop
        80 s 4: Begin
        80 s shard: Start
    "]]);
    // Fifteen minutes after the first of them it is an end again.
    world.at(80 + 900).left(4, Some(1000)).at(80 + 910).check(&expect![[r"
        985 s shard: Logout
    "]]);
}
