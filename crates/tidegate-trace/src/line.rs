//! What the lines of every gate's trace have in common.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cut;

/// The first line: the gate's settings beside the replayer's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct First {
    pub(super) new: Map<String, Value>,
}

/// The settings of the replayer itself.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pace {
    /// Whether time also moves to what the gate waits for, or by inputs only.
    #[serde(default = "yes")]
    pub(super) auto: bool,
    /// Where to go on to after the last input.
    #[serde(default)]
    pub(super) run_until: Option<Moment>,
}

fn yes() -> bool {
    true
}

impl Pace {
    /// The settings of the replayer and, apart, those of the gate.
    pub(super) fn split(mut settings: Map<String, Value>) -> Result<(Self, Map<String, Value>), String> {
        let own = ["auto", "run_until"].iter().filter_map(|key| settings.remove_entry(*key)).collect();
        let pace = serde_json::from_value(Value::Object(own)).map_err(|error| format!("new: {}", told(&error)))?;
        Ok((pace, settings))
    }
}

/// Every line but the first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Timed<I> {
    pub(super) at: Moment,
    pub(super) input: I,
}

/// One line of outcome.
#[derive(Serialize)]
pub(super) struct Outcome<O> {
    pub(super) at: u64,
    pub(super) output: O,
}

/// Whole milliseconds. A fraction counts as a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Millis(pub(super) u64);

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Millis;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of milliseconds, 0 or more")
            }
            fn visit_u64<E: de::Error>(self, ms: u64) -> Result<Millis, E> {
                Ok(Millis(ms))
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to u64's range by `as`")]
            fn visit_f64<E: de::Error>(self, ms: f64) -> Result<Millis, E> {
                if ms >= 0.0 {
                    Ok(Millis(ms.ceil() as u64))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(ms), &self))
                }
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// A moment of the trace, in whole milliseconds, that a gate's clock can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment(pub(super) u64);

/// A gate's clock counts microseconds.
const LAST_MOMENT_MS: u64 = u64::MAX / 1_000;

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Millis(ms) = Millis::deserialize(deserializer)?;
        let expected = format!("a number of milliseconds, at most {LAST_MOMENT_MS}");
        let wrong = || de::Error::invalid_value(de::Unexpected::Unsigned(ms), &expected.as_str());
        if ms > LAST_MOMENT_MS { Err(wrong()) } else { Ok(Self(ms)) }
    }
}

/// A shard as `[ID, COUNT]`, an id below its count.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "(u32, u32)")]
pub(super) struct OneOf {
    pub(super) id: u32,
    pub(super) count: u32,
}

impl TryFrom<(u32, u32)> for OneOf {
    type Error = String;

    fn try_from((id, count): (u32, u32)) -> Result<Self, String> {
        if id < count {
            Ok(Self { id, count })
        } else {
            Err(format!("[{id},{count}] is no shard: expected [ID,COUNT] with an id below the count"))
        }
    }
}

/// An id that is written as a number or as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name(pub(super) String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an id, as a number or as text")
            }
            fn visit_u64<E: de::Error>(self, id: u64) -> Result<Name, E> {
                Ok(Name(id.to_string()))
            }
            fn visit_i64<E: de::Error>(self, id: i64) -> Result<Name, E> {
                Ok(Name(id.to_string()))
            }
            fn visit_str<E: de::Error>(self, id: &str) -> Result<Name, E> {
                if id.trim().is_empty() {
                    Err(E::invalid_value(de::Unexpected::Str(id), &self))
                } else {
                    Ok(Name(id.to_owned()))
                }
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// What serde found wrong. Its own place ("line 1 column 9") counts within the one line that it was given.
pub(super) fn told(error: &serde_json::Error) -> String {
    let text = cut::message(&error.to_string());
    match text.rsplit_once(" at line ") {
        Some((reason, _)) if error.column() > 0 => format!("{reason} (column {})", error.column()),
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}
