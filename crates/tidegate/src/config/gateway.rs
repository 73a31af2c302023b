//! `[discord.gateway]`: the Gateway proxy and the gates behind it.

use std::collections::HashSet;
use std::path::PathBuf;

use tidegate_core::{Span, identify_queue, send_queue, shard};
use tidegate_gateway::{Compress, Ring, Settings, Takeover};
use tidegate_proxy::Bounds;

use super::{ConfigError, Layers, texts, value};

/// What else the Gateway has to know of the configuration.
pub(super) struct Common {
    pub(super) bounds: Bounds,
    pub(super) bots: Option<HashSet<String>>,
    pub(super) public_url: Option<String>,
    pub(super) record: Option<PathBuf>,
}

pub(super) fn settings(layers: &Layers, common: Common) -> Result<Settings, ConfigError> {
    let at = |name: &str| format!("discord.gateway.{name}");
    let span = |name: &str| layers.get(&at(name), value::span);
    let bytes = |name: &str| layers.get(&at(name), value::bytes);
    let count = |name: &str| layers.count(&at(name));
    in_order(layers)?;
    Ok(Settings {
        shard: shard_settings(layers)?,
        send_queue: send_settings(layers)?,
        identify_queue: identify_settings(layers)?,
        heartbeat_interval: span("heartbeat_interval")?,
        ring: Ring {
            events: count("resume_buffer")?,
            bytes: bytes("resume_buffer_bytes")?,
            total_bytes: bytes("resume_total")?,
        },
        detach_timeout: span("detach_timeout")?,
        logout_grace: span("logout_grace")?,
        place_hold: span("place_hold")?,
        quiet_max: span("quiet_max")?,
        takeover: Takeover {
            most: count("takeover_most")?,
            window: span("takeover_window")?,
            wait: span("takeover_wait")?,
        },
        unsent_max: bytes("unsent_max")?,
        shards_max: count("shards_max")?,
        compress: layers.get(&at("compress"), |v| compress(value::text(v)?))?,
        hosts: layers.get(&at("gateway_hosts"), |v| Ok(texts(v).collect()))?,
        connect_timeout: common.bounds.connect_timeout,
        bots_max: common.bounds.bots_max,
        bots: common.bots,
        public_url: common.public_url,
        record: common.record,
    })
}

/// Numbers that no machine could keep to, each alone or beside another.
fn in_order(layers: &Layers) -> Result<(), ConfigError> {
    let at = |name: &str| format!("discord.gateway.{name}");
    for name in ["send.period", "identify.hold", "identify.http_hold"] {
        if layers.get(&at(name), value::span)?.is_zero() {
            return Err(layers.wrong(&at(name), "must be over 0"));
        }
    }
    for (less, more) in [("queued_limit", "platform_limit"), ("subscription_limit", "queued_limit")] {
        let (less, more) = (at(&format!("send.{less}")), at(&format!("send.{more}")));
        let (few, many) = (layers.get(&less, value::small)?, layers.get(&more, value::small)?);
        if few > many {
            return Err(layers.past(&less, &few, &more, &many));
        }
    }
    let (less, more) = (at("reconnect.backoff_min"), at("reconnect.backoff_max"));
    if layers.get(&less, value::span)? > layers.get(&more, value::span)? {
        let shown = |path: &String| layers.get(path, |v| Ok(v.to_string()));
        return Err(layers.past(&less, &shown(&less)?, &more, &shown(&more)?));
    }
    Ok(())
}

fn compress(written: &str) -> Result<Compress, String> {
    match written {
        "none" => Ok(Compress::No),
        "zlib-stream" => Ok(Compress::Zlib),
        "zstd-stream" => Ok(Compress::Zstd),
        other => Err(format!("\"{other}\" is none of none, zlib-stream, zstd-stream")),
    }
}

fn shard_settings(layers: &Layers) -> Result<shard::Settings, ConfigError> {
    let at = |name: &str| format!("discord.gateway.reconnect.{name}");
    let span = |name: &str| layers.get(&at(name), value::span).map(Span::from);
    let spans = |name: &str| layers.get(&at(name), value::spans);
    let count = |name: &str| layers.get(&at(name), value::small);
    let identify = |name: &str| layers.get(&format!("discord.gateway.identify.{name}"), value::span).map(Span::from);
    Ok(shard::Settings {
        // Only a bot's own IDENTIFY may spend a session start.
        autonomous: false,
        backoff_min: span("backoff_min")?,
        backoff_max: span("backoff_max")?,
        resume_backoff_max: span("resume_backoff_max")?,
        resume_cycle: span("resume_cycle")?,
        jitter_ppm: layers.get(&at("jitter"), value::shares_ppm)?,
        stable_after: span("stable_after")?,
        connect_watchdog: span("connect_watchdog")?,
        ready_watchdog: span("ready_watchdog")?,
        rate_limited_cooldown: span("rate_limited_cooldown")?,
        rate_limited_grace: count("rate_limited_grace")?,
        grace_wait: spans("rate_limited_grace_wait")?,
        grace_window: span("rate_limited_grace_window")?,
        invalid_session_wait: spans("invalid_session_wait")?,
        resume_attempts: count("resume_attempts")?,
        early_dial: span("early_dial")?,
        hold: identify("hold")?,
        spacing: identify("spacing")?,
        on_budget_gone: layers.get(&at("on_budget_gone"), |v| match value::text(v)? {
            "park" => Ok(shard::OnBudgetGone::Park),
            "stop" => Ok(shard::OnBudgetGone::Stop),
            other => Err(format!("\"{other}\" is neither park nor stop")),
        })?,
        ack_tolerance: count("ack_tolerance")?,
        dispatch_is_ack: layers.get(&at("dispatch_is_ack"), |v| Ok(v.as_bool().unwrap_or(false)))?,
        heartbeat_interval: spans("heartbeat_interval")?,
        replace_window: span("replace_window")?,
        ..shard::Settings::default()
    })
}

fn send_settings(layers: &Layers) -> Result<send_queue::Settings, ConfigError> {
    let at = |name: &str| format!("discord.gateway.send.{name}");
    let count = |name: &str| layers.get(&at(name), value::small);
    Ok(send_queue::Settings {
        period: layers.get(&at("period"), value::span)?.into(),
        platform_limit: count("platform_limit")?,
        queued_limit: count("queued_limit")?,
        subscription_limit: count("subscription_limit")?,
        burst: count("burst")?,
        max_payload: layers.count(&at("max_payload"))?,
        presence_limit: count("presence_limit")?,
        settle: layers.get(&at("settle"), value::span)?.into(),
        settle_burst: count("settle_burst")?,
        queue_bound: layers.count(&at("queue_bound"))?,
        guilds_bound: layers.count(&at("guilds_bound"))?,
    })
}

fn identify_settings(layers: &Layers) -> Result<identify_queue::Settings, ConfigError> {
    let at = |name: &str| format!("discord.gateway.identify.{name}");
    let span = |name: &str| layers.get(&at(name), value::span).map(Span::from);
    let count = |name: &str| layers.count(&at(name)).map(|count| count as u64);
    Ok(identify_queue::Settings {
        spacing: span("spacing")?,
        spacing_margin: span("spacing_margin")?,
        hold: span("hold")?,
        http_hold: span("http_hold")?,
        low_water: count("low_water")?,
        rolling_limit: count("rolling_limit")?,
        ..identify_queue::Settings::default()
    })
}
