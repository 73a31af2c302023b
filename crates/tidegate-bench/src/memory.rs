//! Bytes that are live, by a counting allocator.

use anyhow::{Context as _, Result};
use stats_alloc::INSTRUMENTED_SYSTEM;
use tidegate_core::Span;

use crate::sends::{Sends, Shape};

/// What a rush of peers leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Rush {
    /// Bytes of one peer while it is live.
    pub live_peer: f64,
    /// Live bytes of all at the height.
    pub height: i64,
    /// Live bytes after a rest, over those before.
    pub left: i64,
    /// Peers that are known after the rest.
    pub peers: usize,
}

/// Bytes that are allocated now.
pub fn live() -> i64 {
    let stats = INSTRUMENTED_SYSTEM.stats();
    i64::try_from(stats.bytes_allocated).unwrap_or(i64::MAX) - i64::try_from(stats.bytes_deallocated).unwrap_or(0)
}

/// Sends to `peers` different peers, one after another, `step` apart, and rests.
pub fn rush(shape: Shape, peers: u64, step: Span, rest: Span) -> Result<Rush> {
    let mut sends = Sends::new(shape, step)?;
    let before = live();
    let (mut height, mut live_peer) = (0, 0.0);
    for number in 0..peers {
        let ticket = sends.write(sends.peer(number)).context("a write was not admitted at once")?;
        sends.answer(ticket);
        if number % 1_000 == 999 {
            let grown = live() - before;
            height = height.max(grown);
            live_peer = grown as f64 / sends.peers().max(1) as f64;
        }
    }
    sends.rest(rest);
    Ok(Rush { live_peer, height, left: live() - before, peers: sends.peers() })
}

/// Measures and prints.
pub fn report() -> Result<()> {
    let all = [
        ("Telegram, 100,000 groups within a minute", Shape::Telegram, 100_000, 500, 61),
        ("Telegram, a million groups at 1,000 a second", Shape::Telegram, 1_000_000, 1_000, 61),
        ("Discord, 100,000 channels with learned buckets", Shape::Discord, 100_000, 500, 121),
    ];
    for (name, shape, peers, step, rest) in all {
        let rush = rush(shape, peers, Span::from_micros(step), Span::from_secs(rest))?;
        println!("{name}:");
        println!("  a live peer {:.0} bytes, {:.1} MB at the height", rush.live_peer, mega(rush.height));
        println!("  after {rest} s of rest {:.3} MB over the start, {} peers known", mega(rush.left), rush.peers);
    }
    Ok(())
}

fn mega(bytes: i64) -> f64 {
    bytes as f64 / 1e6
}
