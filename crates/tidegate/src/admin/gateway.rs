//! The Gateway side of what is going on.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_core::Time;
use tidegate_core::shard::{Status, Why};
use tidegate_gateway::{BotStatus, ShardStatus};
use tidegate_trace::{stopped, waits};

use super::metrics::head;
use crate::app::App;

/// The states of a shard, as they are told.
const STATES: [&str; 9] =
    ["off", "not_asked", "waiting", "in_line", "connecting", "identifying", "resuming", "live", "stopped"];

/// Every bot's shards.
pub(super) fn status(app: &App) -> Value {
    let now = app.proxy.context.clock.now();
    let bots: Vec<Value> = app.gateway.status().iter().map(|bot| one(now, bot)).collect();
    json!({
        "connections_to_discord": app.gateway.open(),
        "ring_bytes": app.gateway.ring_bytes(),
        "bots": bots,
    })
}

fn one(now: Time, bot: &BotStatus) -> Value {
    let shards: Vec<Value> = bot.shards.iter().map(|status| shard(now, status)).collect();
    let counts: serde_json::Map<String, Value> =
        bot.counts.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect();
    let is_red = shards.iter().any(|shard| shard["health"] == "red");
    json!({
        "bot": bot.token.id(),
        "key": format!("{:08x}", bot.token.hash() >> 32),
        "health": if is_red { "red" } else { "green" },
        "session_starts": {
            "left": bot.starts_left,
            "left_of_the_day": bot.left_of_the_day,
            "in_24_h": bot.in_24_h,
            "rolling_limit": bot.rolling_limit,
        },
        "shards": shards,
        "counters": counts,
    })
}

fn shard(now: Time, shard: &ShardStatus) -> Value {
    let status = shard.status;
    let (why, until) = why(status);
    let is_red = matches!(status, Status::Stopped(_) | Status::Waiting { why: Why::Budget, .. });
    json!({
        "shard": [shard.key.id, shard.key.count],
        "state": name(status),
        "why": why,
        "left_s": until.filter(|until| *until != Time::NEVER).map(|until| until.since(now).as_secs_ceil()),
        "health": if is_red { "red" } else { "green" },
        "stable": shard.stable,
        "backoff_step": shard.backoff_step,
        "seq": shard.seq,
        "bot_attached": shard.bot_attached,
        "newcomer_waits_s": shard.newcomer_waits.map(tidegate_core::Span::as_secs_ceil),
        "commands_waiting": shard.commands_waiting,
        "ring_events": shard.ring.map(|(events, _)| events),
        "ring_bytes": shard.ring.map(|(_, bytes)| bytes),
    })
}

/// In a word.
pub(super) fn name(status: Status) -> &'static str {
    match status {
        Status::Off => "off",
        Status::NotAsked => "not_asked",
        Status::Waiting { .. } => "waiting",
        Status::InLine | Status::AwaitingGrant => "in_line",
        Status::Connecting => "connecting",
        Status::Identifying => "identifying",
        Status::Resuming => "resuming",
        Status::Live => "live",
        Status::Stopped(_) => "stopped",
    }
}

/// Why a shard is not live, and until when.
fn why(status: Status) -> (Option<&'static str>, Option<Time>) {
    match status {
        Status::Waiting { until, why } => (Some(waits(why)), Some(until)),
        Status::Stopped(reason) => (Some(stopped(reason)), None),
        _ => (None, None),
    }
}

/// In Prometheus' text form.
pub(super) fn metrics(app: &App, out: &mut String) {
    let bots: Vec<_> = app.gateway.status().into_iter().filter(|bot| bot.starts_left.is_some()).collect();
    let labels = |bot: &BotStatus| format!("bot=\"{}\",key=\"{:08x}\"", bot.token.id(), bot.token.hash() >> 32);
    head(out, "tidegate_gateway_total", "counter", "What happened on the Gateway, by kind.");
    for bot in &bots {
        for (what, count) in &bot.counts {
            let _ = writeln!(out, "tidegate_gateway_total{{{},what=\"{what}\"}} {count}", labels(bot));
        }
    }
    head(out, "tidegate_session_starts_left", "gauge", "IDENTIFYs that the bot may still spend.");
    for bot in &bots {
        let _ = writeln!(out, "tidegate_session_starts_left{{{}}} {}", labels(bot), bot.starts_left.unwrap_or(0));
    }
    head(out, "tidegate_shards", "gauge", "Shards by state.");
    for bot in &bots {
        for named in STATES {
            let count = bot.shards.iter().filter(|shard| name(shard.status) == named).count();
            let _ = writeln!(out, "tidegate_shards{{{},state=\"{named}\"}} {count}", labels(bot));
        }
    }
    let totals = [
        ("tidegate_gateway_connections", "Connections to Discord's Gateway.", app.gateway.open()),
        ("tidegate_ring_bytes", "Bytes of events kept for RESUMEs.", app.gateway.ring_bytes()),
    ];
    for (name, help, value) in totals {
        head(out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
}
