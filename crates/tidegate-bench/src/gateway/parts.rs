//! The compressions and the scan on one core, without a socket.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use rustix::time::{ClockId, clock_gettime};

use super::COMPRESSIONS;
use super::corpus::dispatches;
use super::discord::Discord;
use super::wire::codec::{Compression, Deflate, Inflate};
use super::wire::scan::scan;
use crate::spread::Spread;

const COUNT: u64 = 50_000;
/// As many as are kept for a bot's RESUME.
const KEPT: usize = 4_096;

/// How long this thread has been on a processor.
fn on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

pub(super) fn report(rounds: usize) -> Result<()> {
    let payloads: Vec<Bytes> = dispatches(1, COUNT).map(Bytes::from).collect();
    let mut lengths: Vec<usize> = payloads.iter().map(Bytes::len).collect();
    lengths.sort_unstable();
    let at = |share: usize| lengths.get(lengths.len() * share / 100).copied().unwrap_or(0);
    println!("{COUNT} dispatches of {} to {} bytes, median {}", at(0), at(99), at(50));
    println!(
        "without sockets: inflate, scan, copy for the ring, deflate; a second of processor, median (least to most)"
    );
    for (name, compression) in COMPRESSIONS {
        let mut discord = Discord::new(compression)?;
        let messages = payloads.iter().map(|payload| discord.message(payload)).collect::<Result<Vec<_>>>()?;
        let wire: usize = messages.iter().map(Bytes::len).sum();
        let plain: usize = lengths.iter().sum();
        let mut rates = Vec::new();
        for _ in 0..rounds {
            rates.push(COUNT as f64 / pass(compression, &messages)?.as_secs_f64() / 1e3);
        }
        println!(
            "  {name:<12} {:.0} thousand; {:.2} of the plain bytes",
            Spread::of(rates),
            wire as f64 / plain as f64
        );
    }
    Ok(())
}

fn pass(compression: Compression, messages: &[Bytes]) -> Result<Duration> {
    let (mut inflate, mut deflate) = (Inflate::new(compression)?, Deflate::new(compression)?);
    let mut ring = VecDeque::with_capacity(KEPT);
    let start = on_processor();
    for message in messages {
        let payload = inflate.message(message)?.context("an incomplete message")?;
        black_box(scan(payload)?.s);
        let payload = Bytes::copy_from_slice(payload);
        if ring.len() == KEPT {
            ring.pop_front();
        }
        ring.push_back(payload.clone());
        black_box(deflate.message(&payload)?);
    }
    Ok(on_processor().saturating_sub(start))
}
