//! A trace's first line: the numbers of all gates, as they are.

use serde_json::{Value, json};
use tidegate_core::Span;
use tidegate_core::bot::Settings;
use tidegate_core::identify_queue::{self, SessionStartLimit};
use tidegate_core::send_queue;
use tidegate_core::shard::{self, OnBudgetGone};

use super::input::ms;

/// Time moves with the lines alone: they stand at the moments at which the gates were called.
pub(super) fn first(settings: &Settings, limit: SessionStartLimit) -> Value {
    json!({
        "auto": false,
        "shards_max": settings.shards_max,
        "shard": shard(&settings.shard),
        "send_queue": send_queue(&settings.send_queue),
        "identify_queue": identify_queue(&settings.identify_queue, limit),
    })
}

fn span(span: Span) -> u64 {
    span.as_millis_ceil()
}

fn shard(numbers: &shard::Settings) -> Value {
    let range = |(least, most)| [span(least), span(most)];
    let part = |ppm: u32| f64::from(ppm) / 1_000_000.0;
    json!({
        "backoff_min_ms": span(numbers.backoff_min),
        "backoff_max_ms": span(numbers.backoff_max),
        "resume_backoff_max_ms": span(numbers.resume_backoff_max),
        "resume_cycle_ms": span(numbers.resume_cycle),
        "jitter": [part(numbers.jitter_ppm.0), part(numbers.jitter_ppm.1)],
        "stable_after_ms": span(numbers.stable_after),
        "connect_watchdog_ms": span(numbers.connect_watchdog),
        "ready_watchdog_ms": span(numbers.ready_watchdog),
        "rate_limited_cooldown_ms": span(numbers.rate_limited_cooldown),
        "rate_limited_grace": numbers.rate_limited_grace,
        "rate_limited_grace_wait_ms": range(numbers.grace_wait),
        "rate_limited_grace_window_ms": span(numbers.grace_window),
        "invalid_session_wait_ms": range(numbers.invalid_session_wait),
        "resume_attempts": numbers.resume_attempts,
        "early_dial_ms": span(numbers.early_dial),
        "hold_ms": span(numbers.hold),
        "spacing_ms": span(numbers.spacing),
        "on_budget_gone": match numbers.on_budget_gone {
            OnBudgetGone::Park => "park",
            OnBudgetGone::Stop => "stop",
        },
        "ack_tolerance": numbers.ack_tolerance,
        "dispatch_is_ack": numbers.dispatch_is_ack,
        "heartbeat_interval_ms": range(numbers.heartbeat_interval),
        "replace_window_ms": span(numbers.replace_window),
    })
}

fn send_queue(numbers: &send_queue::Settings) -> Value {
    json!({
        "period_ms": span(numbers.period),
        "platform_limit": numbers.platform_limit,
        "queued_limit": numbers.queued_limit,
        "subscription_limit": numbers.subscription_limit,
        "burst": numbers.burst,
        "max_payload": numbers.max_payload,
        "presence_limit": numbers.presence_limit,
        "settle_ms": span(numbers.settle),
        "settle_burst": numbers.settle_burst,
        "queue_bound": numbers.queue_bound,
        "guilds_bound": numbers.guilds_bound,
    })
}

fn identify_queue(numbers: &identify_queue::Settings, limit: SessionStartLimit) -> Value {
    json!({
        "max_concurrency": limit.max_concurrency,
        "remaining": limit.remaining,
        "reset_at_ms": ms(limit.reset_at),
        "total": numbers.total,
        "shards": numbers.shards,
        "rolling_limit": numbers.rolling_limit,
        "spacing_ms": span(numbers.spacing),
        "spacing_margin_ms": span(numbers.spacing_margin),
        "hold_ms": span(numbers.hold),
        "http_hold_ms": span(numbers.http_hold),
        "low_water": numbers.low_water,
    })
}
