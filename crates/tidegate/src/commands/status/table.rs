//! The status as people read it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

/// Everything, one part below the other.
pub(super) fn table(status: &Value) -> String {
    let mut out = String::new();
    let draining = if status["draining"] == true { ", draining" } else { "" };
    let _ = writeln!(
        out,
        "tidegate {}, up {}{draining}; {} connections; policies {}, {}; state in {}",
        text(&status["version"]),
        uptime(status["uptime_s"].as_u64().unwrap_or(0)),
        status["connections"],
        text(&status["telegram"]["policy"]),
        text(&status["discord"]["policy"]),
        text(&status["store"]),
    );
    platforms(&mut out, status);
    let bots = list(&status["bots"]);
    let names = Names::new(bots.iter().chain(list(&status["gateway"]["bots"])));
    let _ = writeln!(
        out,
        "\n{:<9} {:<20} {:<9} {:>6} {:>9} {:>7}  cooling",
        "platform", "bot", "token", "held", "in flight", "peers"
    );
    for bot in bots {
        let one =
            |c: &Value| format!("{} {} {} s", text(&c["surface"]), c["peer"].as_str().unwrap_or("-"), c["left_s"]);
        let cooling = list(&bot["cooldowns"]).iter().map(one).collect::<Vec<_>>().join(", ");
        let (platform, name, token) = (text(&bot["platform"]), names.of(bot), text(&bot["token"]));
        let (held, flying, peers) = (text(&bot["held"]), text(&bot["in_flight"]), text(&bot["peers"]));
        let line = format!("{platform:<9} {name:<20} {token:<9} {held:>6} {flying:>9} {peers:>7}  {cooling}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    shards(&mut out, list(&status["gateway"]["bots"]), &names);
    counters(&mut out, bots, &names);
    out
}

/// What stands in the way to the platforms.
fn platforms(out: &mut String, status: &Value) {
    for (name, platform) in [("Telegram", &status["telegram"]), ("Discord", &status["discord"])] {
        if platform["reachable"] == false {
            let _ = writeln!(out, "{name} does not answer at {}: bots get 503", text(&platform["api"]));
        }
    }
    let discord = &status["discord"];
    if let Some(seconds) = discord["banned_s"].as_u64() {
        let _ = writeln!(out, "Discord has banned this address; nothing is sent to it for {seconds} s");
    }
    if discord["invalid_requests"].as_u64().is_some_and(|count| count > 0) {
        let warning = discord["warning"].as_str().map(|warning| format!(": {warning}")).unwrap_or_default();
        let _ = writeln!(out, "{} invalid requests to Discord in ten minutes{warning}", discord["invalid_requests"]);
    }
}

/// The shards of all bots, and the session starts that each may still spend.
fn shards(out: &mut String, bots: &[Value], names: &Names) {
    if bots.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{:<20} {:<9} {:<12} {:<22} {:>7} {:<8} {:>11} {:>15}",
        "discord bot", "shard", "state", "why", "waits s", "bot here", "starts left", "started in 24 h"
    );
    for bot in bots {
        let starts = &bot["session_starts"];
        for shard in list(&bot["shards"]) {
            let (name, key) = (names.of(bot), format!("{}/{}", shard["shard"][0], shard["shard"][1]));
            let (state, why, left) = (text(&shard["state"]), text(&shard["why"]), text(&shard["left_s"]));
            let here = if shard["bot_attached"] == true { "yes" } else { "no" };
            let (may, spent) = (text(&starts["left"]), text(&starts["in_24_h"]));
            let _ =
                writeln!(out, "{name:<20} {key:<9} {state:<12} {why:<22} {left:>7} {here:<8} {may:>11} {spent:>15}");
        }
    }
}

/// What became of the writes.
fn counters(out: &mut String, bots: &[Value], names: &Names) {
    let _ = writeln!(
        out,
        "\n{:<9} {:<20} {:<10} {:<13} {:<12} {:>9}",
        "platform", "bot", "surface", "class", "outcome", "count"
    );
    for bot in bots {
        let (platform, name) = (text(&bot["platform"]), names.of(bot));
        for count in list(&bot["counters"]) {
            let [surface, class, outcome] = ["surface", "class", "outcome"].map(|name| text(&count[name]));
            let count = text(&count["count"]);
            let _ = writeln!(out, "{platform:<9} {name:<20} {surface:<10} {class:<13} {outcome:<12} {count:>9}");
        }
    }
}

/// Public ids of bots, and which of them have more than one token.
struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    fn new<'a>(bots: impl Iterator<Item = &'a Value>) -> Self {
        let mut keys = BTreeMap::<_, BTreeSet<_>>::new();
        for bot in bots {
            keys.entry(text(&bot["bot"])).or_default().insert(text(&bot["key"]));
        }
        Self(keys)
    }

    /// The id, and the key where the id alone would not tell which.
    fn of(&self, bot: &Value) -> String {
        let (id, key) = (text(&bot["bot"]), text(&bot["key"]));
        if self.0.get(&id).is_some_and(|keys| keys.len() > 1) { format!("{id}#{key}") } else { id }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// In seconds below an hour.
fn uptime(seconds: u64) -> String {
    match seconds {
        0..3600 => format!("{seconds} s"),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
