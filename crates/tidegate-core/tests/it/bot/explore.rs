//! Whatever is told in whatever order, the composite agrees with itself: it checks its invariants after every call.

use tidegate_core::bot::{Gateway, Input, Settings, ShardKey};
use tidegate_core::identify_queue::{self, GrantId, SessionStartLimit};
use tidegate_core::shard::{self, Event, Generation, Grant, StoredSession};
use tidegate_core::{Gate, Span, Time, send_queue};

use super::timeline::settings;
use crate::shard::world::{Dice, seed};

/// From nothing to longer than anything lasts.
fn span(dice: &mut Dice) -> Span {
    match dice.roll(6) {
        0 => Span::ZERO,
        1 => Span::MAX,
        2 => Span::from_micros(dice.roll(3)),
        _ => Span::from_millis(dice.roll(20_000)),
    }
}

fn key(dice: &mut Dice) -> ShardKey {
    let count = 1 + u32::try_from(dice.roll(3)).unwrap();
    ShardKey { id: u32::try_from(dice.roll(3)).unwrap(), count }
}

fn event(dice: &mut Dice) -> Event {
    match dice.roll(14) {
        0 | 1 => Event::Opened,
        2 | 3 => Event::Hello { interval: span(dice) },
        4 | 5 => Event::Ready { session: "s".into(), resume_url: "".into(), seq: dice.roll(9) },
        6 => Event::Resumed,
        7 => Event::Dispatch { seq: dice.roll(u64::MAX) },
        8 => Event::Ack,
        9 => Event::Reconnect,
        10 => Event::InvalidSession { resumable: dice.roll(2) == 0 },
        11 => Event::Closed { code: Some([1000, 4004, 4008, 4009][usize::try_from(dice.roll(4)).unwrap()]) },
        12 => Event::BeatAsked,
        _ => Event::Error,
    }
}

fn of_shard(dice: &mut Dice) -> shard::Input {
    match dice.roll(24) {
        0..=2 => shard::Input::Start,
        3 => shard::Input::Fresh { differs: dice.roll(2) == 0 },
        4 => shard::Input::Stop,
        5 => shard::Input::Logout,
        10 => shard::Input::Rewind { seq: dice.roll(9) },
        6 => shard::Input::Restart,
        7 => shard::Input::Granted { grant: Grant(dice.roll(9)) },
        8 => shard::Input::Denied { refresh_at: Time::from_millis(dice.roll(50_000)) },
        9 => shard::Input::NextInLine { due: Time::ZERO },
        _ => shard::Input::Socket { generation: Generation(dice.roll(6)), event: event(dice) },
    }
}

fn of_queue(dice: &mut Dice) -> identify_queue::Input {
    let shard = i64::try_from(dice.roll(4)).unwrap() - 1;
    let grant = (dice.roll(2) == 0).then(|| GrantId(dice.roll(20)));
    match dice.roll(6) {
        0 | 1 => identify_queue::Input::Request { shard, http: dice.roll(2) == 0 },
        2 => identify_queue::Input::Release { shard, grant, unused: dice.roll(2) == 0 },
        3 => identify_queue::Input::Identified { shard, grant },
        4 => {
            let until = Time::from_millis(dice.roll(100_000));
            identify_queue::Input::Deferred { shard, grant: GrantId(dice.roll(20)), until }
        }
        _ => {
            let limit = SessionStartLimit {
                max_concurrency: i64::try_from(dice.roll(4)).unwrap() - 1,
                remaining: i64::try_from(dice.roll(40)).unwrap() - 1,
                reset_at: Time::from_millis(dice.roll(100_000_000)),
            };
            identify_queue::Input::Refresh { limit, total: Some(dice.roll(90)), shards: Some(dice.roll(5)) }
        }
    }
}

fn input(dice: &mut Dice) -> Input<()> {
    let key = key(dice);
    match dice.roll(40) {
        0..=4 => {
            let at = Time::from_millis(dice.roll(90_000));
            let stored = StoredSession { id: "s".into(), seq: 1, resume_url: "".into(), backoff_step: 3, at };
            let (autonomous, seed) = (dice.roll(4) > 0, dice.roll(9));
            let stored = (dice.roll(2) == 0).then_some(stored);
            Input::Open { key, url: "wss://main".into(), seed, autonomous, stored }
        }
        5 => Input::Forget { key },
        6 if dice.roll(20) == 0 => Input::Unauthorized,
        7..=12 => Input::IdentifyQueue(of_queue(dice)),
        13 => Input::SendQueue { key, input: send_queue::Input::Closed { code: None } },
        14 | 15 => Input::SendQueue { key, input: send_queue::Input::Command { id: 1, op: 3, guild: None, bytes: 9 } },
        16 => {
            Input::SendQueue { key, input: send_queue::Input::Subscribe { guild: "g".into(), snapshot: (), bytes: 9 } }
        }
        17 => Input::Tick,
        _ => Input::Shard { key, input: of_shard(dice) },
    }
}

#[test]
fn no_order_of_inputs_makes_the_gates_contradict_each_other() {
    for run in 0..150 {
        let mut dice = Dice::new(seed() * 10_000 + run);
        let mut settings = Settings { shards_max: 5, ..settings() };
        if dice.roll(3) == 0 {
            // Numbers that nobody would choose.
            settings.shard.hold = span(&mut dice);
            settings.shard.spacing = span(&mut dice);
            settings.shard.early_dial = span(&mut dice);
            settings.shard.backoff_min = span(&mut dice);
            settings.identify_queue.spacing = span(&mut dice);
            settings.identify_queue.hold = span(&mut dice);
            settings.identify_queue.http_hold = span(&mut dice);
            settings.identify_queue.rolling_limit = dice.roll(9);
        }
        let limit = SessionStartLimit { max_concurrency: 2, remaining: 30, reset_at: Time::from_millis(60_000) };
        let mut gateway: Gateway<()> = Gateway::new(settings, limit, []);
        let mut now = Time::ZERO;
        for _ in 0..400 {
            match (dice.roll(3), gateway.poll_timeout()) {
                (0, Some((at, _))) if at < Time::from_millis(u64::MAX / 4_000) => now = at,
                (1, _) => now += Span::from_millis(dice.roll(3_000)),
                _ => {}
            }
            gateway.handle(now, input(&mut dice));
            let mut outputs = 0;
            while gateway.poll_output().is_some() {
                outputs += 1;
            }
            assert!(outputs < 500, "run {run}: {outputs} outputs of one input");
            assert!(gateway.poll_timeout().is_none_or(|(at, _)| at > now), "run {run}: what is due is done");
        }
    }
}
