//! What an admitted call does, and what it answers.

use serde_json::{Value, json};

use super::call::{Answer, Args, PollTicket, Verdict};
use super::chat::{self, Chat, ChatKey, Peer};
use super::file;
use super::message::{Head, body, bot_user, head, style_of, text_of};
use super::methods::Act;
use super::model::{Case, Model};
use super::polls::Asked;
use crate::store::{Change, Content, Edited};

const EDIT_NOT_FOUND: &str = "Bad Request: message to edit not found";
const DELETE_NOT_FOUND: &str = "Bad Request: message to delete not found";

fn yes() -> Answer {
    Answer::ok(&Value::Bool(true))
}

impl Model {
    /// A message that an edit or a delete names and that was never there; no limit is asked for it.
    pub(crate) fn missing(&self, case: &Case<'_>) -> Option<Answer> {
        let key = case.key.as_ref().filter(|key| matches!(key.peer, Peer::Chat(_)))?;
        let id = case.call.args.number("message_id")?;
        let text = match case.method.act {
            Act::Edit => EDIT_NOT_FOUND,
            Act::Delete => DELETE_NOT_FOUND,
            _ => return None,
        };
        let last = self.chats.peek(key).map_or(0, |chat| chat.last_message);
        (id < 1 || id > last).then(|| Answer::error(400, text))
    }

    pub(crate) fn act(&mut self, case: &mut Case<'_>, units: u32) -> Verdict {
        let args = &case.call.args;
        match case.method.act {
            Act::Send => {
                self.send(case, text_of(args).unwrap_or_default()).map_or_else(yes, |it| Answer::ok(&it)).into()
            }
            Act::Album => self.album(case, units).into(),
            Act::Copy => match self.send(case, text_of(args).unwrap_or_default()) {
                Some(message) => Answer::ok(&json!({"message_id": message.get("message_id")})).into(),
                None => yes().into(),
            },
            Act::Many => {
                let sent: Vec<Value> = (0..units).filter_map(|_| self.send(case, String::new())).collect();
                let ids: Vec<Value> = sent.iter().map(|it| json!({"message_id": it.get("message_id")})).collect();
                Answer::ok(&json!(ids)).into()
            }
            Act::Topic => {
                let id = self.next_id(case).unwrap_or(1);
                let name = args.get("name").unwrap_or_default();
                Answer::ok(&json!({"message_thread_id": id, "name": name, "icon_color": 7322096})).into()
            }
            Act::Edit => self.edit(case).into(),
            Act::Delete => match case.key.as_ref().and_then(|key| self.store.delete(key, args.number("message_id")?)) {
                Some(false) => Answer::error(400, DELETE_NOT_FOUND).into(),
                _ => yes().into(),
            },
            Act::DeleteMany => {
                let ids = args.items("message_ids").unwrap_or_default();
                if let Some(key) = &case.key {
                    for id in ids.iter().filter_map(Value::as_i64) {
                        self.store.delete(key, id);
                    }
                }
                yes().into()
            }
            Act::Typing | Act::Draft => yes().into(),
            Act::Says(text) => Answer::ok(&serde_json::from_str(text).unwrap_or(Value::Null)).into(),
            _ => self.look(case),
        }
    }

