//! Discords that do their worst at random: whatever they answer, a day spends few session starts.

use tidegate_core::shard::Event;

use super::queue::Answer;
use super::world::{Act, Answers, Dice, World, closed, healthy, ready, seed};

const DAY_MS: u64 = 24 * 3_600_000;

/// Codes that do not stop a shard.
const CODES: [u16; 10] = [1000, 1001, 1006, 4000, 4003, 4005, 4007, 4008, 4009, 4002];

fn blow(dice: &mut Dice) -> Event {
    match dice.roll(6) {
        0 => Event::Error,
        1 => Event::Reconnect,
        2 => Event::InvalidSession { resumable: dice.roll(2) == 0 },
        3 => Event::Closed { code: None },
        _ => closed(CODES[usize::try_from(dice.roll(10)).unwrap()]),
    }
}

/// No connection lives for a minute.
pub(crate) fn storm(dice: &mut Dice, act: Act) -> Answers {
    let mut answers = match act {
        Act::Beat | Act::Identify | Act::Resume if dice.roll(4) == 0 => vec![],
        Act::Dial { .. } if dice.roll(8) == 0 => return vec![(dice.roll(3_000), blow(dice))],
        Act::Dial { .. } if dice.roll(8) == 0 => return vec![],
        _ => healthy(act),
    };
    // What follows comes twice now and then, and late, when the connection is long gone.
    if matches!(act, Act::Identify | Act::Resume) {
        answers.push((200 + dice.roll(59_000), blow(dice)));
        answers.push((200 + dice.roll(120_000), blow(dice)));
    }
    if let Act::Close(_) = act {
        answers.push((dice.roll(5_000), closed(1000)));
    }
    answers
}

#[test]
fn no_storm_spends_more_than_a_fifth_of_the_days_starts() {
    for run in 0..24 {
        let mut dice = Dice::new(seed() * 1_000 + run);
        let seeded = move |settings: &mut tidegate_core::shard::Settings| settings.seed = run;
        let mut world = World::with(1, 1, seeded, None, move |_, act| storm(&mut dice, act)).start();
        world.run_until(DAY_MS);
        let identifies = world.identifies();
        assert!((2..=200).contains(&identifies), "{identifies} identifies, run {run}");
        assert!(world.dials() <= 3_000, "{} dials, run {run}", world.dials());
    }
}

#[test]
fn after_any_storm_a_calm_brings_the_shard_back() {
    for run in 0..24 {
        let mut dice = Dice::new(seed() * 1_000 + run);
        let calm_ms = 3_600_000 + dice.roll(3_600_000);
        let script = move |by: super::world::By, act| {
            if by.now_ms < calm_ms { storm(&mut dice, act) } else { healthy(act) }
        };
        let mut world = World::with(4, 1, |settings| settings.seed = run, None, script).start();
        // Late blows of the storm, a cooldown of half an hour, the longest step, a dial that hangs.
        world.run_until(calm_ms + 120_000 + 1_800_000 + 900_000 + 300_000);
        assert_eq!(world.live(), 4, "run {run}");
        assert!(world.queue.answers(world.now_ms).iter().all(|(_, answer)| !matches!(answer, Answer::Granted { .. })));
    }
}

#[test]
fn a_shard_that_came_through_once_is_stable_again() {
    let script = |by: super::world::By, act| match act {
        Act::Identify if by.count < 5 => vec![(100, ready()), (10_000, closed(4009))],
        _ => healthy(act),
    };
    let mut world = World::new(1, 1, script).start();
    world.run_until(600_000);
    assert!(world.seats[0].shard.is_stable());
    assert_eq!(world.seats[0].shard.backoff_step(), 0);
}
