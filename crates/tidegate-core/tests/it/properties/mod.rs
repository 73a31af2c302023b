//! Random worlds, judged write by write.
//!
//! The worlds are the same in every run. Another seed shows others: `TIDEGATE_SEED=7 cargo test -p tidegate-core`; more
//! of them: `PROPTEST_CASES=2000`. A failure is shrunk and printed as the plan that leads to it.

mod plans;
mod same;
mod turns;
mod worlds;

use std::env;

use proptest::test_runner::{Config, RngSeed};

/// What every property runs with.
pub(crate) fn config() -> Config {
    let seed = env::var("TIDEGATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x7d6);
    let cases = if env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { 48 };
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 500,
        ..Config::default()
    }
}
