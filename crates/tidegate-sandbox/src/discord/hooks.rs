//! Webhooks and interactions: what carries its own token.

use serde_json::{Value, json};

use super::acts::hook_author;
use super::call::Answer;
use super::model::{Case, Model};
use super::objects;
use super::route::{Kind, Major, Route, hash};
use super::snowflake;

#[derive(Debug, Default)]
pub(crate) struct Webhook {
    pub(crate) dead: bool,
    pub(crate) channel: Option<u64>,
}

/// An interaction that was answered.
#[derive(Debug)]
pub(crate) struct Interaction {
    pub(crate) id: u64,
    /// The message that answered it.
    original: Option<u64>,
}

/// How long an interaction waits for its answer.
const ANSWER_MS: u64 = 3000;

impl Model {
    /// From now on the webhook is answered 404 with code 10015.
    pub fn kill_webhook(&mut self, id: u64) {
        self.webhooks.entry(&id, Webhook::default).dead = true;
    }

    /// Says which channel a webhook writes to: all of a channel's share a limit.
    pub fn link_webhook(&mut self, id: u64, channel: u64) {
        self.webhooks.entry(&id, Webhook::default).channel = Some(channel);
    }

    /// Whether a token is an interaction's: by its shape, or because it was answered here.
    pub(crate) fn is_followup(&self, route: &Route, token: u64) -> bool {
        route.followup || self.interactions.peek(&token).is_some()
    }

    pub(crate) fn act_hook(&mut self, case: &mut Case<'_>) -> Answer {
        let (id, token) = match case.route.major {
            Major::Token(id, token) | Major::Interaction(id, token) => (id, token),
            major => (major.id().unwrap_or(0), 0),
        };
        if case.route.kind == Kind::Callback {
            return self.callback(case, id, token);
        }
        if case.route.kind == Kind::CreateWebhook {
            return self.create_webhook(case, id);
        }
        if self.webhooks.peek(&id).is_some_and(|webhook| webhook.dead) {
            self.misuse.into_dead_webhook += 1;
            return Answer::error(404, 10015, "Unknown Webhook");
        }
        let channel = self.hook_channel(id, token);
        match case.route.kind {
            Kind::DeleteWebhook => {
                self.kill_webhook(id);
                Answer::empty()
            }
            Kind::ReadWebhook => {
                let secret = case.call.path.trim_matches('/').split('/').nth(2).unwrap_or_default();
                Answer::ok(&objects::webhook(id, channel, secret, "sandbox"))
            }
            Kind::ExecuteWebhook => self.execute(case, channel, token),
            _ => self.hook_message(case, channel, token),
        }
    }

    fn create_webhook(&mut self, case: &Case<'_>, channel: u64) -> Answer {
        let id = self.next_id();
        self.link_webhook(id, channel);
        let token = format!("sandbox{:016x}{:016x}", hash(&id.to_string()), hash(&format!("{id}{channel}")));
        Answer::ok(&objects::webhook(id, channel, &token, case.call.text("name").unwrap_or("sandbox")))
    }

    fn execute(&mut self, case: &mut Case<'_>, channel: u64, token: u64) -> Answer {
        if let Some((code, text)) = objects::fault(&case.call.body, case.call) {
            return Answer::error(400, code, text);
        }
        let author = hook_author(case.route.major, case.call.text("username"));
        let message = self.say(case, channel, author, &case.call.body);
        if case.call.asks("wait") || self.is_followup(&case.route, token) {
            Answer::ok(&message)
        } else {
            Answer::empty()
        }
    }

    fn hook_message(&mut self, case: &mut Case<'_>, channel: u64, token: u64) -> Answer {
        let author = hook_author(case.route.major, None);
        let original = self.interactions.peek(&token).and_then(|interaction| interaction.original);
        let message = if case.route.original { original } else { case.route.message };
        match (case.route.kind, message) {
            (Kind::EditHookMessage, Some(id)) => self.edit(case, channel, id, author),
            (Kind::EditHookMessage, None) if case.route.original => {
                // The answer had been deferred: this is it.
                let message = self.say(case, channel, author, &case.call.body);
                let original = case.entry.message_id;
                let interaction = self.interactions.entry(&token, || Interaction { id: channel, original });
                interaction.original = original;
                Answer::ok(&message)
            }
            (Kind::DeleteHookMessage, Some(id)) => self.delete(channel, id),
            (Kind::ReadHookMessage, Some(id)) => self.read(channel, id, author),
            _ => Answer::error(404, 10008, "Unknown Message"),
        }
    }

    /// The first answer to an interaction. One made in this run must be answered within 3 s; ids that tell an earlier
    /// moment are made up by a test and always known.
    fn callback(&mut self, case: &mut Case<'_>, id: u64, token: u64) -> Answer {
        let made_ms = snowflake::unix_ms(id);
        let ours = made_ms >= self.unix_ms(self.zero_us);
        if ours && self.unix_ms(case.now_us).saturating_sub(made_ms) > ANSWER_MS {
            return Answer::error(404, 10062, "Unknown interaction");
        }
        if self.interactions.peek(&token).is_some() {
            return Answer::error(400, 40060, "Interaction has already been acknowledged.");
        }
        let kind = case.call.body.get("type").and_then(Value::as_u64).unwrap_or(0);
        let data = case.call.body.get("data").cloned().unwrap_or_default();
        self.interactions.entry(&token, || Interaction { id, original: None });
        let message = (kind == 4).then(|| {
            let author = hook_author(case.route.major, None);
            self.say(case, id, author, &data)
        });
        if let Some(interaction) = self.interactions.get_mut(&token) {
            interaction.original = message.is_some().then_some(case.entry.message_id).flatten();
        }
        if !case.call.asks("with_response") {
            return Answer::empty();
        }
        let mut resource = json!({"type": kind});
        if let (Some(message), Some(object)) = (message, resource.as_object_mut()) {
            object.insert("message".into(), message);
        }
        let original = case.entry.message_id.map(|id| id.to_string());
        Answer::ok(&json!({
            "interaction": {
                "id": id.to_string(), "type": 2, "response_message_id": original,
                "response_message_loading": kind == 5, "response_message_ephemeral": false,
            },
            "resource": resource,
        }))
    }
}
