//! The identify queue's lines.

pub(super) mod input;
mod kept;
pub(super) mod output;

use serde::Deserialize;
use serde_json::{Map, Value};
use tidegate_core::Span;
use tidegate_core::identify_queue::{Input, Output, SessionStartLimit, Settings, Start};

use self::input::{KeptStart, Moment, count};
use self::kept::Kept;
use super::driver;
use super::line::{Millis, told};

pub(super) struct Codec;

/// The gate's numbers as a trace has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Numbers {
    #[serde(default = "one")]
    max_concurrency: i64,
    #[serde(default = "thousand")]
    remaining: i64,
    #[serde(default)]
    reset_at_ms: Moment,
    total: Option<i64>,
    shards: Option<i64>,
    rolling_limit: Option<i64>,
    spacing_ms: Option<Millis>,
    spacing_margin_ms: Option<Millis>,
    hold_ms: Option<Millis>,
    http_hold_ms: Option<Millis>,
    low_water: Option<i64>,
    #[serde(default)]
    starts: Vec<KeptStart>,
}

fn one() -> i64 {
    1
}

fn thousand() -> i64 {
    1_000
}

impl Numbers {
    /// The gate's numbers, what `GET /gateway/bot` said and the starts that were kept.
    pub(super) fn read(self, shards: u64) -> (Settings, SessionStartLimit, Vec<Start>) {
        let own = Settings::default();
        let span = |ms: Option<Millis>, own| ms.map_or(own, |ms| Span::from_millis(ms.0));
        let settings = Settings {
            spacing: span(self.spacing_ms, own.spacing),
            spacing_margin: span(self.spacing_margin_ms, own.spacing_margin),
            hold: span(self.hold_ms, own.hold),
            http_hold: span(self.http_hold_ms, own.http_hold),
            low_water: self.low_water.map_or(own.low_water, count),
            rolling_limit: self.rolling_limit.map_or(own.rolling_limit, count),
            total: self.total.map_or(own.total, count),
            shards: self.shards.map_or(shards, count),
            waiting_bound: own.waiting_bound,
        };
        let limit = SessionStartLimit {
            max_concurrency: self.max_concurrency,
            remaining: self.remaining,
            reset_at: self.reset_at_ms.time(),
        };
        (settings, limit, self.starts.into_iter().map(KeptStart::into_start).collect())
    }
}

impl driver::Codec for Codec {
    type Gate = Kept;
    type Input = input::Line;
    type Output = output::Line;

    fn create(settings: Map<String, Value>) -> Result<(Self, Kept), String> {
        let numbers: Numbers = serde_json::from_value(Value::Object(settings)).map_err(|error| told(&error))?;
        let (settings, limit, starts) = numbers.read(Settings::default().shards);
        Ok((Self, Kept::new(settings, limit, starts)))
    }

    fn decode(&mut self, line: input::Line) -> Result<Input, String> {
        Ok(line.into())
    }

    fn after_timeout(&self, _input: &Input) -> bool {
        true
    }

    fn encode(&self, output: Output) -> output::Line {
        output.into()
    }
}
