//! The configuration: one file, the environment and a few flags.

mod gateway;
mod keys;
mod layers;
mod reference;
mod show;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tidegate_core::Span;
use tidegate_core::policy::{Platform, Policy};
use tidegate_proxy::{Bounds, Discord, Telegram};
use tidegate_trace::cut;
use toml::Value;

pub(crate) use self::layers::Layers;
pub(crate) use self::reference::reference;
pub(crate) use self::show::show;

/// What is wrong with the configuration.
#[derive(Debug, thiserror::Error)]
#[error("{at}: {}{}", if key.is_empty() { String::new() } else { format!("{}: ", cut::words(key)) }, cut::message(reason))]
pub(crate) struct ConfigError {
    /// The key's path; empty where the whole file is meant.
    pub(crate) key: String,
    /// File and line, variable or flag.
    pub(crate) at: String,
    /// What is wrong.
    pub(crate) reason: String,
}

/// What a command line may say about it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ConfigFlags {
    /// The configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where bots connect to
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Where operators connect to
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<String>,
    /// Where the embedded store lives
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<String>,
}

/// The configuration in force.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) admin_token: Option<Secret>,
    pub(crate) admin_hosts: Vec<String>,
    pub(crate) time_scale: f64,
    pub(crate) log: tracing::level_filters::LevelFilter,
    pub(crate) threads: usize,
    pub(crate) proxy: tidegate_proxy::Settings,
    pub(crate) gateway: tidegate_gateway::Settings,
}

/// A text that cannot be printed.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn matches(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        // Looks at every byte, so that the time taken does not tell how many are right.
        own.len() == given.len() && own.iter().zip(given).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

/// Reads all layers.
pub(crate) fn read(flags: &ConfigFlags) -> Result<Layers, ConfigError> {
    let mut layers = Layers::defaults();
    if let Some(path) = &flags.config {
        layers.file(path)?;
    }
    layers.env(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    )?;
    let given =
        [("listen", &flags.listen, "--listen"), ("admin", &flags.admin, "--admin"), ("data", &flags.data, "--data")];
    for (path, written, name) in given {
        if let Some(written) = written {
            layers.flag(path, written, name)?;
        }
    }
    Ok(layers)
}

impl Config {
    /// What the layers say, checked as a whole.
    pub(crate) fn new(layers: &Layers) -> Result<Self, ConfigError> {
        // In the order of the keys, so that the first wrong one is told.
        let listen = layers.get("listen", |v| value::address(value::text(v)?))?;
        let admin = layers.get("admin", |v| value::address(value::text(v)?))?;
        let admin_token = layers.maybe("admin_token", |v| value::secret(v).map(Secret))?;
        let admin_hosts = layers.get("admin_hosts", |v| Ok(texts(v).collect()))?;
        let time_scale = layers.get("time_scale", value::scale)?;
        let bots: Option<HashSet<String>> = layers.maybe("bots", |v| texts(v).map(bot_number).collect())?;
        let public_url = layers.maybe("public_url", |v| value::gateway_url(value::text(v)?))?;
        let record = layers.maybe("record.dir", |v| value::folder(value::text(v)?))?;
        let log = layers.get("log", value::level)?;
        let threads = layers.count("threads")?;
        let drain_timeout = layers.get("drain_timeout", value::span)?;
        let bounds = bounds(layers)?;
        let (telegram, discord) = (telegram(layers)?, discord(layers)?);
        let common = gateway::Common { bounds: bounds.clone(), bots: bots.clone(), public_url, record };
        let gateway = gateway::settings(layers, common)?;
        let proxy = tidegate_proxy::Settings { bounds, bots, drain_timeout, telegram, discord };
        let config = Self { listen, admin, admin_token, admin_hosts, time_scale, log, threads, proxy, gateway };
        let insecure = layers.get("insecure", |v| Ok(v.as_bool().unwrap_or(false)))?;
        if !config.listen.ip().is_loopback() && !insecure {
            let reason = "others can reach this address, and bots' tokens would pass there without TLS; listen on \
                          loopback, or set insecure = true where the network is your own";
            return Err(layers.wrong("listen", reason));
        }
        if !config.admin.ip().is_loopback() && config.admin_token.is_none() {
            return Err(layers.wrong("admin", "others can reach this address; set admin_token, or listen on loopback"));
        }
        if layers.0.contains_key("store.url") {
            return Err(layers.wrong("store.url", "this version keeps state in memory only; leave it out"));
        }
        Ok(config)
    }
}

fn bounds(layers: &Layers) -> Result<Bounds, ConfigError> {
    Ok(Bounds {
        buffer_total: layers.get("buffer_total", value::bytes)?,
        bots_max: layers.count("bots_max")?,
        bots_idle: layers.get("bots_idle", value::span)?,
        connections_max: layers.count("connections_max")?,
        held_per_client: layers.count("held_per_client")?,
        header_block: layers.get("header_block", value::bytes)?,
        target_max: layers.get("target_max", value::bytes)?,
        decision_timeout: layers.get("decision_timeout", value::span)?,
        idle_timeout: layers.get("idle_timeout", value::span)?,
        body_max: layers.get("body_max", value::bytes)?,
        multipart_max: layers.get("multipart_max", value::bytes)?,
        unproven_failures: layers.count("unproven_failures")?,
        breaker: layers.get("breaker", value::span)?,
        connect_timeout: layers.get("connect_timeout", value::span)?,
    })
}

