//! `/__sandbox/…`: what tests read and force over HTTP, the same for every platform.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::{Fields, fields};
use crate::server::Shared;

const BODY_MAX: u64 = 1 << 20;
/// Lines of the log in one answer unless `limit` says fewer.
const LOG_MAX: usize = 200_000;

/// What a model tells tests and takes from them.
pub(crate) trait Controlled {
    /// What is served besides the usual.
    const MORE: &'static str;

    fn tick(&mut self, now: Duration);
    fn stats_value(&self, asked: &Asked) -> Value;
    fn log_values(&self, asked: &Asked) -> Vec<Value>;
    fn messages_value(&self, asked: &Asked) -> Result<Value, &'static str>;
    fn sizes_value(&self) -> Value;
    fn forget(&mut self);
    /// False if too many scripts wait already.
    fn force(&mut self, script: &Value) -> Result<bool, String>;
    /// What only this platform tells; `None` if it is not known.
    fn read(&self, _what: &str, _asked: &Asked) -> Option<Value> {
        None
    }
    /// What only this platform takes; `None` if it is not known.
    fn more(&mut self, what: &str, asked: Asked) -> Option<Result<Value, String>>;
}

/// What a request to `/__sandbox/…` carries.
pub(crate) struct Asked(Fields);

impl Asked {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|it| !it.is_empty())
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// An id in the body, written as a number or as text.
    pub(crate) fn id(&self, name: &str) -> Option<u64> {
        let id = self.0.json.get(name)?;
        id.as_u64().or_else(|| id.as_str()?.parse().ok())
    }

    /// The body.
    pub(crate) fn body(&self) -> &serde_json::Map<String, Value> {
        &self.0.json
    }

    /// Nothing but these keys is in the body, and the first are whole numbers.
    pub(crate) fn only(&self, numbers: &[&str], others: &[&str]) -> Result<(), String> {
        let known = [numbers, others].concat();
        if let Some(key) = self.0.json.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("unknown key {key:?}; known are {}", known.join(", ")));
        }
        match numbers.iter().find(|key| self.0.json.contains_key(**key) && self.id(key).is_none()) {
            Some(key) => Err(format!("{key:?} is a whole number of at least 0")),
            None => Ok(()),
        }
    }

    /// Takes a value out of the body.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.json.remove(name)
    }

    /// The asked part of a log: behind `since`, at most `limit` entries, those that `wanted` picks.
    pub(crate) fn page<'a, E: Serialize + 'a>(
        &self,
        log: impl Iterator<Item = &'a E>,
        seq: impl Fn(&E) -> u64,
        wanted: impl Fn(&E) -> bool,
    ) -> Vec<Value> {
        let since = self.number("since").unwrap_or(0);
        let limit = self.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LOG_MAX);
        log.filter(|entry| seq(entry) > since && wanted(entry)).take(limit).map(value).collect()
    }
}

pub(crate) fn value<T: Serialize>(from: &T) -> Value {
    serde_json::to_value(from).unwrap_or_default()
}

/// A status and a JSON body.
pub(crate) type Told = (u16, String);

fn plain(status: u16, value: &Value) -> Told {
    (status, value.to_string())
}

fn wrong(status: u16, text: &str) -> Told {
    plain(status, &json!({"error": text}))
}

pub(crate) async fn answer<M: Controlled>(shared: &Shared<M>, what: &str, mut request: Request<Incoming>) -> Told {
    let served = format!("served here: GET stats, log, messages, sizes; POST script, latency, reset; {}", M::MORE);
    let post = match *request.method() {
        Method::GET => false,
        Method::POST => true,
        _ => return wrong(405, &served),
    };
    // `curl -d` names another type.
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let asked = match fields(request, BODY_MAX).await {
        Ok(fields) if fields.list.is_none() => Asked(fields),
        _ => return wrong(400, "the body is a JSON object of at most 1 MiB"),
    };
    match (post, what) {
        (false, "stats") => stats(shared, &asked),
        (false, "log") => {
            let calls = shared.model().log_values(&asked);
            let (scale, started) = (shared.scale, shared.started_unix_ms);
            plain(200, &json!({"scale": scale, "started_unix_ms": started, "calls": calls}))
        }
        (false, "messages") => match shared.model().messages_value(&asked) {
            Ok(messages) => plain(200, &messages),
            Err(text) => wrong(400, text),
        },
        (false, "sizes") => plain(200, &shared.model().sizes_value()),
        (true, "reset") => {
            shared.model().forget();
            shared.tidegate_headers.store(0, Ordering::Relaxed);
            shared.news.notify_waiters();
            plain(200, &json!({"ok": true}))
        }
        (true, "latency") => latency(shared, &asked),
        (true, "script") => match shared.model().force(&Value::Object(asked.0.json)) {
            Ok(true) => plain(200, &json!({"ok": true})),
            Ok(false) => wrong(429, "too many scripts wait already"),
            Err(text) => wrong(400, &text),
        },
        (true, _) => {
            let now = shared.now();
            let mut model = shared.model();
            model.tick(now);
            let told = model.more(what, asked);
            drop(model);
            shared.news.notify_waiters();
            match told {
                Some(Ok(value)) => plain(200, &value),
                Some(Err(text)) => wrong(400, &text),
                None => wrong(404, &served),
            }
        }
        (false, _) => {
            let now = shared.now();
            let mut model = shared.model();
            model.tick(now);
            model.read(what, &asked).map_or_else(|| wrong(404, &served), |told| plain(200, &told))
        }
    }
}

fn stats<M: Controlled>(shared: &Shared<M>, asked: &Asked) -> Told {
    let mut model = shared.model();
    model.tick(shared.now());
    let mut stats = model.stats_value(asked);
    drop(model);
    if let Some(object) = stats.as_object_mut() {
        object.insert("scale".into(), shared.scale.into());
        object.insert("started_unix_ms".into(), shared.started_unix_ms.into());
        object.insert("tidegate_headers".into(), shared.tidegate_headers.load(Ordering::Relaxed).into());
    }
    plain(200, &stats)
}

/// `{"latency_ms":20,"jitter_ms":5,"out_of_order":true}`, real time.
fn latency<M>(shared: &Shared<M>, asked: &Asked) -> Told {
    const KEYS: [&str; 3] = ["latency_ms", "jitter_ms", "out_of_order"];
    if asked.0.json.is_empty() || asked.0.json.keys().any(|key| !KEYS.contains(&key.as_str())) {
        return wrong(400, r#"expected {"latency_ms":N,"jitter_ms":N,"out_of_order":true}, each may be left out"#);
    }
    let out_of_order = asked.0.json.get("out_of_order").and_then(Value::as_bool);
    shared.set_latency(asked.id("latency_ms"), asked.id("jitter_ms"), out_of_order);
    plain(200, &json!({"ok": true}))
}
