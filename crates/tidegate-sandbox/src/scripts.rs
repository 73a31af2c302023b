//! Forced answers: which of them waits for its call, and how a script is read from JSON.

use std::collections::VecDeque;

use serde_json::{Map, Value};

/// A rule that forces the answers of some calls.
pub(crate) trait Script {
    type Forced: Clone;

    /// Calls to let through first, and calls to force after that.
    fn turns(&mut self) -> (&mut u64, &mut u64);
    fn forced(&self) -> Self::Forced;
}

/// The scripts that wait for their calls, oldest first.
pub(crate) struct Scripts<S> {
    max: usize,
    waiting: VecDeque<S>,
}

impl<S: Script> Scripts<S> {
    pub(crate) fn new(max: usize) -> Self {
        Self { max: max.max(1), waiting: VecDeque::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Adds one; false if too many wait already.
    pub(crate) fn push(&mut self, mut script: S) -> bool {
        if self.waiting.len() >= self.max {
            return false;
        }
        if *script.turns().1 > 0 {
            self.waiting.push_back(script);
        }
        true
    }

    /// What is forced on a call: the first script that matches decides, and counts it.
    pub(crate) fn take(&mut self, matches: impl Fn(&S) -> bool) -> Option<S::Forced> {
        let index = self.waiting.iter().position(matches)?;
        let script = self.waiting.get_mut(index)?;
        let forced = script.forced();
        let (skip, times) = script.turns();
        if *skip > 0 {
            *skip -= 1;
            return None;
        }
        *times -= 1;
        if *times == 0 {
            self.waiting.remove(index);
        }
        Some(forced)
    }
}

/// Reads the keys of a script; errors say what was expected.
pub(crate) struct Reader<'a>(&'a Map<String, Value>);

impl<'a> Reader<'a> {
    pub(crate) fn new(value: &'a Value, known: &[&str]) -> Result<Self, String> {
        let Some(object) = value.as_object() else { return Err("a script is a JSON object".into()) };
        match object.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!("unknown key {key:?}; known are {}", known.join(", "))),
            None => Ok(Self(object)),
        }
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(format!("{key:?} is a string or a number")),
        }
    }

    pub(crate) fn number(&self, key: &str, default: u64) -> Result<u64, String> {
        match self.text(key)? {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("{key:?} is a whole number of at least 0")),
        }
    }

    pub(crate) fn id(&self, key: &str) -> Result<Option<u64>, String> {
        let parsed = self.text(key)?.map(|id| id.parse().map_err(|_| format!("{key:?} is an id")));
        parsed.transpose()
    }

    pub(crate) fn answer(&self) -> Result<&'a Value, String> {
        self.0.get("answer").ok_or_else(|| "\"answer\" is missing".into())
    }
}

/// The kind of a forced answer: `"502"`, `502`, `{"kind":…}`, `{"status":…}`, or an object with one of `bare`'s keys.
pub(crate) fn kind(answer: &Value, bare: &[&str]) -> Option<String> {
    match answer {
        Value::String(kind) => Some(kind.clone()),
        Value::Number(status) => Some(status.to_string()),
        Value::Object(fields) => match fields.get("kind").or_else(|| fields.get("status")) {
            Some(Value::String(kind)) => Some(kind.clone()),
            Some(Value::Number(status)) => Some(status.to_string()),
            Some(_) => None,
            None => bare.iter().find(|key| fields.contains_key(**key)).map(|key| (*key).to_owned()),
        },
        _ => None,
    }
}