fn telegram(layers: &Layers) -> Result<Telegram, ConfigError> {
    Ok(Telegram {
        api: layers.get("telegram.api", |v| value::api(value::text(v)?, &["bot", "file"]))?,
        policy: layers.policy_at("telegram.policy", Platform::Telegram, Vec::new())?,
        auto_hold: layers.maybe("telegram.auto_hold", |v| value::span(v).map(Span::from))?,
    })
}

fn discord(layers: &Layers) -> Result<Discord, ConfigError> {
    let most = layers.maybe("discord.max_global", |v| v.as_integer().ok_or_else(|| format!("{v} is no number")))?;
    let bot_second = most.map(|most| ("buckets.bot_second.window".to_owned(), Value::String(format!("{most}/1s"))));
    Ok(Discord {
        api: layers.get("discord.api", |v| value::api(value::text(v)?, &["api"]))?,
        policy: layers.policy_at("discord.policy", Platform::Discord, bot_second.into_iter().collect())?,
        auto_hold: layers.maybe("discord.auto_hold", |v| value::span(v).map(Span::from))?,
    })
}

impl Layers {
    fn get<T>(&self, path: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<T, ConfigError> {
        let found = self.maybe(path, read)?;
        found.ok_or_else(|| self.wrong(path, "is missing"))
    }

    fn maybe<T>(&self, path: &str, read: impl Fn(&Value) -> Result<T, String>) -> Result<Option<T>, ConfigError> {
        let Some(sourced) = self.0.get(path) else { return Ok(None) };
        read(&sourced.value).map(Some).map_err(|reason| self.wrong(path, &reason))
    }

    fn count(&self, path: &str) -> Result<usize, ConfigError> {
        self.get(path, |v| {
            let count = v.as_integer().and_then(|number| usize::try_from(number).ok());
            count.ok_or_else(|| format!("{v} is no whole number"))
        })
    }

    fn wrong(&self, path: &str, reason: &str) -> ConfigError {
        let source = self.0.get(path).map_or_else(|| "default".to_owned(), |sourced| sourced.source.to_string());
        ConfigError { key: path.to_owned(), at: source, reason: reason.to_owned() }
    }

    /// One key's value is over that of another that bounds it; shown is the one that somebody set.
    fn past(&self, less: &str, is: &dyn std::fmt::Display, more: &str, bound: &dyn std::fmt::Display) -> ConfigError {
        let set = |path: &str| self.0.get(path).is_some_and(|sourced| sourced.source != layers::Source::Default);
        if set(less) || !set(more) {
            self.wrong(less, &format!("{is} is over {more}, which is {bound}"))
        } else {
            self.wrong(more, &format!("{bound} is under {less}, which is {is}"))
        }
    }

    /// The policy that a key names.
    fn policy_at(
        &self,
        key: &str,
        platform: Platform,
        changes: Vec<(String, Value)>,
    ) -> Result<Arc<Policy>, ConfigError> {
        let name = self.get(key, |v| Ok(value::text(v)?.to_owned()))?;
        let policy = self.policy(&name, key, changes)?;
        if policy.platform == platform {
            return Ok(Arc::new(policy));
        }
        Err(self.wrong(key, "is a policy for another platform"))
    }

    /// A policy with these changes, and those of the cells in `[policy.NAME]`.
    fn policy(&self, name: &str, named_by: &str, mut changes: Vec<(String, Value)>) -> Result<Policy, ConfigError> {
        let prefix = format!("policy.{name}.");
        let cells =
            self.0.iter().filter_map(|(path, sourced)| Some((path.strip_prefix(&prefix)?, sourced.value.clone())));
        for (path, value) in cells {
            // What is printed as in force must be in force.
            if let Some(least) = Policy::raised(name, path, &value::cell(&value)) {
                return Err(self.wrong(&format!("{prefix}{path}"), &format!("{value} is under the least, {least}")));
            }
            changes.push((path.to_owned(), value));
        }
        let changes: Vec<_> = changes.into_iter().map(|(path, value)| (path, value::cell(&value))).collect();
        let error = match Policy::load(name, &changes) {
            Ok(policy) => return Ok(policy),
            Err(error) => error,
        };
        // The error may name the last change only; the first that spoils the table is the one to show.
        let culprit = (1..=changes.len())
            .find(|upto| Policy::load(name, &changes[..*upto]).is_err())
            .map(|upto| format!("{prefix}{}", changes[upto - 1].0));
        Err(self.wrong(culprit.as_deref().unwrap_or(named_by), &error.reason))
    }
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned)
}

/// An application id, or the number before a token's colon. A whole token is not shown.
fn bot_number(text: String) -> Result<String, String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(text);
    }
    let shown = if text.len() > 32 || text.contains([':', '.']) { "an entry" } else { &format!("\"{text}\"") };
    Err(format!("{shown} is no bot's number: an application id, or what stands before the colon of a Telegram token"))
}
