//! `Message` objects as client libraries expect them.

use serde_json::{Map, Value, json};

use super::call::Args;
use super::chat;

pub(crate) fn bot_user(id: u64) -> Value {
    json!({
        "id": id,
        "is_bot": true,
        "first_name": "Sandbox",
        "username": format!("sandbox_{id}_bot"),
    })
}

/// The text by which a call is known: its text, caption, rich message or question.
pub(crate) fn text_of(args: &Args) -> Option<String> {
    let direct = ["text", "caption", "rich_message", "question"].iter().find_map(|name| args.get(name));
    if let Some(text) = direct {
        return Some(text.trim().to_owned());
    }
    let captions = args.items("media")?;
    captions.iter().find_map(|item| item.get("caption")?.as_str()).map(|text| text.trim().to_owned())
}

/// What makes a text look different from the same letters sent plainly. A mark-up language shows only where the text
/// has a sign of one.
pub(crate) fn style_of(args: &Args, text: &str) -> String {
    let entities = args.get("entities").or_else(|| args.get("caption_entities")).unwrap_or_default();
    let marked = text.contains(['*', '_', '`', '[', '~', '|', '<', '>', '&', '\\']);
    let language = args.get("parse_mode").filter(|_| marked).unwrap_or_default();
    format!("{language}{entities}")
}

pub(crate) struct Head<'a> {
    pub(crate) bot: u64,
    pub(crate) chat: i64,
    pub(crate) username: Option<&'a str>,
    pub(crate) id: i64,
    pub(crate) date_s: u64,
}

/// The part every message has.
pub(crate) fn head(head: &Head<'_>, args: &Args) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("message_id".into(), head.id.into());
    let chat = chat::object(head.chat, head.username);
    if head.username.is_some() {
        // Posts of a channel have no author.
        message.insert("sender_chat".into(), chat.clone());
    } else {
        message.insert("from".into(), bot_user(head.bot));
    }
    message.insert("chat".into(), chat);
    message.insert("date".into(), head.date_s.into());
    if let Some(thread) = args.number("message_thread_id") {
        message.insert("message_thread_id".into(), thread.into());
    }
    if let Some(markup) = args.get("reply_markup").and_then(|text| serde_json::from_str::<Value>(text).ok())
        && markup.get("inline_keyboard").is_some()
    {
        message.insert("reply_markup".into(), markup);
    }
    message
}

/// Adds what a send method shows.
pub(crate) fn body(message: &mut Map<String, Value>, method: &str, args: &Args) {
    let id = message.get("message_id").and_then(Value::as_i64).unwrap_or(0);
    let kind = method.strip_prefix("send").unwrap_or(method);
    match kind {
        "Message" | "forwardMessage" => {
            let text = args.get("text").map_or("forwarded", str::trim);
            message.insert("text".into(), text.into());
        }
        "RichMessage" => {
            message.insert("rich_message".into(), embedded(args, "rich_message"));
        }
        _ => {
            if let Some((field, value)) = attachment(kind, id, args) {
                message.insert(field.into(), value);
            }
            if let Some(caption) = args.get("caption") {
                message.insert("caption".into(), caption.trim().into());
            }
        }
    }
    if method == "forwardMessage" {
        let date = message.get("date").cloned().unwrap_or_default();
        let origin = json!({"type": "hidden_user", "date": date, "sender_user_name": "Somebody"});
        message.insert("forward_origin".into(), origin);
    }
}

fn embedded(args: &Args, name: &str) -> Value {
    let text = args.get(name).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn file(kind: &str, id: i64) -> Map<String, Value> {
    let mut file = Map::new();
    file.insert("file_id".into(), format!("{kind}-{id}").into());
    file.insert("file_unique_id".into(), format!("u{kind}{id}").into());
    file.insert("file_size".into(), super::file::SIZE_DEFAULT.into());
    file
}

fn with(mut file: Map<String, Value>, more: Value) -> Value {
    if let Value::Object(more) = more {
        file.extend(more);
    }
    Value::Object(file)
}

fn attachment(kind: &str, id: i64, args: &Args) -> Option<(&'static str, Value)> {
    let frame = json!({"width": 320, "height": 240, "duration": 1});
    let number = |name: &str| args.get(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    let place = || json!({"latitude": number("latitude"), "longitude": number("longitude")});
    let text = |name: &str| args.get(name).unwrap_or_default().to_owned();
    Some(match kind {
        "Photo" | "LivePhoto" => ("photo", json!([with(file("photo", id), json!({"width": 320, "height": 240}))])),
        "Document" => ("document", with(file("document", id), json!({"file_name": "file.bin"}))),
        "Audio" => ("audio", with(file("audio", id), json!({"duration": 1}))),
        "Voice" => ("voice", with(file("voice", id), json!({"duration": 1}))),
        "Video" => ("video", with(file("video", id), frame)),
        "Animation" => ("animation", with(file("animation", id), frame)),
        "VideoNote" => ("video_note", with(file("note", id), json!({"length": 240, "duration": 1}))),
        "Sticker" => {
            let look = json!({"type": "regular", "width": 512, "height": 512, "is_animated": false, "is_video": false});
            ("sticker", with(file("sticker", id), look))
        }
        "Location" => ("location", place()),
        "Venue" => ("venue", json!({"location": place(), "title": text("title"), "address": text("address")})),
        "Contact" => ("contact", json!({"phone_number": text("phone_number"), "first_name": text("first_name")})),
        "Dice" => ("dice", json!({"emoji": args.get("emoji").unwrap_or("🎲"), "value": 1 + id.rem_euclid(6)})),
        "Poll" => ("poll", poll(id, args)),
        "Game" => ("game", json!({"title": text("game_short_name"), "description": "", "photo": []})),
        "Invoice" => {
            let sum = json!({"title": text("title"), "description": text("description"), "start_parameter": "",
                "currency": text("currency"), "total_amount": 0});
            ("invoice", sum)
        }
        _ => return None,
    })
}

fn poll(id: i64, args: &Args) -> Value {
    let options: Vec<Value> = args
        .items("options")
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(|(index, option)| {
            let text = option.as_str().or_else(|| option.get("text")?.as_str()).unwrap_or_default();
            json!({"persistent_id": index.to_string(), "text": text, "voter_count": 0})
        })
        .collect();
    json!({
        "id": id.to_string(), "question": args.get("question").unwrap_or_default(), "options": options,
        "total_voter_count": 0, "is_closed": false, "is_anonymous": true, "type": "regular",
        "allows_multiple_answers": false, "allows_revoting": false, "members_only": false,
    })
}
