use std::time::Duration;

use super::*;

const SECOND_US: u64 = 1_000_000;

/// A small generator of numbers, the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn a_window_is_never_exceeded_and_never_stingy_in_any_alignment() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let count = 1 + u32::try_from(dice.below(25)).unwrap();
        let period_us = SECOND_US * (1 + dice.below(60));
        let mut meter = Meter::new(Rate::Window { count, period: Duration::from_micros(period_us) });
        let mut taken: Vec<(u64, u32)> = Vec::new();
        let mut now_us = 0;
        for _ in 0..400 {
            now_us += dice.below(2 * period_us / u64::from(count) + 1);
            let weight = 1 + u32::try_from(dice.below(u64::from(count.min(10)))).unwrap();
            let standing = |at_us: u64| -> u32 {
                taken.iter().filter(|(then_us, _)| then_us + period_us > at_us).map(|(_, units)| units).sum()
            };
            let fits = |at_us: u64| standing(at_us) + weight <= count;
            let wait_us = meter.wait_us(now_us, weight);
            assert_eq!(wait_us == 0, fits(now_us), "seed {seed}, at {now_us}");
            assert_eq!(meter.room(now_us), count - standing(now_us), "seed {seed}, at {now_us}");
            assert!(fits(now_us + wait_us), "seed {seed}: told too short a wait at {now_us}");
            assert!(wait_us == 0 || !fits(now_us + wait_us - 1), "seed {seed}: told too long a wait at {now_us}");
            if wait_us == 0 {
                meter.take(now_us, weight);
                taken.push((now_us, weight));
            }
            assert!(meter.stamps.len() <= count as usize, "seed {seed}: remembers more than it counts");
        }
    }
}

#[test]
fn a_pace_lets_a_burst_through_and_then_its_rate() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let (burst, slack_us) = (1 + dice.below(5), dice.below(SECOND_US / 2));
        let mut meter = Meter::new(Rate::Pace {
            burst: u32::try_from(burst).unwrap(),
            period: Duration::from_secs(1),
            slack: Duration::from_micros(slack_us),
        });
        let mut taken: Vec<u64> = Vec::new();
        let mut now_us = 0;
        for _ in 0..300 {
            now_us += dice.below(3 * SECOND_US / 2);
            // Of every run of calls that ends now: no more than the burst and what its length gives back.
            let fits = |at_us: u64| {
                taken.iter().enumerate().all(|(index, then_us)| {
                    let calls = (taken.len() - index) as u64 + 1;
                    calls * SECOND_US <= burst * SECOND_US + (at_us - then_us) + slack_us
                })
            };
            let wait_us = meter.wait_us(now_us, 7);
            assert_eq!(wait_us == 0, fits(now_us), "seed {seed}, at {now_us}");
            assert!(fits(now_us + wait_us) && (wait_us == 0 || !fits(now_us + wait_us - 1)), "seed {seed}");
            if wait_us == 0 {
                meter.take(now_us, 7);
                taken.push(now_us);
            }
        }
    }
}

#[test]
fn a_call_heavier_than_the_window_fills_as_many_periods() {
    let mut meter = Meter::new(Rate::Window { count: 20, period: Duration::from_secs(60) });
    meter.take(0, 1);
    assert_eq!(meter.wait_us(SECOND_US, 45), 59 * SECOND_US);
    meter.take(60 * SECOND_US, 45);
    assert_eq!((meter.wait_us(61 * SECOND_US, 1), meter.room(61 * SECOND_US)), (119 * SECOND_US, 0));
    // 20 until 120 s, 20 until 180 s, 5 until 240 s.
    assert_eq!(meter.room(180 * SECOND_US), 15);
    assert_eq!(meter.room(240 * SECOND_US), 20);
}
