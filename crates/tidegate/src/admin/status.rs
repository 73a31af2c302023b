//! What is going on, as JSON.

use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::discord::{INVALID_REFUSE, INVALID_WARN};
use tidegate_core::governor::Counted;

use crate::bots::Bot;
use crate::serve::Shared;

/// Text from outside is cut here.
const LONGEST: usize = 120;

pub(super) fn status(shared: &Shared) -> Value {
    let bots: Vec<Value> = shared.bots().iter().map(|bot| one(shared, bot)).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_s": shared.started.elapsed().as_secs(),
        "time_scale": shared.config.time_scale,
        "store": "memory",
        "draining": shared.drain.has_begun(),
        "connections": shared.connections.used(),
        "buffered_bytes": shared.buffers.used(),
        "telegram": {
            "api": shared.config.telegram.api.to_string(),
            "reachable": shared.telegram.base.reach.is_reachable(),
            "policy": shared.telegram.surfaces().policy.name,
            "slow_answers_ms": shared.telegram.times.slow().as_millis_ceil(),
        },
        "discord": discord(shared),
        "gateway": super::gateway::status(shared),
        "bots": bots,
    })
}

fn discord(shared: &Shared) -> Value {
    let address = shared.discord.address.figures(shared.clock.now());
    json!({
        "api": shared.config.discord.api.to_string(),
        "reachable": shared.discord.common.base.reach.is_reachable(),
        "policy": shared.discord.common.surfaces().policy.name,
        "slow_answers_ms": shared.discord.common.times.slow().as_millis_ceil(),
        "invalid_requests": address.invalid,
        "warning": match address.invalid {
            INVALID_REFUSE.. => Some("calls that only fail are refused, so that Discord does not ban this address"),
            INVALID_WARN.. => Some("half of the invalid requests that Discord bans an address for"),
            _ => None,
        },
        "banned_s": address.banned.map(tidegate_core::Span::as_secs_ceil),
    })
}

fn one(shared: &Shared, bot: &Arc<Bot>) -> Value {
    let now = shared.clock.now();
    let counts = bot.counters();
    let level = |wanted| counts.iter().filter(|count| count.what == wanted).map(|count| count.count).sum::<u64>();
    let counters: Vec<Value> = counts
        .iter()
        .map(|count| {
            json!({"surface": count.surface, "class": count.class.name(), "outcome": count.what.name(), "count": count.count})
        })
        .collect();
    let cooldowns: Vec<Value> = bot
        .memory
        .refusals(now)
        .iter()
        .map(|refused| {
            let peer = refused.peer.as_ref().map(|peer| peer.to_string().chars().take(LONGEST).collect::<String>());
            json!({"surface": refused.surface, "peer": peer, "left_s": refused.until.since(now).as_secs_ceil()})
        })
        .collect();
    json!({
        "bot": bot.token.id(),
        "key": format!("{:08x}", bot.token.hash() >> 32),
        "platform": bot.platform(),
        "token": standing(shared, bot),
        "calls": bot.calls(),
        "held": level(Counted::Held),
        "in_flight": level(Counted::InFlight),
        "peers": bot.peers(),
        "cooldowns": cooldowns,
        "counters": counters,
    })
}

/// `None` where there is no token and so nothing to accept.
fn standing(shared: &Shared, bot: &Bot) -> Option<&'static str> {
    if bot.standing.is_open(|| shared.clock.now()) {
        Some("refused")
    } else if bot.token.is_nameless() {
        None
    } else if bot.standing.is_proven() {
        Some("accepted")
    } else {
        Some("untried")
    }
}
