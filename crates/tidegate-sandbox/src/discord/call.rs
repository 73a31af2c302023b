//! A call as it comes to Discord's REST API, and what comes back.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde_json::{Value, json};

use super::route::Route;
use crate::http::form;

/// One call.
#[derive(Clone)]
pub struct Call {
    /// Who sends it: invalid requests and bans are counted by address.
    pub from: IpAddr,
    /// `GET`, `POST`, …
    pub method: String,
    /// What stands behind `/api` or `/api/vN`: `/channels/1/messages`.
    pub path: String,
    /// Arguments behind the question mark.
    pub query: Vec<(String, String)>,
    /// The header `Authorization`, `Bot …` or `Bearer …`.
    pub authorization: Option<String>,
    /// The JSON body, or `payload_json` of a multipart one; `null` if there is none.
    pub body: Value,
    /// Names of uploads and their bytes.
    pub files: Vec<(String, u64)>,
    /// Platform time that the answer will be on its way: the caller cannot know what it says before.
    pub answer_after: Duration,
}

impl Call {
    /// A call without authorization and body, from `127.0.0.1`; the path may have a query.
    pub fn new(method: &str, path: &str) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Self {
            from: Ipv4Addr::LOCALHOST.into(),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            query: form(query),
            authorization: None,
            body: Value::Null,
            files: Vec::new(),
            answer_after: Duration::ZERO,
        }
    }

    /// The same call by a bot.
    #[must_use]
    pub fn bot(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bot {token}"));
        self
    }

    /// The same call with a JSON body.
    #[must_use]
    pub fn body(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    /// The same call from another address.
    #[must_use]
    pub fn from(mut self, from: IpAddr) -> Self {
        self.from = from;
        self
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name)?.as_str()
    }

    pub(crate) fn asks(&self, name: &str) -> bool {
        self.query.iter().any(|(key, value)| key == name && (value.eq_ignore_ascii_case("true") || value == "1"))
    }
}

// Paths and `Authorization` hold tokens.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("route", &Route::of(&self.method, &self.path).name)
            .field("from", &self.from)
            .field("authorized", &self.authorization.is_some())
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// What kind of body an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// None: a 204.
    Empty,
    /// `application/json`.
    Json,
    /// `text/html`.
    Html,
    /// `text/plain`.
    Text,
}

/// An answer of Discord, or of what stands before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers but for the content's.
    pub headers: Vec<(&'static str, String)>,
    /// What the body is.
    pub content: Content,
    /// The body.
    pub body: String,
}

impl Answer {
    fn new(status: u16, content: Content, body: String) -> Self {
        Self { status, headers: Vec::new(), content, body }
    }

    /// A 200 with a JSON body.
    pub fn ok(value: &Value) -> Self {
        Self::json_status(200, value)
    }

    /// Any status with a JSON body.
    pub fn json_status(status: u16, value: &Value) -> Self {
        Self::new(status, Content::Json, value.to_string())
    }

    /// A 204.
    pub fn empty() -> Self {
        Self::new(204, Content::Empty, String::new())
    }

    /// `{"message":…,"code":…}`.
    pub fn error(status: u16, code: u64, message: &str) -> Self {
        Self::json_status(status, &json!({"message": message, "code": code}))
    }

    /// A page that is not Discord's own.
    pub fn page(status: u16, content: Content, body: impl Into<String>) -> Self {
        Self::new(status, content, body.into())
    }

    /// The first header of that name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn with(mut self, headers: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.headers.extend(headers);
        self
    }
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
}

impl From<Answer> for Verdict {
    fn from(answer: Answer) -> Self {
        Self { answer, delay: Duration::ZERO, cut: false }
    }
}
