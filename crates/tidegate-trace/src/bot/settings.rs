//! A composite's first line.

use serde::Deserialize;
use serde_json::{Map, Value};
use tidegate_core::bot::{Gateway, Input, Settings, ShardKey};
use tidegate_core::governor::Governor;
use tidegate_core::{Gate, Time, shard};

use crate::driver::Codec as _;
use crate::line::{OneOf, told};
use crate::{governor, identify_queue, send_queue, shard as shard_line};

/// Several times what the largest bots have.
const SHARDS_MAX: usize = 65_536;

/// Its gates' own settings, each under its gate's name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    shards: Vec<Opened>,
    shards_max: Option<usize>,
    #[serde(default)]
    shard: Map<String, Value>,
    #[serde(default)]
    send_queue: Map<String, Value>,
    #[serde(default)]
    identify_queue: Map<String, Value>,
    #[serde(default)]
    governor: Map<String, Value>,
}

/// A shard that is there, alone or with what it starts from.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a shard as [ID,COUNT] or as {\"shard\":[ID,COUNT],\"session\":{…}}")]
pub(crate) enum Opened {
    Bare(OneOf),
    With(With),
}

/// What is the shard's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct With {
    shard: OneOf,
    session: Option<shard_line::settings::Session>,
    url: Option<String>,
    seed: Option<u64>,
    autonomous: Option<bool>,
}

/// What a shard has that does not say otherwise.
pub(super) struct Opening {
    url: Box<str>,
    seed: u64,
    autonomous: bool,
}

impl Opening {
    pub(super) fn input(&self, opened: Opened) -> Input<Value> {
        let With { shard, session, url, seed, autonomous } = match opened {
            Opened::Bare(shard) => With { shard, session: None, url: None, seed: None, autonomous: None },
            Opened::With(with) => with,
        };
        Input::Open {
            key: key(shard),
            url: url.map_or_else(|| self.url.clone(), Into::into),
            seed: seed.unwrap_or(self.seed),
            autonomous: autonomous.unwrap_or(self.autonomous),
            stored: session.map(Into::into),
        }
    }
}

pub(super) fn key(OneOf { id, count }: OneOf) -> ShardKey {
    ShardKey { id, count }
}

/// A governor and what reads its lines.
type Governed = (governor::Codec, Governor);

pub(super) fn read(settings: Map<String, Value>) -> Result<(Opening, Gateway<Value>, Governed), String> {
    let line: Line = serde_json::from_value(Value::Object(settings)).map_err(|error| told(&error))?;
    let numbers: identify_queue::Numbers = of("identify_queue", line.identify_queue)?;
    let (identify_queue, limit, kept) = numbers.read(line.shards.len().max(1) as u64);
    let send_queue: send_queue::Numbers = of("send_queue", line.send_queue)?;
    let send_queue = send_queue.into_settings().map_err(|reason| format!("send_queue: {reason}"))?;
    for key in ["shard", "session"] {
        if line.shard.contains_key(key) {
            return Err(format!("shard: {key}: each shard's own stands under \"shards\""));
        }
    }
    let template: shard_line::settings::Line = of("shard", line.shard)?;
    let base =
        shard::Settings { hold: identify_queue.hold, spacing: identify_queue.spacing, ..shard::Settings::default() };
    let (shard, _) = template.read(base).map_err(|reason| format!("shard: {reason}"))?;
    let governed = governor::Codec::create(line.governor).map_err(|reason| format!("governor: {reason}"))?;
    let opening = Opening { url: shard.url.clone(), seed: shard.seed, autonomous: shard.autonomous };
    let shards_max = line.shards_max.unwrap_or(SHARDS_MAX);
    let settings = Settings { shard, send_queue, identify_queue, shards_max };
    let mut gateway = Gateway::new(settings, limit, kept.into_iter().filter(|start| start.lapses_at > Time::ZERO));
    for opened in line.shards {
        gateway.handle(Time::ZERO, opening.input(opened));
    }
    Ok((opening, gateway, governed))
}

fn of<T: serde::de::DeserializeOwned>(gate: &str, settings: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(settings)).map_err(|error| format!("{gate}: {}", told(&error)))
}