    /// Methods that read, and those of a webhook.
    fn look(&mut self, case: &Case<'_>) -> Verdict {
        let args = &case.call.args;
        let now_us = case.now_us;
        let answer = match case.method.act {
            Act::GetMe => Answer::ok(&me(case.bot)),
            Act::GetFile => match file::object(args.get("file_id").unwrap_or_default()) {
                Ok(file) => Answer::ok(&file),
                Err(text) => Answer::error(400, text),
            },
            Act::GetChat => self.get_chat(case),
            Act::GetMember => {
                let user = args.number("user_id").unwrap_or(1);
                let user = json!({"id": user, "is_bot": false, "first_name": format!("User {user}")});
                Answer::ok(&json!({"user": user, "status": "member"}))
            }
            Act::SetWebhook | Act::DeleteWebhook => {
                let url = if case.method.act == Act::SetWebhook { args.get("url").unwrap_or_default() } else { "" };
                let polls = &mut self.bot(case.bot).polls;
                polls.set_webhook(now_us, url);
                if args.get("drop_pending_updates").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
                    polls.clear();
                }
                yes()
            }
            Act::WebhookInfo => {
                let polls = &self.bot(case.bot).polls;
                let url = polls.webhook.as_deref().unwrap_or_default();
                Answer::ok(
                    &json!({"url": url, "has_custom_certificate": false, "pending_update_count": polls.pending()}),
                )
            }
            Act::GetUpdates => match self.bot(case.bot).polls.ask(now_us, args) {
                Asked::Now(answer) => answer,
                Asked::Wait { generation, timeout } => {
                    let poll = Some(PollTicket { bot: case.bot, generation });
                    return Verdict { answer: Answer::ok(&json!([])), delay: timeout, cut: false, poll };
                }
            },
            _ => yes(),
        };
        answer.into()
    }

    fn get_chat(&self, case: &Case<'_>) -> Answer {
        let Some(ChatKey { peer: Peer::Chat(id), .. }) = case.key else { return yes() };
        let known = case.key.as_ref().and_then(|key| self.chats.peek(key));
        let mut object = chat::object(id, known.and_then(|chat| chat.username.as_deref()));
        if let Some(fields) = object.as_object_mut() {
            fields.insert("accent_color_id".into(), 0.into());
            fields.insert("max_reaction_count".into(), 11.into());
            let gifts = json!({"unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
                "premium_subscription": false, "gifts_from_channels": false});
            fields.insert("accepted_gift_types".into(), gifts);
        }
        Answer::ok(&object)
    }

    fn known(&mut self, case: &Case<'_>) -> Option<&mut Chat> {
        self.chats.get_mut(case.key.as_ref()?)
    }

    fn next_id(&mut self, case: &mut Case<'_>) -> Option<i64> {
        let chat = self.known(case)?;
        chat.last_message += 1;
        chat.flow.units += 1;
        chat.flow.gap.see(case.now_us);
        let id = chat.last_message;
        case.entry.message_id = Some(id);
        Some(id)
    }

    /// Puts one message into the chat and gives its object.
    fn send(&mut self, case: &mut Case<'_>, text: String) -> Option<Value> {
        let id = self.next_id(case)?;
        let key = case.key.clone()?;
        let Peer::Chat(chat_id) = key.peer else { return None };
        let number = crate::marks::marker(&text);
        let markup = case.call.args.get("reply_markup").unwrap_or_default().to_owned();
        let style = style_of(&case.call.args, &text);
        self.store.insert(&key, id, case.now_us, Content { text, style, markup, media: String::new() });
        let date_s = self.unix_s(case.now_us);
        let chat = self.known(case)?;
        if let Some(number) = number {
            chat.flow.order.see(number);
        }
        let of = Head { bot: case.bot, chat: chat_id, username: chat.username.as_deref(), id, date_s };
        let mut message = head(&of, &case.call.args);
        body(&mut message, case.method.name, &case.call.args);
        Some(Value::Object(message))
    }

    fn album(&mut self, case: &mut Case<'_>, units: u32) -> Answer {
        let items = case.call.args.items("media").unwrap_or_default();
        let mut messages = Vec::new();
        let mut group = 0;
        for item in items.into_iter().take(units as usize) {
            let caption = item.get("caption").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
            let Some(mut message) = self.send(case, caption.clone()) else { continue };
            if let Some(fields) = message.as_object_mut() {
                if group == 0 {
                    group = fields.get("message_id").and_then(Value::as_i64).unwrap_or(0);
                }
                let kind = match item.get("type").and_then(Value::as_str) {
                    Some("video") => "sendVideo",
                    Some("audio") => "sendAudio",
                    Some("document") => "sendDocument",
                    _ => "sendPhoto",
                };
                body(fields, kind, &Args::default());
                fields.insert("media_group_id".into(), group.to_string().into());
                if !caption.is_empty() {
                    fields.insert("caption".into(), caption.into());
                }
            }
            messages.push(message);
        }
        Answer::ok(&Value::Array(messages))
    }

    fn edit(&mut self, case: &mut Case<'_>) -> Answer {
        let args = &case.call.args;
        let Some(key) = case.key.clone() else { return yes() };
        let change = change(case);
        let Peer::Chat(chat_id) = key.peer else { return self.edit_inline(case, &key, &change) };
        let id = args.number("message_id").unwrap_or(0);
        let edited = self.store.edit(&key, id, case.now_us, &change);
        match edited {
            Edited::Same => return Answer::not_modified(),
            Edited::Deleted => return Answer::error(400, EDIT_NOT_FOUND),
            Edited::Changed { .. } | Edited::Unknown => {}
        }
        let text = self.store.text(&key, id).map(str::to_owned);
        let date_s = self.unix_s(case.now_us);
        let Some(chat) = self.edited(&key, case.now_us, &edited) else { return yes() };
        let of = Head { bot: case.bot, chat: chat_id, username: chat.username.as_deref(), id, date_s };
        let mut message = head(&of, args);
        message.insert("edit_date".into(), date_s.into());
        if args.get("rich_message").is_some() {
            body(&mut message, "sendRichMessage", args);
        } else {
            let field = if case.method.name == "editMessageCaption" { "caption" } else { "text" };
            message.insert(field.into(), text.or_else(|| text_of(args)).unwrap_or_default().into());
        }
        Answer::ok(&Value::Object(message))
    }

    /// An inline message is made by the user who sent it: the first edit is the first that is seen of it.
    fn edit_inline(&mut self, case: &Case<'_>, key: &ChatKey, change: &Change) -> Answer {
        let edited = self.store.edit(key, 1, case.now_us, change);
        match edited {
            Edited::Same => return Answer::not_modified(),
            Edited::Unknown => self.store.insert(key, 1, case.now_us, change.apply(&Content::default())),
            Edited::Changed { .. } | Edited::Deleted => {}
        }
        self.edited(key, case.now_us, &edited);
        yes()
    }

    /// Counts an edit that changed something.
    fn edited(&mut self, key: &ChatKey, now_us: u64, edited: &Edited) -> Option<&mut Chat> {
        let chat = self.chats.get_mut(key)?;
        chat.flow.units += 1;
        chat.flow.gap.see(now_us);
        chat.flow.edit_inversions += u64::from(matches!(edited, Edited::Changed { backwards: true }));
        Some(chat)
    }

    fn unix_s(&self, now_us: u64) -> u64 {
        self.settings.epoch_unix_s.saturating_add(now_us / 1_000_000)
    }
}

/// What an edit names; the rest of the message stays.
fn change(case: &Case<'_>) -> Change {
    let args = &case.call.args;
    let text = match case.method.name {
        // Without a caption this one removes it.
        "editMessageCaption" => Some(text_of(args).unwrap_or_default()),
        _ => text_of(args),
    };
    let media = args.get("media").map(str::to_owned).or_else(|| {
        let parts: Vec<&str> =
            ["latitude", "longitude", "checklist"].iter().filter_map(|name| args.get(name)).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    });
    Change {
        text: text.map(|text| {
            let style = style_of(args, &text);
            (text, style)
        }),
        media,
        markup: args.get("reply_markup").unwrap_or_default().to_owned(),
    }
}

fn me(bot: u64) -> Value {
    let mut user = bot_user(bot);
    if let Some(fields) = user.as_object_mut() {
        fields.insert("can_join_groups".into(), true.into());
        for flag in
            ["can_read_all_group_messages", "supports_inline_queries", "can_connect_to_business", "has_main_web_app"]
        {
            fields.insert(flag.into(), false.into());
        }
    }
    user
}
