//! Whatever the weather: no spacing is violated, no budget overspent, nothing written into the air, and in the end all are up.

use tidegate_core::bot::{Settings, ShardKey};

use super::judge::Judge;
use super::timeline::settings;
use super::world::World;
use crate::shard::world::{Dice, seed};

const HOUR_MS: u64 = 3_600_000;

fn keys(counts: &[u32]) -> Vec<ShardKey> {
    counts.iter().flat_map(|count| (0..*count).map(|id| ShardKey { id, count: *count })).collect()
}

fn world(run: u64, counts: &[u32], max_concurrency: i64, total: u64, calm_from_ms: u64) -> World {
    let mut settings = Settings { shard: tidegate_core::shard::Settings::default(), ..settings() };
    settings.identify_queue.total = total;
    settings.identify_queue.shards = counts.iter().map(|count| u64::from(*count)).sum();
    let rolling = usize::try_from(settings.identify_queue.rolling_limit()).unwrap();
    let judge = Judge::new(max_concurrency, i64::try_from(total).unwrap(), rolling);
    World::new(settings, judge, keys(counts), Dice::new(seed() * 1_000 + run), calm_from_ms)
}

#[test]
fn after_any_storm_every_shard_of_both_counts_comes_up() {
    for run in 0..12 {
        let mut dice = Dice::new(run);
        let (few, more) = (1 + u32::try_from(dice.roll(4)).unwrap(), 2 + u32::try_from(dice.roll(6)).unwrap());
        let counts = if few == more { vec![few] } else { vec![few, more] };
        let max_concurrency = 1 + i64::try_from(dice.roll(4)).unwrap();
        let calm_from_ms = HOUR_MS + dice.roll(3 * HOUR_MS);
        let mut world = world(run, &counts, max_concurrency, 1_000, calm_from_ms);
        world.run_until(calm_from_ms);
        world.start_all();
        // The storm's late blows, a cooldown of half an hour, the longest step, and a place in line.
        world.run_until(calm_from_ms + 120_000 + 1_800_000 + 900_000 + 600_000);
        let all = usize::try_from(counts.iter().sum::<u32>()).unwrap();
        assert_eq!(world.live(), all, "run {run}: {counts:?} through {max_concurrency} buckets");
        assert!(world.judge.identifies_ms.len() > 3, "run {run}: there was a storm");
    }
}

#[test]
fn a_small_budget_is_never_overspent_and_a_new_day_brings_all_up() {
    for run in 100..106 {
        let calm_from_ms = 20 * HOUR_MS;
        let mut world = world(run, &[3, 5], 2, 40, calm_from_ms);
        world.run_until(25 * HOUR_MS);
        world.refresh();
        world.start_all();
        world.run_until(47 * HOUR_MS);
        world.refresh();
        world.start_all();
        world.run_until(48 * HOUR_MS);
        assert_eq!(world.live(), 8, "run {run}");
        assert!(world.judge.identifies_ms.len() >= 20, "run {run}: the budget was used up");
    }
}
