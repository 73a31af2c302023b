//! What is going on, as JSON.

use std::sync::Arc;

use serde_json::{Value, json};
use tidegate_core::discord::{INVALID_REFUSE, INVALID_WARN};
use tidegate_core::governor::Counted;

use tidegate_proxy::Bot;

use crate::app::App;

/// Text from outside is cut here.
const LONGEST: usize = 120;

pub(super) fn status(app: &App) -> Value {
    let bots: Vec<Value> = app.proxy.bots().iter().map(|bot| one(app, bot)).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_s": app.started.elapsed().as_secs(),
        "time_scale": app.config.time_scale,
        "store": "memory",
        "draining": app.proxy.context.drain.has_begun(),
        "connections": app.proxy.context.connections.used(),
        "buffered_bytes": app.proxy.context.buffers.used(),
        "telegram": {
            "api": app.config.proxy.telegram.api.to_string(),
            "reachable": app.proxy.telegram().reachable,
            "policy": app.proxy.telegram().policy.name,
            "slow_answers_ms": app.proxy.telegram().slow_answers.as_millis_ceil(),
        },
        "discord": discord(app),
        "gateway": super::gateway::status(app),
        "bots": bots,
    })
}

fn discord(app: &App) -> Value {
    let address = app.proxy.discord_address();
    json!({
        "api": app.config.proxy.discord.api.to_string(),
        "reachable": app.proxy.discord().reachable,
        "policy": app.proxy.discord().policy.name,
        "slow_answers_ms": app.proxy.discord().slow_answers.as_millis_ceil(),
        "invalid_requests": address.invalid,
        "warning": match address.invalid {
            INVALID_REFUSE.. => Some("calls that only fail are refused, so that Discord does not ban this address"),
            INVALID_WARN.. => Some("half of the invalid requests that Discord bans an address for"),
            _ => None,
        },
        "banned_s": address.banned.map(tidegate_core::Span::as_secs_ceil),
    })
}

fn one(app: &App, bot: &Arc<Bot>) -> Value {
    let now = app.proxy.context.clock.now();
    let counts = bot.counters();
    let level = |wanted| counts.iter().filter(|count| count.what == wanted).map(|count| count.count).sum::<u64>();
    let counters: Vec<Value> = counts
        .iter()
        .map(|count| {
            json!({"surface": count.surface, "class": count.class.name(), "outcome": count.what.name(), "count": count.count})
        })
        .collect();
    let cooldowns: Vec<Value> = bot
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
        "token": standing(app, bot),
        "calls": bot.calls(),
        "held": level(Counted::Held),
        "in_flight": level(Counted::InFlight),
        "peers": bot.peers(),
        "cooldowns": cooldowns,
        "counters": counters,
    })
}

/// `None` where there is no token and so nothing to accept.
fn standing(app: &App, bot: &Bot) -> Option<&'static str> {
    if bot.is_refused(app.proxy.context.clock.now()) {
        Some("refused")
    } else if bot.token.is_nameless() {
        None
    } else if bot.is_proven() {
        Some("accepted")
    } else {
        Some("untried")
    }
}
