//! One governor decision at 100,000 live peers, beside the `governor` crate's keyed check twice.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use governor::clock::FakeRelativeClock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region};
use tidegate_core::Span;
use tidegate_core::governor::Ticket;

use crate::sends::{Sends, Shape};
use crate::spread::Spread;

/// Live peers.
const PEERS: u64 = 100_000;
/// Shares no factor with [`PEERS`]: steps of it visit every peer once before any twice, and none after its neighbour.
const LEAP: u64 = 61_803;
/// Each peer is sent to every twelve seconds, so five units stand in its window of a minute.
const STEP: Span = Span::from_micros(125);
/// Writes in flight at once.
const BATCH: u64 = 50;
/// Measured pairs.
const PAIRS: usize = 15;

/// The peer of the nth write.
fn number(nth: u64) -> u64 {
    nth * LEAP % PEERS
}

/// Both things to compare, with all their peers live.
struct Bench {
    sends: Sends,
    nth: u64,
    flying: Vec<Ticket>,
}

/// The time that the writes and the answers of one pass over all peers took, each.
struct Pass {
    writes: Duration,
    answers: Duration,
    /// Allocations during the writes.
    allocated: usize,
}

impl Bench {
    fn new(shape: Shape) -> Result<Self> {
        let mut bench = Self { sends: Sends::new(shape, STEP)?, nth: 0, flying: Vec::with_capacity(64) };
        // Until every window holds as many as it will.
        for _ in 0..8 {
            bench.pass()?;
        }
        Ok(bench)
    }

    /// Writes to every peer once, in batches that are answered before the next.
    fn pass(&mut self) -> Result<Pass> {
        let mut pass = Pass { writes: Duration::ZERO, answers: Duration::ZERO, allocated: 0 };
        for _ in 0..PEERS / BATCH {
            let region = Region::new(&INSTRUMENTED_SYSTEM);
            let start = Instant::now();
            for _ in 0..BATCH {
                let peer = self.sends.peer(number(self.nth));
                self.nth += 1;
                self.flying.push(self.sends.write(peer).context("a write was not admitted at once")?);
            }
            pass.writes += start.elapsed();
            let change = region.change();
            pass.allocated += change.allocations + change.reallocations;
            let start = Instant::now();
            for ticket in self.flying.drain(..) {
                self.sends.answer(ticket);
            }
            pass.answers += start.elapsed();
        }
        Ok(pass)
    }
}

/// Nanoseconds of one of [`PEERS`].
fn each(all: Duration) -> f64 {
    all.as_secs_f64() * 1e9 / PEERS as f64
}

type Keyed = RateLimiter<i64, DashMapStateStore<i64>, FakeRelativeClock, NoOpMiddleware<Nanos>>;

/// The `governor` crate: a limiter for what a second allows and one for what a minute does.
struct Other {
    clock: FakeRelativeClock,
    second: Keyed,
    minute: Keyed,
    nth: u64,
}

impl Other {
    fn new() -> Self {
        let clock = FakeRelativeClock::default();
        let burst = |units| NonZeroU32::new(units).unwrap_or(NonZeroU32::MIN);
        let second = Quota::per_second(burst(1)).allow_burst(burst(3));
        let minute = Quota::per_minute(burst(18));
        let mut other = Self {
            second: RateLimiter::new(second, DashMapStateStore::default(), clock.clone()),
            minute: RateLimiter::new(minute, DashMapStateStore::default(), clock.clone()),
            clock,
            nth: 0,
        };
        other.pass();
        other
    }

    /// Both checks for every peer once.
    fn pass(&mut self) -> (Duration, u64) {
        let mut passed = 0;
        let start = Instant::now();
        for _ in 0..PEERS {
            self.clock.advance(STEP.into());
            let peer = i64::try_from(number(self.nth)).unwrap_or(0);
            self.nth += 1;
            passed += u64::from(self.check(peer));
        }
        (start.elapsed(), passed)
    }

    #[inline(never)]
    fn check(&self, peer: i64) -> bool {
        black_box(self.second.check_key(&peer)).is_ok() && black_box(self.minute.check_key(&peer)).is_ok()
    }
}

/// Measures and prints.
pub fn report() -> Result<()> {
    let (mut ours, mut other) = (Bench::new(Shape::Telegram)?, Other::new());
    let (mut writes, mut answers, mut checks, mut ratios, mut allocated) = (vec![], vec![], vec![], vec![], 0);
    for _ in 0..PAIRS {
        let pass = ours.pass()?;
        let (time, passed) = other.pass();
        ensure!(passed == PEERS, "the other limiters let {passed} of {PEERS} pass");
        writes.push(each(pass.writes));
        answers.push(each(pass.answers));
        checks.push(each(time));
        ratios.push(each(pass.writes) / each(time));
        allocated += pass.allocated;
    }
    println!("one decision at {} live peers, Telegram send to a group, {PAIRS} pairs in turn:", ours.sends.peers());
    println!("  admitted write               {:.0} ns", Spread::of(writes));
    println!("  its answer                   {:.0} ns", Spread::of(answers));
    println!("  `governor`, keyed check x 2  {:.0} ns", Spread::of(checks));
    println!("  ratio                        {:.2}", Spread::of(ratios));
    println!("  allocations in {} admitted writes: {allocated}", PAIRS as u64 * PEERS);
    Ok(())
}

/// Makes so many passes after the first eight. The difference of two runs' instructions is that of the passes.
pub fn count(table: &str, passes: &str) -> Result<()> {
    let passes: u32 = passes.parse()?;
    if table == "governor" {
        let mut other = Other::new();
        for _ in 0..passes {
            other.pass();
        }
        return Ok(());
    }
    let mut bench = Bench::new(Shape::parse(table).context("telegram, discord or governor")?)?;
    for _ in 0..passes {
        bench.pass()?;
    }
    Ok(())
}
