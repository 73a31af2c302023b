//! A call as it comes to the Bot API, and what comes back.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// Arguments of a call by name, all as text: the Bot API reads a number and its text alike.
#[derive(Clone, Debug, Default)]
pub struct Args(Vec<(String, String)>);

impl Args {
    /// More arguments than any method has; further ones are dropped.
    const MAX: usize = 256;

    /// The first argument of that name, if it is there and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The argument as a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.trim().parse().ok()
    }

    /// The argument as a Boolean, as the Bot API server reads one; one that is not there is false.
    pub fn is_true(&self, name: &str) -> bool {
        let value = self.get(name).unwrap_or_default().trim().to_ascii_lowercase();
        matches!(value.as_str(), "true" | "yes" | "1")
    }

    /// Items of an argument that holds a JSON array; `None` if it is none.
    pub fn items(&self, name: &str) -> Option<Vec<Value>> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Adds an argument.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        if self.0.len() < Self::MAX {
            self.0.push((name.into(), value.into()));
        }
    }

    /// Adds what a JSON object holds; `null` is absence.
    pub fn extend_json(&mut self, object: serde_json::Map<String, Value>) {
        for (name, value) in object {
            match value {
                Value::Null => {}
                Value::String(text) => self.push(name, text),
                other => self.push(name, other.to_string()),
            }
        }
    }
}

/// One call of a bot.
#[derive(Clone)]
pub struct Call {
    /// The bot's token, `digits:secret`.
    pub token: String,
    /// The method, in any case.
    pub method: String,
    /// Its arguments.
    pub args: Args,
}

impl Call {
    /// A call without arguments.
    pub fn new(token: impl Into<String>, method: impl Into<String>) -> Self {
        Self { token: token.into(), method: method.into(), args: Args::default() }
    }

    /// The same call with one argument more.
    #[must_use]
    pub fn arg(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.args.push(name, value.to_string());
        self
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.method).field("args", &self.args).finish_non_exhaustive()
    }
}

/// An answer of the Bot API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Value of the header `Retry-After`, whole seconds of platform time, on a 429.
    pub retry_after_s: Option<u64>,
    /// The body: JSON, but for a gateway's error page.
    pub body: String,
}

impl Answer {
    /// `{"ok":true,"result":…}`.
    pub fn ok(result: &Value) -> Self {
        Self { status: 200, retry_after_s: None, body: json!({"ok": true, "result": result}).to_string() }
    }

    /// `{"ok":false,"error_code":…,"description":…}`.
    pub fn error(status: u16, description: &str) -> Self {
        let body = json!({"ok": false, "error_code": status, "description": description}).to_string();
        Self { status, retry_after_s: None, body }
    }

    /// The 429 of the Bot API server: the seconds in the text, in `parameters` and in the header.
    pub fn too_many(retry_after_s: u64) -> Self {
        let body = json!({
            "ok": false,
            "error_code": 429,
            "description": format!("Too Many Requests: retry after {retry_after_s}"),
            "parameters": {"retry_after": retry_after_s},
        });
        Self { status: 429, retry_after_s: Some(retry_after_s), body: body.to_string() }
    }

    /// The 400 that names the supergroup a group has become.
    pub fn migrated(to: i64) -> Self {
        let body = json!({
            "ok": false,
            "error_code": 400,
            "description": "Bad Request: group chat was upgraded to a supergroup chat",
            "parameters": {"migrate_to_chat_id": to},
        });
        Self { status: 400, retry_after_s: None, body: body.to_string() }
    }

    /// The 400 of an edit that changes nothing.
    pub fn not_modified() -> Self {
        Self::error(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same \
             as a current content and reply markup of the message",
        )
    }

    /// The body as JSON; `null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
}

/// A long poll that waits: given back to [`Model::poll`](super::Model::poll).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PollTicket {
    pub(crate) bot: u64,
    pub(crate) generation: u64,
}

/// What the model decides about a call.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The answer, meant to be sent after `delay`.
    pub answer: Answer,
    /// Platform time from the call to its answer.
    pub delay: Duration,
    /// The connection is to be cut instead of answered.
    pub cut: bool,
    /// A long poll: `answer` is right if nothing happens for `delay`.
    pub poll: Option<PollTicket>,
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        Self { answer, delay: Duration::ZERO, cut: false, poll: None }
    }
}
