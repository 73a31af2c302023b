//! The send queue's lines.

pub(super) mod input;
pub(super) mod output;

use serde::Deserialize;
use serde_json::{Map, Value};
use tidegate_core::Span;
use tidegate_core::send_queue::{Input, SendQueue, Settings};

use super::driver;
use super::line::{Millis, told};

/// A snapshot is whatever stands there.
pub(super) struct Codec;

/// The gate's numbers as a trace has them; those it leaves out are the gate's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Numbers {
    period_ms: Option<Millis>,
    platform_limit: Option<u32>,
    queued_limit: Option<u32>,
    subscription_limit: Option<u32>,
    burst: Option<u32>,
    max_payload: Option<usize>,
    presence_limit: Option<u32>,
    settle_ms: Option<Millis>,
    settle_burst: Option<u32>,
    queue_bound: Option<usize>,
    guilds_bound: Option<usize>,
}

impl Numbers {
    pub(super) fn into_settings(self) -> Result<Settings, String> {
        if self.period_ms == Some(Millis(0)) {
            return Err("period_ms: expected 1 or more".to_owned());
        }
        let own = Settings::default();
        let span = |ms: Option<Millis>, own| ms.map_or(own, |ms| Span::from_millis(ms.0));
        Ok(Settings {
            period: span(self.period_ms, own.period),
            platform_limit: self.platform_limit.unwrap_or(own.platform_limit),
            queued_limit: self.queued_limit.unwrap_or(own.queued_limit),
            subscription_limit: self.subscription_limit.unwrap_or(own.subscription_limit),
            burst: self.burst.unwrap_or(own.burst),
            max_payload: self.max_payload.unwrap_or(own.max_payload),
            presence_limit: self.presence_limit.unwrap_or(own.presence_limit),
            settle: span(self.settle_ms, own.settle),
            settle_burst: self.settle_burst.unwrap_or(own.settle_burst),
            queue_bound: self.queue_bound.unwrap_or(own.queue_bound),
            guilds_bound: self.guilds_bound.unwrap_or(own.guilds_bound),
        })
    }
}

impl driver::Codec for Codec {
    type Gate = SendQueue<Value>;
    type Input = input::Line;
    type Output = output::Line;

    fn create(settings: Map<String, Value>) -> Result<(Self, Self::Gate), String> {
        let numbers: Numbers = serde_json::from_value(Value::Object(settings)).map_err(|error| told(&error))?;
        Ok((Self, SendQueue::new(numbers.into_settings()?)))
    }

    fn decode(&mut self, line: input::Line) -> Result<Input<Value>, String> {
        line.into_input()
    }

    fn after_timeout(&self, _input: &Input<Value>) -> bool {
        true
    }

    fn encode(&self, output: tidegate_core::send_queue::Output<Value>) -> output::Line {
        output.into()
    }
}
