//! Arguments that Telegram refuses before any limit is asked.

use super::call::{Answer, Args};
use super::chat::{Peer, channel_id};
use super::methods::{Act, Method};

fn bad(text: &str) -> Answer {
    Answer::error(400, &format!("Bad Request: {text}"))
}

/// Who a call is about, and the channel's name if it was given by name.
pub(crate) fn peer(args: &Args) -> Result<Option<(Peer, Option<String>)>, Answer> {
    if let Some(id) = args.get("inline_message_id") {
        return Ok(Some((Peer::Inline(id.chars().take(128).collect()), None)));
    }
    let Some(chat) = args.get("chat_id").map(str::trim) else { return Ok(None) };
    if let Some(name) = chat.strip_prefix('@') {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            return Err(bad("chat not found"));
        }
        return Ok(Some((Peer::Chat(channel_id(name)), Some(name.to_owned()))));
    }
    match chat.parse::<i64>() {
        Ok(id) if id != 0 => Ok(Some((Peer::Chat(id), None))),
        _ => Err(bad("chat not found")),
    }
}

/// What a call counts as: the items of an album or of a list of ids, else 1.
pub(crate) fn units(act: Act, args: &Args) -> u32 {
    let items = match act {
        Act::Album => args.items("media"),
        Act::Many => args.items("message_ids"),
        _ => None,
    };
    items.and_then(|items| u32::try_from(items.len()).ok()).unwrap_or(1).max(1)
}

/// The first fault of a call.
pub(crate) fn fault(method: &Method, args: &Args, peer: Option<&Peer>) -> Option<Answer> {
    let inline = matches!(peer, Some(Peer::Inline(_)));
    let chatless = matches!(method.act, Act::Says(_)) || !method.reads_chat() || method.act == Act::WebhookInfo;
    if !chatless && peer.is_none() {
        return Some(bad("chat_id is empty"));
    }
    if inline && !chatless && method.act != Act::Edit {
        return Some(bad("chat_id is empty"));
    }
    match method.act {
        Act::Send => send_fault(method.name, args),
        Act::Album => match args.items("media").map_or(0, |items| items.len()) {
            0 => Some(bad("there are no messages to send")),
            1..=10 => None,
            _ => Some(bad("too many messages to send as an album")),
        },
        Act::Copy | Act::Delete => missing_id(args),
        Act::Many | Act::DeleteMany => match args.items("message_ids").map_or(0, |items| items.len()) {
            0 => Some(bad("message identifiers are not specified")),
            1..=100 => None,
            _ => Some(bad("too many message identifiers specified")),
        },
        Act::Edit if inline => edit_fault(method.name, args),
        Act::Edit => missing_id(args).or_else(|| edit_fault(method.name, args)),
        Act::Topic if args.get("name").is_none() => Some(bad("topic name is empty")),
        Act::Typing if args.get("action").is_none() => Some(bad("wrong parameter action in request")),
        Act::Draft if !matches!(peer, Some(Peer::Chat(id)) if *id > 0) => Some(bad("chat not found")),
        Act::Draft if args.number("draft_id").unwrap_or(0) == 0 => Some(bad("draft_id must be non-zero")),
        _ => None,
    }
}

fn missing_id(args: &Args) -> Option<Answer> {
    args.number("message_id").is_none().then(|| bad("message identifier is not specified"))
}

fn send_fault(name: &str, args: &Args) -> Option<Answer> {
    match name {
        "sendMessage" => text_fault(args),
        "forwardMessage" => missing_id(args),
        "sendRichMessage" => args.get("rich_message").is_none().then(|| bad("rich message must be non-empty")),
        "sendPhoto" | "sendAudio" | "sendDocument" | "sendVideo" | "sendAnimation" | "sendVoice" | "sendSticker" => {
            let field = name.trim_start_matches("send").to_ascii_lowercase();
            if args.get(&field).is_none() {
                return Some(bad(&format!("there is no {field} in the request")));
            }
            caption_fault(args)
        }
        _ => caption_fault(args),
    }
}

fn edit_fault(name: &str, args: &Args) -> Option<Answer> {
    match name {
        "editMessageText" if args.get("rich_message").is_none() => text_fault(args),
        "editMessageMedia" => args.get("media").is_none().then(|| bad("media is not specified")),
        _ => caption_fault(args),
    }
}

fn text_fault(args: &Args) -> Option<Answer> {
    match args.get("text").map_or(0, |text| text.trim().chars().count()) {
        0 => Some(bad("message text is empty")),
        1..=4096 => None,
        _ => Some(bad("message is too long")),
    }
}

fn caption_fault(args: &Args) -> Option<Answer> {
    let long = args.get("caption").is_some_and(|caption| caption.chars().count() > 1024);
    long.then(|| bad("message caption is too long"))
}
