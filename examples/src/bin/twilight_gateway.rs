//! twilight's shards in tidegate's identify queue: they start one after the other, and one that gives up costs nothing.

use std::time::{Duration, Instant};

use tidegate_core::Span;
use tidegate_core::identify_queue::Settings;
use tidegate_examples::{ANY, DISCORD_TOKEN, Outcome, end_in_time, ensure};
use tidegate_sandbox::discord;
use tidegate_tokio::Clock;
use tidegate_tokio::twilight::{IdentifyGate, SessionStarts};
use tokio::task::JoinSet;
use tokio_stream::StreamExt as _;
use twilight_gateway::queue::Queue as _;
use twilight_gateway::{ConfigBuilder, Intents, Message, Shard, ShardId};

/// Ten times faster than real time: five seconds between two IDENTIFYs take half a second. A bot has 1.0.
const SCALE: f64 = 0.1;
const SHARDS: u32 = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    end_in_time();
    let sandbox = discord::serve(ANY, discord::Options { scale: SCALE, ..Default::default() }).await?;

    // In a bot these come from `GET /gateway/bot`.
    let starts =
        SessionStarts { total: 1_000, remaining: 1_000, reset_after: Duration::from_secs(86_400), max_concurrency: 1 };
    // In a tenth of the time the network's jitter is ten times as long: a bot needs no such margin.
    let spacing_margin = Span::from_secs(1);
    let settings = Settings { shards: SHARDS.into(), spacing_margin, ..Settings::default() };
    let gate = IdentifyGate::new(settings, &starts, Clock::new(SCALE));

    // A shard that goes away while it waits: what twilight does when its connection breaks before its turn.
    gate.enqueue(0).await?;
    drop(gate.enqueue(1));

    let config = ConfigBuilder::new(DISCORD_TOKEN.to_owned(), Intents::GUILDS)
        .proxy_url(format!("ws://{}", sandbox.addr))
        .queue(gate.clone())
        .build();
    let started = Instant::now();
    let (mut shards, mut live) = (JoinSet::new(), Vec::new());
    for id in 0..SHARDS {
        shards.spawn(until_ready(Shard::with_config(ShardId::new(id, SHARDS), config.clone())));
    }
    while let Some(ready) = shards.join_next().await {
        let (id, shard) = ready??;
        println!("shard {id} was READY {:.1} s after the start", started.elapsed().as_secs_f64() / SCALE);
        live.push(shard);
    }

    let stats = sandbox.gateway_stats();
    let figures = serde_json::to_value(&stats.total)?;
    println!("{} IDENTIFYs, the closest {} ms apart", figures["identifies"], figures["least_spacing_ms"]);
    ensure(figures["identifies"] == SHARDS, "one IDENTIFY a shard")?;
    ensure(figures["spacing_violations"] == 0, "two IDENTIFYs came too close")?;
    ensure(sandbox.stats().by_status.get(&429).is_none(), "the platform saw too much")?;
    // The first of all was granted to nobody's shard above; the one that left was not counted.
    ensure(gate.counted() == u64::from(SHARDS) + 1, format!("{} starts were counted", gate.counted()))
}

async fn until_ready(
    mut shard: Shard<IdentifyGate>,
) -> Result<(u32, Shard<IdentifyGate>), Box<dyn std::error::Error + Send + Sync>> {
    while let Some(message) = shard.next().await {
        if let Message::Text(text) = message?
            && serde_json::from_str::<serde_json::Value>(&text)?["t"] == "READY"
        {
            return Ok((shard.id().number(), shard));
        }
    }
    Err("the shard ended before READY".into())
}
