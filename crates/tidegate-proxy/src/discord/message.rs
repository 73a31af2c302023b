//! The message object that stands for an edit which was not sent and whose message is not remembered.

use serde_json::{Value, json};

use super::call::Facts;
use crate::pipeline::Governed;
use crate::upstream::Payload;

/// Made from the request, with all that libraries read of a message.
pub(super) fn made(call: &Governed<Facts>) -> String {
    let id = call.head.uri.path().rsplit('/').next().filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
    let channel = match call.facts.peer {
        Some(tidegate_core::Peer::Id(id)) => id.to_string(),
        _ => "0".to_owned(),
    };
    let author = call.bot().token.id();
    let author = if author.bytes().all(|byte| byte.is_ascii_digit()) { author } else { "0" };
    let mut message = json!({
        "id": id.unwrap_or("0"), "channel_id": channel, "type": 0, "flags": 0, "content": "",
        "author": {"id": author, "username": "", "discriminator": "0", "avatar": null, "global_name": null},
        "timestamp": "2015-01-01T00:00:00.000000+00:00", "edited_timestamp": null, "tts": false, "pinned": false,
        "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
        "components": [],
    });
    let asked = if let Payload::Whole(body) = &call.payload { serde_json::from_slice(body).ok() } else { None };
    if let Some(Value::Object(asked)) = asked {
        for name in ["content", "embeds", "components"] {
            if let Some(value) = asked.get(name).filter(|value| !value.is_null()) {
                message[name] = value.clone();
            }
        }
    }
    message.to_string()
}
