//! The Gateway side of what is going on.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_core::Time;
use tidegate_core::bot::ShardKey;
use tidegate_core::identify_queue::IdentifyQueue;
use tidegate_core::send_queue::SendQueue;
use tidegate_core::shard::{self, Status, Why};

use super::metrics::head;
use crate::gateway::fleet::{Fleet, Gate, State};
use crate::serve::Shared;
use tidegate_trace::{stopped, waits};

/// The states of a shard, as they are told.
const STATES: [&str; 9] =
    ["off", "not_asked", "waiting", "in_line", "connecting", "identifying", "resuming", "live", "stopped"];

/// Every bot's shards.
pub(super) fn status(shared: &Shared) -> Value {
    let now = shared.clock.now();
    let bots: Vec<Value> = shared.fleets.list().iter().map(|fleet| one(now, fleet)).collect();
    json!({
        "connections_to_discord": shared.fleets.open(),
        "ring_bytes": shared.fleets.depot.ring_bytes(),
        "bots": bots,
    })
}

fn one(now: Time, fleet: &Fleet) -> Value {
    let starts_left = fleet.starts_left();
    let state = fleet.lock();
    let queue = state.gate.as_ref().map(Gate::identify_queue);
    let shards: Vec<Value> = state.seats.keys().map(|key| shard(now, &state, *key)).collect();
    let counts: serde_json::Map<String, Value> =
        fleet.counts.list().map(|(name, count)| (name.to_owned(), count.into())).collect();
    let is_red = shards.iter().any(|shard| shard["health"] == "red");
    json!({
        "bot": fleet.token.id(),
        "key": format!("{:08x}", fleet.token.hash() >> 32),
        "health": if is_red { "red" } else { "green" },
        "session_starts": {
            "left": starts_left,
            "left_of_the_day": queue.map(IdentifyQueue::remaining),
            "in_24_h": queue.map(IdentifyQueue::counted),
            "rolling_limit": queue.map(|queue| queue.settings().rolling_limit()),
        },
        "shards": shards,
        "counters": counts,
    })
}

fn shard(now: Time, state: &State, key: ShardKey) -> Value {
    let gate = state.gate.as_ref();
    let shard = gate.and_then(|gate| gate.shard(key));
    let status = shard.map_or(Status::Off, shard::Shard::status);
    let (why, until) = why(status);
    let seat = state.seats.get(&key);
    let ring = seat.map(|seat| seat.ring.size());
    let is_red = matches!(status, Status::Stopped(_) | Status::Waiting { why: Why::Budget, .. });
    json!({
        "shard": [key.id, key.count],
        "state": name(status),
        "why": why,
        "left_s": until.filter(|until| *until != Time::NEVER).map(|until| until.since(now).as_secs_ceil()),
        "health": if is_red { "red" } else { "green" },
        "stable": shard.is_some_and(shard::Shard::is_stable),
        "backoff_step": shard.map(shard::Shard::backoff_step),
        "seq": shard.and_then(shard::Shard::session).map(|(_, seq)| seq),
        "bot_attached": seat.is_some_and(|seat| seat.session.attached().is_some()),
        "newcomer_waits_s": seat.and_then(|seat| seat.session.newcomer()).map(|at| at.since(now).as_secs_ceil()),
        "commands_waiting": gate.and_then(|gate| gate.send_queue(key)).map(SendQueue::waiting),
        "ring_events": ring.map(|(events, _)| events),
        "ring_bytes": ring.map(|(_, bytes)| bytes),
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
pub(super) fn metrics(shared: &Shared, out: &mut String) {
    let fleets: Vec<_> = shared.fleets.list().into_iter().filter(|fleet| fleet.starts_left().is_some()).collect();
    let labels = |fleet: &Fleet| format!("bot=\"{}\",key=\"{:08x}\"", fleet.token.id(), fleet.token.hash() >> 32);
    head(out, "tidegate_gateway_total", "counter", "What happened on the Gateway, by kind.");
    for fleet in &fleets {
        for (what, count) in fleet.counts.list() {
            let _ = writeln!(out, "tidegate_gateway_total{{{},what=\"{what}\"}} {count}", labels(fleet));
        }
    }
    head(out, "tidegate_session_starts_left", "gauge", "IDENTIFYs that the bot may still spend.");
    for fleet in &fleets {
        let _ = writeln!(out, "tidegate_session_starts_left{{{}}} {}", labels(fleet), fleet.starts_left().unwrap_or(0));
    }
    head(out, "tidegate_shards", "gauge", "Shards by state.");
    for fleet in &fleets {
        let state = fleet.lock();
        let statuses = state.seats.keys().map(|key| {
            let known = state.gate.as_ref().and_then(|gate| gate.shard(*key));
            name(known.map_or(Status::Off, shard::Shard::status))
        });
        let statuses: Vec<&str> = statuses.collect();
        drop(state);
        for named in STATES {
            let count = statuses.iter().filter(|status| **status == named).count();
            let _ = writeln!(out, "tidegate_shards{{{},state=\"{named}\"}} {count}", labels(fleet));
        }
    }
    let totals = [
        ("tidegate_gateway_connections", "Connections to Discord's Gateway.", shared.fleets.open()),
        ("tidegate_ring_bytes", "Bytes of events kept for RESUMEs.", shared.fleets.depot.ring_bytes()),
    ];
    for (name, help, value) in totals {
        head(out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
}
