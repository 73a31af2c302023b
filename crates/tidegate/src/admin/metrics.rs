//! What is counted, in Prometheus' text form. Labels are ids of bots, keyed hashes, and words of closed sets.

use std::fmt::Write as _;

use tidegate_core::governor::{Count, Counted};

use tidegate_proxy::Bot;

use crate::app::App;

pub(super) fn text(app: &App) -> String {
    let mut out = String::new();
    let bots = app.proxy.bots();
    // Any client can name any number of tokens; only those that the platform took have series of their own.
    let (taken, untried): (Vec<_>, Vec<_>) = bots.iter().partition(|bot| bot.is_proven());
    let counters: Vec<(&Bot, Vec<Count>)> = taken.iter().map(|bot| (bot.as_ref(), bot.counters())).collect();
    head(&mut out, "tidegate_writes_total", "counter", "Writes by surface, class and what became of them.");
    for (bot, counts) in &counters {
        for count in counts.iter().filter(|count| !is_level(count.what)) {
            let (bot, surface, class) = (labels(bot), &count.surface, count.class.name());
            let (outcome, value) = (count.what.name(), count.count);
            let _ = writeln!(
                out,
                "tidegate_writes_total{{{bot},surface=\"{surface}\",class=\"{class}\",outcome=\"{outcome}\"}} {value}"
            );
        }
    }
    let mut levels = |name: &str, help: &str, value: &dyn Fn(&Bot, &[Count]) -> usize| {
        head(&mut out, name, "gauge", help);
        for (bot, counts) in &counters {
            let _ = writeln!(out, "{name}{{{}}} {}", labels(bot), value(bot, counts));
        }
    };
    levels("tidegate_held", "Writes that wait.", &|_, counts| level(counts, Counted::Held));
    levels("tidegate_in_flight", "Writes that are with the platform.", &|_, counts| level(counts, Counted::InFlight));
    levels("tidegate_peers", "Chats with a state of their own.", &|bot, _| bot.peers());
    levels("tidegate_cooldowns", "Refusals by the platform that have not run out.", &|bot, _| {
        bot.refusals(app.proxy.context.clock.now()).len()
    });
    let name = "tidegate_slow_answers_seconds";
    head(&mut out, name, "gauge", "Nineteen of twenty recent answers came within this time; holds leave room for it.");
    for (platform, status) in [("telegram", app.proxy.telegram()), ("discord", app.proxy.discord())] {
        let slow = std::time::Duration::from(status.slow_answers).as_secs_f64();
        let _ = writeln!(out, "{name}{{platform=\"{platform}\"}} {slow}");
    }
    let address = app.proxy.discord_address();
    let banned = address.banned.map_or(0, tidegate_core::Span::as_secs_ceil);
    let totals = [
        ("tidegate_bots", "Bots whose token the platform took.", taken.len()),
        ("tidegate_bots_untried", "Bots whose token never worked.", untried.len()),
        ("tidegate_connections", "Connections of clients.", app.proxy.context.connections.used()),
        ("tidegate_discord_invalid_requests", "Invalid requests of ten minutes; 10,000 ban.", address.invalid as usize),
        (
            "tidegate_discord_banned_seconds",
            "How long the address stays banned.",
            usize::try_from(banned).unwrap_or(usize::MAX),
        ),
        ("tidegate_buffered_bytes", "Bytes of request bodies held in memory.", app.proxy.context.buffers.used()),
    ];
    for (name, help, value) in totals {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
    super::gateway::metrics(app, &mut out);
    out
}

pub(super) fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn labels(bot: &Bot) -> String {
    let (platform, id, key) = (bot.platform(), bot.token.id(), bot.token.hash() >> 32);
    format!("platform=\"{platform}\",bot=\"{id}\",key=\"{key:08x}\"")
}

fn is_level(what: Counted) -> bool {
    matches!(what, Counted::Held | Counted::InFlight)
}

fn level(counts: &[Count], wanted: Counted) -> usize {
    let sum: u64 = counts.iter().filter(|count| count.what == wanted).map(|count| count.count).sum();
    usize::try_from(sum).unwrap_or(usize::MAX)
}
