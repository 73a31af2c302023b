//! The message object that stands for an edit which was not sent.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidegate_core::{Peer, PeerKind};

use super::call::Facts;
use crate::upstream::Payload;

/// The result of such an edit: the message as last delivered, else made from the request, else `true`.
pub(super) fn result(facts: &Facts, query: &str, payload: &Payload, kept: Option<&[u8]>) -> String {
    if let Some(kept) = kept.and_then(|kept| str::from_utf8(kept).ok()) {
        return kept.to_owned();
    }
    let Some(chat @ (Peer::Id(_) | Peer::Name(_))) = facts.args.peer() else { return "true".to_owned() };
    let body = if let Payload::Whole(bytes) = payload { bytes.as_ref() } else { &[] };
    let find = |wanted: &str| super::args::find(wanted, query, &facts.format, body);
    let id = find("message_id").and_then(|id| id.trim().parse::<i64>().ok());
    let Some(id) = id else { return "true".to_owned() };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut message = json!({"message_id": id, "date": now, "edit_date": now, "chat": chat_object(chat)});
    for name in ["text", "caption"] {
        if let Some(text) = find(name) {
            message[name] = Value::String(text);
        }
    }
    message.to_string()
}

fn chat_object(chat: &Peer) -> Value {
    match chat {
        Peer::Id(id) if chat.kind() == PeerKind::Private => json!({"id": id, "type": "private", "first_name": ""}),
        // Supergroups and channels have ids below −10¹².
        Peer::Id(id) if *id < -1_000_000_000_000 => json!({"id": id, "type": "supergroup", "title": ""}),
        Peer::Id(id) => json!({"id": id, "type": "group", "title": ""}),
        name => json!({"id": 0, "type": "channel", "title": "", "username": name.to_string().trim_start_matches('@')}),
    }
}
