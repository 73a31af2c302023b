//! The governor's lines.

pub(super) mod input;
pub(super) mod output;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use tidegate_core::discord::Route;
use tidegate_core::governor::{Governor, Input, Write};
use tidegate_core::policy::{Call, Platform, Policy, Value as Cell};
use tidegate_core::{MessageKey, MethodKey, Peer, Span, field};

use super::driver;
use super::line::told;

/// No client may ask to be held for longer.
const LONGEST_HOLD_MS: u64 = 600_000;

/// Knows the policy, to find each write's row, and all changes made to it so far.
pub(super) struct Codec {
    name: String,
    changes: Vec<(String, Cell)>,
    policy: Arc<Policy>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default = "telegram")]
    policy: String,
    #[serde(default)]
    set: Map<String, Value>,
    #[serde(default)]
    instant: bool,
}

fn telegram() -> String {
    "telegram".to_owned()
}

impl driver::Codec for Codec {
    type Gate = Governor;
    type Input = input::Line;
    type Output = output::Line;

    fn create(settings: Map<String, Value>) -> Result<(Self, Governor), String> {
        let settings: Settings = serde_json::from_value(Value::Object(settings)).map_err(|error| told(&error))?;
        let policy = Policy::load(&settings.policy, &[]).map_err(|error| error.to_string())?;
        let mut codec = Self { name: settings.policy, changes: Vec::new(), policy: Arc::new(policy) };
        codec.change(settings.set)?;
        let governor = Governor::new(Arc::clone(&codec.policy), settings.instant);
        Ok((codec, governor))
    }

    fn decode(&mut self, line: input::Line) -> Result<Input, String> {
        Ok(match line {
            input::Line::Write(line) => Input::Write(self.write(line)?),
            input::Line::Set(changes) => {
                self.change(changes)?;
                Input::Policy(Arc::clone(&self.policy))
            }
            other => other.into_input(|method| self.method(method))?,
        })
    }

    fn check(&self, governor: &Governor, input: &Input) -> Result<(), String> {
        match input {
            Input::Write(write) if governor.knows(write.ticket) => Err(format!(
                "write: ticket {} is still held or in flight: expected one that is not, or its \"done\" first",
                write.ticket.0
            )),
            _ => Ok(()),
        }
    }

    fn after_timeout(&self, input: &Input) -> bool {
        matches!(input, Input::Write(_))
    }

    fn encode(&self, output: tidegate_core::governor::Output) -> output::Line {
        output.into()
    }
}

impl Codec {
    fn change(&mut self, set: Map<String, Value>) -> Result<(), String> {
        if set.is_empty() {
            return Ok(());
        }
        let prefix = format!("policy.{}.", self.name);
        for (path, value) in set {
            let value = cell(value).ok_or_else(|| format!("set: {path}: null is no value of a cell"))?;
            self.changes.push((path.strip_prefix(&prefix).unwrap_or(&path).to_owned(), value));
        }
        let policy = Policy::load(&self.name, &self.changes).map_err(|error| format!("set: {error}"))?;
        self.policy = Arc::new(policy);
        Ok(())
    }

    fn write(&self, line: input::Write) -> Result<Write, String> {
        let route = self.route(&line.method).map(|route| route.with_fields(line.fields.iter().map(String::as_str)));
        let named = line.peer.map(|peer| Peer::parse(&peer.0));
        let call = Call {
            method: route.as_ref().map_or(&line.method, |route| &route.template),
            has_chat: named.is_some(),
            rich: line.fields.iter().any(|name| name == "rich_message"),
            paid: line.fields.iter().any(|name| name == "allow_paid_broadcast"),
        };
        Ok(Write {
            ticket: line.ticket,
            row: self.policy.row_of(&call),
            method: MethodKey::of(call.method),
            wider: route.as_ref().and_then(|route| route.webhook),
            peer: named.or_else(|| route.as_ref().and_then(|route| route.peer.clone())),
            thread: line.thread,
            message: match line.message {
                Some(message) => Some(MessageKey::of(&message.0)),
                None => route.and_then(|route| route.message),
            },
            class: line.class.map(|class| input::class(&class)).transpose()?,
            weight: line.weight.max(1),
            fields: line.fields.iter().map(|name| field(name)).collect(),
            max_hold: line.max_hold_ms.map(|ms| Span::from_millis(ms.0.min(LONGEST_HOLD_MS))),
            auto_hold: None,
        })
    }

    /// A method that is a verb and a path, where the platform's are.
    fn route(&self, method: &str) -> Option<Route> {
        let (verb, path) = method.split_once(' ').filter(|_| self.policy.platform == Platform::Discord)?;
        // A trace has no time of day: its messages are new.
        Some(Route::parse(verb, path.trim(), 0, |token| MethodKey::of(token).0))
    }

    fn method(&self, method: &str) -> MethodKey {
        self.route(method).map_or_else(|| MethodKey::of(method), |route| route.method)
    }
}

/// A policy's cell. There is no null among them.
fn cell(value: Value) -> Option<Cell> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(on) => Cell::Bool(on),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cell::Integer(whole),
            None => Cell::Float(number.as_f64()?),
        },
        Value::String(text) => Cell::Text(text),
        Value::Array(values) => Cell::List(values.into_iter().map(cell).collect::<Option<_>>()?),
        Value::Object(map) => {
            Cell::Table(map.into_iter().map(|(key, value)| Some((key, cell(value)?))).collect::<Option<_>>()?)
        }
    })
}
