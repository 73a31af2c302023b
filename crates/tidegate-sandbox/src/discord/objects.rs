//! Objects as client libraries expect them.

use serde_json::{Map, Value, json};

use super::call::Call;
use super::snowflake;
use crate::store::Content;

pub(crate) fn user(id: u64) -> Value {
    json!({
        "id": id.to_string(), "username": format!("sandbox-{id}"), "discriminator": "0000", "global_name": null,
        "avatar": null, "bot": true, "system": false, "mfa_enabled": false, "banner": null, "accent_color": null,
        "locale": "en-US", "verified": true, "email": null, "flags": 0, "premium_type": 0, "public_flags": 0,
    })
}

pub(crate) fn application(id: u64) -> Value {
    json!({
        "id": id.to_string(), "name": format!("sandbox-{id}"), "icon": null, "description": "", "summary": "",
        "bot_public": true, "bot_require_code_grant": false, "verify_key": "0".repeat(64), "flags": 0,
        "owner": user(id), "bot": user(id), "team": null, "redirect_uris": [], "rpc_origins": [],
    })
}

pub(crate) fn member(id: u64, joined_unix_ms: u64) -> Value {
    json!({
        "user": user(id), "nick": null, "avatar": null, "banner": null, "roles": [],
        "joined_at": snowflake::timestamp(joined_unix_ms), "premium_since": null, "deaf": false, "mute": false,
        "flags": 0, "pending": false, "communication_disabled_until": null,
    })
}

pub(crate) fn channel(id: u64, name: &str, topic: Option<&str>) -> Value {
    json!({
        "id": id.to_string(), "type": 0, "guild_id": "1", "name": name, "topic": topic, "position": 0,
        "permission_overwrites": [], "nsfw": false, "rate_limit_per_user": 0, "parent_id": null,
        "last_message_id": null, "flags": 0,
    })
}

pub(crate) fn dm(id: u64) -> Value {
    json!({"id": id.to_string(), "type": 1, "last_message_id": null, "flags": 0, "recipients": [user(id)]})
}

pub(crate) fn emoji(id: u64, name: &str, by: u64) -> Value {
    json!({
        "id": id.to_string(), "name": name, "roles": [], "user": user(by), "require_colons": true, "managed": false,
        "animated": false, "available": true,
    })
}

pub(crate) fn webhook(id: u64, channel: u64, token: &str, name: &str) -> Value {
    json!({
        "id": id.to_string(), "type": 1, "guild_id": "1", "channel_id": channel.to_string(), "name": name,
        "avatar": null, "application_id": null, "token": token,
    })
}

/// A message to be shown.
pub(crate) struct Shown<'a> {
    pub(crate) id: u64,
    pub(crate) channel: u64,
    pub(crate) author: Value,
    pub(crate) webhook: Option<u64>,
    pub(crate) content: &'a Content,
    pub(crate) edited_unix_ms: Option<u64>,
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!([]))
}

pub(crate) fn message(shown: &Shown<'_>) -> Map<String, Value> {
    let mut message = json!({
        "id": shown.id.to_string(), "channel_id": shown.channel.to_string(), "type": 0, "author": shown.author,
        "content": shown.content.text, "timestamp": snowflake::timestamp(snowflake::unix_ms(shown.id)),
        "edited_timestamp": shown.edited_unix_ms.map(snowflake::timestamp), "tts": false, "mention_everyone": false,
        "mentions": [], "mention_roles": [], "attachments": parsed(&shown.content.media),
        "embeds": parsed(&shown.content.style), "components": parsed(&shown.content.markup), "pinned": false,
        "flags": 0,
    });
    let mut message = message.as_object_mut().map(std::mem::take).unwrap_or_default();
    if let Some(webhook) = shown.webhook {
        message.insert("webhook_id".into(), webhook.to_string().into());
    }
    message
}

/// What a body makes a message show; what it does not name stays as in `before`.
pub(crate) fn content(body: &Value, call: &Call, before: &Content) -> Content {
    let list = |name: &str, before: &str| match body.get(name) {
        Some(Value::Array(list)) => Value::from(list.clone()).to_string(),
        Some(_) => "[]".to_owned(),
        None => before.to_owned(),
    };
    let text = match body.get("content") {
        Some(content) => content.as_str().unwrap_or_default().to_owned(),
        None => before.text.clone(),
    };
    let media = if call.files.is_empty() { before.media.clone() } else { attachments(&call.files) };
    Content { text, style: list("embeds", &before.style), markup: list("components", &before.markup), media }
}

fn attachments(files: &[(String, u64)]) -> String {
    // From 1: libraries that parse ids take 0 for none.
    let shown = (1_u64..).zip(files).map(|(id, (_, bytes))| {
        let url = format!("https://cdn.discordapp.com/attachments/1/{id}/file.bin");
        json!({"id": id.to_string(), "filename": "file.bin", "size": bytes, "url": url, "proxy_url": url})
    });
    Value::from(shown.collect::<Vec<_>>()).to_string()
}

/// Why a body is no message, as Discord words it.
pub(crate) fn fault(body: &Value, call: &Call) -> Option<(u64, &'static str)> {
    const PARTS: [&str; 7] =
        ["embeds", "components", "sticker_ids", "poll", "message_reference", "attachments", "shared_client_theme"];
    let content = body.get("content").and_then(Value::as_str).unwrap_or_default();
    if content.chars().count() > 2000 {
        return Some((50035, "Invalid Form Body"));
    }
    let filled = |part: &str| {
        let value = body.get(part);
        value.is_some_and(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()))
    };
    let empty = content.trim().is_empty() && call.files.is_empty() && !PARTS.into_iter().any(filled);
    empty.then_some((50006, "Cannot send an empty message"))
}
