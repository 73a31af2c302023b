//! How long a bot of many shards takes until all of them are there.

use std::fmt::Write as _;

use tidegate_core::{Span, Time};

use super::day::{World, key, limit_of, start_of};
use super::discord::Discord;
use super::net::{Agenda, Distances};
use super::storms::span;
use super::tide::Tide;
use super::weather::Weather;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// From 1.
    pub(crate) shards: u32,
    /// From 1.
    pub(crate) max_concurrency: u32,
    /// From a dial to HELLO.
    pub(crate) dial: Span,
    /// How much longer a word to Discord may take than another.
    pub(crate) jitter: Span,
    pub(crate) seed: u64,
}

/// When each shard had READY, in order, and Discord's own count of IDENTIFYs that came too soon.
pub(crate) struct Started {
    pub(crate) ready: Vec<Time>,
    pub(crate) too_soon: u64,
    pub(crate) identifies: u64,
}

impl Start {
    /// (ceil(N / C) − 1) × 5 s and one handshake: sooner than that, Discord does not allow.
    pub(crate) fn least(self) -> Span {
        let turns = u64::from(self.shards.div_ceil(self.max_concurrency.max(1))).saturating_sub(1);
        Span::from_secs(5).times(turns) + self.handshake()
    }

    /// A dial, then IDENTIFY and READY on their way.
    fn handshake(self) -> Span {
        self.dial + Distances::default().discord.times(2)
    }

    pub(crate) fn run(self) -> Started {
        let total = self.shards.saturating_mul(2).max(1_000);
        let start = start_of(total, self.max_concurrency, self.shards);
        let settings = Tide::settings(total.into(), self.shards.into());
        let distances = Distances { dial: self.dial, jitter: self.jitter, ..Distances::default() };
        let mut tide = Tide::new(settings, limit_of(&start), true, self.seed);
        let mut agenda = Agenda::new(distances, Weather::Fine);
        for id in 0..self.shards {
            tide.open(&mut agenda, key(id, self.shards));
            tide.start(&mut agenda, key(id, self.shards));
        }
        let mut world = World { agenda, discord: Discord::new(start, Weather::Fine), tide: Some(tide), bot: None };
        // Ten times as long as it may take: then something is wrong, and the count says so.
        let end = Time::ZERO + self.least().times(10) + Span::from_secs(60);
        let mut ready = Vec::new();
        while ready.len() < self.shards as usize && world.step(end) {
            // One READY more is one shard more; it reaches tidegate a way later.
            while ready.len() < world.discord.live() {
                ready.push(world.agenda.now + distances.discord);
            }
        }
        let figures = world.discord.figures(&world.agenda);
        Started { ready, too_soon: figures.too_soon, identifies: figures.identifies }
    }

    /// What is printed.
    pub(crate) fn report(self) -> String {
        let started = self.run();
        let mut text = format!("{} shards, max_concurrency {}\n\n", self.shards, self.max_concurrency);
        let _ = writeln!(text, "{:>6}  {:>10}  ", "READY", "after");
        let all = started.ready.len();
        for tenth in 1..=10 {
            let at = (all * tenth).div_ceil(10).saturating_sub(1);
            let Some(ready) = started.ready.get(at) else { continue };
            let _ = writeln!(text, "{:>6}  {:>10}  {}", at + 1, seconds(*ready), "#".repeat(tenth * 4));
        }
        let last = started.ready.last().map_or(Span::ZERO, |last| last.since(Time::ZERO));
        let bound = self.least();
        let over = last.as_micros().saturating_sub(bound.as_micros()) * 10_000 / bound.as_micros().max(1);
        let _ = writeln!(
            text,
            "\nall {all} after {} s; Discord allows no less than {} s (over it by {}.{:02} %)",
            seconds(Time::ZERO + last),
            seconds(Time::ZERO + bound),
            over / 100,
            over % 100
        );
        let _ = writeln!(text, "{} IDENTIFYs, {} of them too soon", started.identifies, started.too_soon);
        if all < self.shards as usize {
            let _ = writeln!(text, "{} shards are not there after {}", self.shards as usize - all, span(last));
        }
        text
    }
}

fn seconds(at: Time) -> String {
    let ms = at.as_millis_ceil();
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}
