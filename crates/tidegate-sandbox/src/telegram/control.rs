//! `/__sandbox/…`: what tests read and force over HTTP.

use std::sync::atomic::Ordering;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use serde::Serialize;
use serde_json::{Value, json};

use super::call::Answer;
use super::script::Script;
use super::server::Shared;
use crate::http::{Fields, fields};

const SERVED: &str = "served here: GET stats, log, messages, sizes; POST script, update, reset";
const BODY_MAX: u64 = 1 << 20;
/// Lines of the log in one answer unless `limit` says fewer.
const LOG_MAX: usize = 200_000;

fn plain<T: Serialize>(status: u16, value: &T) -> Answer {
    let body = serde_json::to_string(value).unwrap_or_else(|_| "null".into());
    Answer { status, retry_after_s: None, body }
}

fn wrong(status: u16, text: &str) -> Answer {
    plain(status, &json!({"error": text}))
}

pub(super) async fn answer(shared: &Shared, what: &str, mut request: Request<Incoming>) -> Answer {
    let post = match *request.method() {
        Method::GET => false,
        Method::POST => true,
        _ => return wrong(405, SERVED),
    };
    // `curl -d` names another type.
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Ok(fields) = fields(request, BODY_MAX).await else {
        return wrong(400, "the body is a JSON object of at most 1 MiB");
    };
    match (post, what) {
        (false, "stats") => stats(shared, &fields),
        (false, "log") => log(shared, &fields),
        (false, "messages") => messages(shared, &fields),
        (false, "sizes") => plain(200, &shared.model().sizes()),
        (true, "reset") => {
            shared.model().reset();
            shared.tidegate_headers.store(0, Ordering::Relaxed);
            shared.news.notify_waiters();
            plain(200, &json!({"ok": true}))
        }
        (true, "script") => script(shared, fields),
        (true, "update") => update(shared, fields),
        _ => wrong(404, SERVED),
    }
}

fn get<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).filter(|it| !it.is_empty())
}

fn number(fields: &Fields, name: &str) -> Option<u64> {
    get(fields, name)?.parse().ok()
}

fn stats(shared: &Shared, fields: &Fields) -> Answer {
    let mut model = shared.model();
    model.tick(shared.now());
    let mut stats = model.stats();
    drop(model);
    if let Some(chat) = get(fields, "chat") {
        let wanted = super::stats::canonical(chat);
        stats.chats.retain(|it| it.chat == wanted);
    }
    if let Some(bot) = number(fields, "bot") {
        stats.chats.retain(|it| it.bot == bot);
    }
    let mut value = serde_json::to_value(&stats).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.insert("scale".into(), shared.options.scale.into());
        object.insert("started_unix_ms".into(), shared.started_unix_ms.into());
        object.insert("tidegate_headers".into(), shared.tidegate_headers.load(Ordering::Relaxed).into());
    }
    plain(200, &value)
}

fn log(shared: &Shared, fields: &Fields) -> Answer {
    let since = number(fields, "since").unwrap_or(0);
    let limit = number(fields, "limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(LOG_MAX);
    let chat = get(fields, "chat").map(super::stats::canonical);
    let bot = number(fields, "bot");
    let method = get(fields, "method");
    let model = shared.model();
    let entries: Vec<_> = model
        .log()
        .filter(|entry| entry.seq > since)
        .filter(|entry| chat.is_none() || entry.chat == chat)
        .filter(|entry| bot.is_none_or(|bot| entry.bot == bot))
        .filter(|entry| method.is_none_or(|method| entry.method.eq_ignore_ascii_case(method)))
        .take(limit)
        .cloned()
        .collect();
    drop(model);
    plain(
        200,
        &json!({
            "scale": shared.options.scale,
            "started_unix_ms": shared.started_unix_ms,
            "calls": entries,
        }),
    )
}

fn messages(shared: &Shared, fields: &Fields) -> Answer {
    let Some(chat) = get(fields, "chat") else { return wrong(400, "chat= is missing: a number, @name or inline:…") };
    let model = shared.model();
    // Most tests have one bot: without bot= it is the one that was in that chat.
    let bots: Vec<u64> = match number(fields, "bot") {
        Some(bot) => vec![bot],
        None => model.bots_of(chat),
    };
    let found: Vec<Value> = bots
        .iter()
        .flat_map(|bot| model.messages(*bot, chat).into_iter().map(move |view| (*bot, view)))
        .map(|(bot, view)| {
            let mut value = serde_json::to_value(view).unwrap_or_default();
            if let Some(object) = value.as_object_mut() {
                object.insert("bot".into(), bot.into());
            }
            value
        })
        .collect();
    drop(model);
    plain(200, &json!({"chat": super::stats::canonical(chat), "messages": found}))
}

fn script(shared: &Shared, fields: Fields) -> Answer {
    let script = match Script::from_json(&Value::Object(fields.json)) {
        Ok(script) => script,
        Err(text) => return wrong(400, &text),
    };
    if shared.model().script(script) {
        plain(200, &json!({"ok": true}))
    } else {
        wrong(429, "too many scripts wait already")
    }
}

/// `{"bot":7,"update":{"message":…}}`.
fn update(shared: &Shared, mut fields: Fields) -> Answer {
    let bot = fields.json.get("bot").and_then(|bot| bot.as_u64().or_else(|| bot.as_str()?.parse().ok()));
    let (Some(bot), Some(update @ Value::Object(_))) = (bot, fields.json.remove("update")) else {
        return wrong(400, r#"expected {"bot":ID,"update":{…}}"#);
    };
    let id = shared.model().push_update(bot, update);
    shared.news.notify_waiters();
    plain(200, &json!({"ok": true, "update_id": id}))
}
