//! The shard's lines.

pub(super) mod input;
pub(super) mod output;
pub(super) mod settings;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};
use tidegate_core::shard::{Input, Output, Settings, Shard};

use super::driver;
use super::line::told;

/// A shard's lines stand for themselves.
pub(super) struct Codec;

impl driver::Codec for Codec {
    type Gate = Shard;
    type Input = input::Line;
    type Output = output::Line;

    fn create(settings: Map<String, Value>) -> Result<(Self, Shard), String> {
        let line: settings::Line = serde_json::from_value(Value::Object(settings)).map_err(|error| told(&error))?;
        let (settings, stored) = line.read(Settings::default())?;
        Ok((Self, Shard::new(settings, stored)))
    }

    fn decode(&mut self, input: input::Line) -> Result<Input, String> {
        Ok(input.into())
    }

    fn after_timeout(&self, _input: &Input) -> bool {
        true
    }

    fn encode(&self, output: Output) -> output::Line {
        output.into()
    }
}
