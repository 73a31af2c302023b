//! `tidegate status`: what a running tidegate says of itself, as a table.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: u64 = 64 << 20;

/// Asks the admin port at `admin` and prints what it says.
pub(crate) fn run(admin: &str, as_json: bool) -> anyhow::Result<()> {
    let body = fetch(admin)?;
    if as_json {
        println!("{}", body.trim_end());
        return Ok(());
    }
    print!("{}", table(&serde_json::from_str(&body).context("the answer is no JSON")?));
    Ok(())
}

fn fetch(admin: &str) -> anyhow::Result<String> {
    let uri: hyper::Uri = admin.parse().with_context(|| format!("\"{admin}\" is no address"))?;
    if uri.scheme_str().is_some_and(|scheme| scheme != "http") {
        bail!("\"{admin}\": only http:// is known here");
    }
    let host = uri.host().with_context(|| format!("\"{admin}\" names no host"))?;
    let port = uri.port_u16().unwrap_or(8788);
    let address = (host.trim_matches(['[', ']']), port).to_socket_addrs()?.next();
    let address = address.with_context(|| format!("{host} has no address"))?;
    let unreachable = || format!("no tidegate answers at {host}:{port}; is it running?");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).with_context(unreachable)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let token = std::env::var("TIDEGATE_ADMIN_TOKEN");
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    write!(stream, "GET /v1/status HTTP/1.0\r\nHost: {host}:{port}\r\n{authorization}Connection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer).with_context(unreachable)?;
    let (head, body) = answer.split_once("\r\n\r\n").with_context(unreachable)?;
    match head.split_whitespace().nth(1) {
        Some("200") => Ok(body.to_owned()),
        Some("401") => bail!("the admin port wants its token: set TIDEGATE_ADMIN_TOKEN"),
        _ => bail!("it answered {}: {}", head.lines().next().unwrap_or_default(), body.trim()),
    }
}

fn table(status: &Value) -> String {
    let mut out = String::new();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let draining = if status["draining"] == true { ", draining" } else { "" };
    let _ = writeln!(
        out,
        "tidegate {}, up {} s{draining}; {} connections; policies {}, {}; state in {}",
        text(&status["version"]),
        status["uptime_s"],
        status["connections"],
        text(&status["telegram"]["policy"]),
        text(&status["discord"]["policy"]),
        text(&status["store"]),
    );
    let discord = &status["discord"];
    if let Some(seconds) = discord["banned_s"].as_u64() {
        let _ = writeln!(out, "Discord has banned this address; nothing is sent to it for {seconds} s");
    }
    if discord["invalid_requests"].as_u64().is_some_and(|count| count > 0) {
        let warning = discord["warning"].as_str().map(|warning| format!(": {warning}")).unwrap_or_default();
        let _ = writeln!(out, "{} invalid requests to Discord in ten minutes{warning}", discord["invalid_requests"]);
    }
    let bots = status["bots"].as_array().map(Vec::as_slice).unwrap_or_default();
    let _ = writeln!(out, "\n{:<20} {:<9} {:>6} {:>9} {:>7}  cooling", "bot", "token", "held", "in flight", "peers");
    for bot in bots {
        let cooling = bot["cooldowns"].as_array().map(Vec::as_slice).unwrap_or_default();
        let one =
            |c: &Value| format!("{} {} {} s", text(&c["surface"]), c["peer"].as_str().unwrap_or("-"), c["left_s"]);
        let cooling = cooling.iter().map(one).collect::<Vec<_>>().join(", ");
        let (name, token) = (text(&bot["bot"]), text(&bot["token"]));
        let (held, flying, peers) = (text(&bot["held"]), text(&bot["in_flight"]), text(&bot["peers"]));
        let _ = writeln!(out, "{name:<20} {token:<9} {held:>6} {flying:>9} {peers:>7}  {cooling}");
    }
    shards(&mut out, &status["gateway"]);
    let _ = writeln!(out, "\n{:<20} {:<10} {:<13} {:<12} {:>9}", "bot", "surface", "class", "outcome", "count");
    for bot in bots {
        for count in bot["counters"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let [surface, class, outcome] = ["surface", "class", "outcome"].map(|name| text(&count[name]));
            let (name, count) = (text(&bot["bot"]), text(&count["count"]));
            let _ = writeln!(out, "{name:<20} {surface:<10} {class:<13} {outcome:<12} {count:>9}");
        }
    }
    out
}

/// The shards of all bots, and the session starts that each may still spend.
fn shards(out: &mut String, gateway: &Value) {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let bots = gateway["bots"].as_array().map(Vec::as_slice).unwrap_or_default();
    if bots.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{:<20} {:<9} {:<12} {:<22} {:>7} {:<8} {:>11} {:>7}",
        "bot", "shard", "state", "why", "s left", "bot here", "starts left", "in 24 h"
    );
    for bot in bots {
        let starts = &bot["session_starts"];
        for shard in bot["shards"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let (name, key) = (text(&bot["bot"]), format!("{}/{}", shard["shard"][0], shard["shard"][1]));
            let (state, why, left) = (text(&shard["state"]), text(&shard["why"]), text(&shard["left_s"]));
            let here = if shard["bot_attached"] == true { "yes" } else { "no" };
            let (may, spent) = (text(&starts["left"]), text(&starts["in_24_h"]));
            let _ = writeln!(out, "{name:<20} {key:<9} {state:<12} {why:<22} {left:>7} {here:<8} {may:>11} {spent:>7}");
        }
    }
}
