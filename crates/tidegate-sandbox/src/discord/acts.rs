//! What calls do, once the limits let them.

use serde_json::{Value, json};

use super::call::Answer;
use super::model::{Case, Channel, Model};
use super::objects::{self, Shown};
use super::route::{Kind, Major};
use super::snowflake;
use crate::store::{Change, Content, Edited};

fn unknown_message() -> Answer {
    Answer::error(404, 10008, "Unknown Message")
}

fn key(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

/// Who writes a message, and as which webhook.
pub(crate) struct Author {
    pub(crate) user: Value,
    pub(crate) webhook: Option<u64>,
}

impl Author {
    fn of(case: &Case<'_>) -> Self {
        Self { user: objects::user(case.entry.bot), webhook: None }
    }
}

impl Model {
    pub(crate) fn act(&mut self, case: &mut Case<'_>) -> Answer {
        let (bot, major) = (case.entry.bot, case.route.major.id().unwrap_or(0));
        match case.route.kind {
            Kind::Me => Answer::ok(&objects::user(bot)),
            Kind::Application => Answer::ok(&objects::application(bot)),
            Kind::Gateway => Answer::ok(&json!({"url": self.settings.gateway.url})),
            Kind::GatewayBot => Answer::ok(&self.gateway.gateway_bot(bot)),
            Kind::OpenDm => open_dm(case),
            Kind::ReadChannel => self.channel(major),
            Kind::PatchChannel => self.patch_channel(case, major),
            Kind::Send => {
                let author = Author::of(case);
                match objects::fault(&case.call.body, case.call) {
                    Some((code, text)) => Answer::error(400, code, text),
                    None => Answer::ok(&self.say(case, major, author, &case.call.body)),
                }
            }
            Kind::ListMessages => self.list(case, major),
            Kind::ReadMessage => match case.route.message {
                Some(id) => self.read(major, id, Author::of(case)),
                None => unknown_message(),
            },
            Kind::EditMessage => match case.route.message {
                Some(id) => self.edit(case, major, id, Author::of(case)),
                None => unknown_message(),
            },
            Kind::DeleteMessage => match case.route.message {
                Some(id) => {
                    let answer = self.delete(major, id);
                    if answer.status == 204 {
                        let gone = json!({"id": id.to_string(), "channel_id": major.to_string()});
                        self.gateway.message(bot, "MESSAGE_DELETE", &gone);
                    }
                    answer
                }
                None => unknown_message(),
            },
            Kind::BulkDelete => self.bulk_delete(case, major),
            Kind::React | Kind::Pin => match case.route.message {
                Some(id) if self.is_missing(major, id) => unknown_message(),
                _ => Answer::empty(),
            },
            Kind::Typing => Answer::empty(),
            Kind::Pins if case.route.name.contains("/messages/") => {
                Answer::ok(&json!({"items": [], "has_more": false}))
            }
            Kind::Pins => Answer::ok(&json!([])),
            Kind::Members => Answer::ok(&json!([objects::member(bot, self.settings.epoch_unix_ms)])),
            Kind::Member => self.member(case),
            Kind::CreateEmoji => {
                let name = case.call.text("name").unwrap_or("emoji");
                Answer::json_status(201, &objects::emoji(self.next_id(), name, bot))
            }
            Kind::CreateWebhook
            | Kind::ReadWebhook
            | Kind::DeleteWebhook
            | Kind::ExecuteWebhook
            | Kind::ReadHookMessage
            | Kind::EditHookMessage
            | Kind::DeleteHookMessage
            | Kind::Callback => self.act_hook(case),
            Kind::Invite | Kind::Other { .. } => Answer::ok(&self.settings.default_answer),
        }
    }

    /// A new id, of this moment.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.ids += 1;
        snowflake::at(self.unix_ms(self.now_us), self.ids)
    }

    /// Messages older than the run may be there; of its own the model knows which are.
    pub(crate) fn is_missing(&self, channel: u64, id: u64) -> bool {
        let ours = || snowflake::unix_ms(id) >= self.unix_ms(self.zero_us);
        self.store.is_deleted(&channel, key(id)).unwrap_or_else(ours)
    }

    /// Writes a message.
    pub(crate) fn say(&mut self, case: &mut Case<'_>, channel: u64, author: Author, body: &Value) -> Value {
        let id = self.next_id();
        let content = objects::content(body, case.call, &Content::default());
        let shown = Shown {
            id,
            channel,
            author: author.user,
            webhook: author.webhook,
            content: &content,
            edited_unix_ms: None,
        };
        let mut message = objects::message(&shown);
        for part in ["nonce", "message_reference", "poll"] {
            if let Some(value) = body.get(part) {
                message.insert(part.to_owned(), value.clone());
            }
        }
        self.store.insert(&channel, key(id), case.now_us, content);
        let flow = &mut self.channels.entry(&channel, Channel::default).flow;
        flow.units += 1;
        flow.gap.see(case.now_us);
        if let Some(number) = case.entry.marker {
            flow.order.see(number);
        }
        case.entry.message_id = Some(id);
        let message = message.into();
        self.gateway.message(case.entry.bot, "MESSAGE_CREATE", &message);
        message
    }

    pub(crate) fn edit(&mut self, case: &mut Case<'_>, channel: u64, id: u64, author: Author) -> Answer {
        if self.is_missing(channel, id) {
            return unknown_message();
        }
        let before = self.store.content(&channel, key(id)).cloned().unwrap_or_default();
        let content = objects::content(&case.call.body, case.call, &before);
        let change = Change {
            text: Some((content.text.clone(), content.style.clone())),
            media: Some(content.media.clone()),
            markup: content.markup.clone(),
        };
        let edited = self.store.edit(&channel, key(id), case.now_us, &change);
        let flow = &mut self.channels.entry(&channel, Channel::default).flow;
        flow.units += 1;
        flow.gap.see(case.now_us);
        flow.edit_inversions += u64::from(matches!(edited, Edited::Changed { backwards: true }));
        case.entry.message_id = Some(id);
        let edited_unix_ms = Some(self.unix_ms(case.now_us));
        let (author, webhook) = (author.user, author.webhook);
        let shown = Shown { id, channel, author, webhook, content: &content, edited_unix_ms };
        let message = objects::message(&shown).into();
        self.gateway.message(case.entry.bot, "MESSAGE_UPDATE", &message);
        Answer::ok(&message)
    }

    pub(crate) fn read(&self, channel: u64, id: u64, author: Author) -> Answer {
        if self.is_missing(channel, id) {
            return unknown_message();
        }
        let old = Content::default();
        let content = self.store.content(&channel, key(id)).unwrap_or(&old);
        let (author, webhook) = (author.user, author.webhook);
        let shown = Shown { id, channel, author, webhook, content, edited_unix_ms: None };
        Answer::ok(&objects::message(&shown).into())
    }

    pub(crate) fn delete(&mut self, channel: u64, id: u64) -> Answer {
        if self.is_missing(channel, id) {
            return unknown_message();
        }
        self.store.delete(&channel, key(id));
        Answer::empty()
    }

    /// The latest messages, newest first.
    fn list(&self, case: &Case<'_>, channel: u64) -> Answer {
        let asked = case.call.query.iter().find(|(name, _)| name == "limit").and_then(|(_, value)| value.parse().ok());
        let limit: usize = asked.unwrap_or(50).clamp(1, 100);
        let views = self.store.views(&channel);
        let there = views.iter().rev().filter(|view| !view.deleted).take(limit);
        let messages: Vec<Value> = there
            .filter_map(|view| {
                let id = u64::try_from(view.message_id).ok()?;
                let content = self.store.content(&channel, view.message_id)?;
                let Author { user: author, webhook } = Author::of(case);
                Some(objects::message(&Shown { id, channel, author, webhook, content, edited_unix_ms: None }).into())
            })
            .collect();
        Answer::ok(&messages.into())
    }

    fn bulk_delete(&mut self, case: &Case<'_>, channel: u64) -> Answer {
        let listed = case.call.body.get("messages").and_then(Value::as_array);
        let ids: Vec<u64> = listed.into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok()).collect();
        if !(2..=100).contains(&ids.len()) {
            let text = "Provided too few or too many messages to delete. Must provide at least 2 and at most 100";
            return Answer::error(400, 50016, text);
        }
        let oldest = self.unix_ms(case.now_us).saturating_sub(1_209_600_000);
        if ids.iter().any(|id| snowflake::unix_ms(*id) < oldest) {
            return Answer::error(400, 50034, "You can only bulk delete messages that are under 14 days old.");
        }
        for id in ids {
            self.store.delete(&channel, key(id));
        }
        Answer::empty()
    }

    fn channel(&self, id: u64) -> Answer {
        let known = self.channels.peek(&id);
        let name = known.and_then(|channel| channel.name.as_deref()).unwrap_or("sandbox");
        Answer::ok(&objects::channel(id, name, known.and_then(|channel| channel.topic.as_deref())))
    }

    fn patch_channel(&mut self, case: &Case<'_>, id: u64) -> Answer {
        let part = |name: &str, max: usize| case.call.text(name).map(|text| text.chars().take(max).collect());
        let channel = self.channels.entry(&id, Channel::default);
        channel.name = part("name", 100).or(channel.name.take());
        channel.topic = part("topic", 1024).or(channel.topic.take());
        self.channel(id)
    }

    fn member(&self, case: &Case<'_>) -> Answer {
        let last = case.call.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let id = last.parse().unwrap_or(case.entry.bot);
        Answer::ok(&objects::member(id, self.settings.epoch_unix_ms))
    }

    /// The webhook's channel, or the webhook itself where none is known.
    pub(crate) fn webhook_channel(&self, id: u64) -> u64 {
        self.webhooks.peek(&id).and_then(|webhook| webhook.channel).unwrap_or(id)
    }

    /// What the log and the figures call the channel of a webhook's messages; an interaction's is its id.
    pub(crate) fn hook_channel(&self, id: u64, token: u64) -> u64 {
        self.interactions.peek(&token).map_or_else(|| self.webhook_channel(id), |interaction| interaction.id)
    }
}

fn open_dm(case: &Case<'_>) -> Answer {
    let recipient = case.call.body.get("recipient_id");
    match recipient.and_then(|id| id.as_u64().or_else(|| id.as_str()?.parse().ok())) {
        // A channel of this one person: its id is theirs.
        Some(id) => Answer::ok(&objects::dm(id)),
        None => Answer::error(400, 50035, "Invalid Form Body"),
    }
}

pub(crate) fn hook_author(major: Major, name: Option<&str>) -> Author {
    let id = major.id().unwrap_or(0);
    let mut user = objects::user(id);
    if let (Some(name), Some(object)) = (name, user.as_object_mut()) {
        object.insert("username".into(), name.chars().take(80).collect::<String>().into());
    }
    Author { user, webhook: Some(id) }
}
