//! What tests read and force over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::Model;
use super::script::Script;
use super::stats::canonical;
use crate::control::{Asked, Controlled, value};

impl Controlled for Model {
    const MORE: &'static str = "POST update";

    fn tick(&mut self, now: Duration) {
        self.tick(now);
    }

    fn stats_value(&self, asked: &Asked) -> Value {
        let mut stats = self.stats();
        if let Some(chat) = asked.get("chat") {
            let wanted = canonical(chat);
            stats.chats.retain(|it| it.chat == wanted);
        }
        if let Some(bot) = asked.number("bot") {
            stats.chats.retain(|it| it.bot == bot);
        }
        value(&stats)
    }

    fn log_values(&self, asked: &Asked) -> Vec<Value> {
        let chat = asked.get("chat").map(canonical);
        let bot = asked.number("bot");
        let method = asked.get("method");
        asked.page(
            self.log(),
            |entry| entry.seq,
            |entry| {
                (chat.is_none() || entry.chat == chat)
                    && bot.is_none_or(|bot| entry.bot == bot)
                    && method.is_none_or(|method| entry.method.eq_ignore_ascii_case(method))
            },
        )
    }

    fn messages_value(&self, asked: &Asked) -> Result<Value, &'static str> {
        let chat = asked.get("chat").ok_or("chat= is missing: a number, @name or inline:…")?;
        // Most tests have one bot: without bot= it is the one that was in that chat.
        let bots: Vec<u64> = match asked.number("bot") {
            Some(bot) => vec![bot],
            None => self.bots_of(chat),
        };
        let found: Vec<Value> = bots
            .iter()
            .flat_map(|bot| self.messages(*bot, chat).into_iter().map(move |view| (*bot, view)))
            .map(|(bot, view)| {
                let mut value = value(&view);
                if let Some(object) = value.as_object_mut() {
                    object.insert("bot".into(), bot.into());
                }
                value
            })
            .collect();
        Ok(json!({"chat": canonical(chat), "messages": found}))
    }

    fn sizes_value(&self) -> Value {
        value(&self.sizes())
    }

    fn forget(&mut self) {
        self.reset();
    }

    fn force(&mut self, script: &Value) -> Result<bool, String> {
        Script::from_json(script).map(|script| self.script(script))
    }

    /// `update`: `{"bot":7,"update":{"message":…}}`.
    fn more(&mut self, what: &str, mut asked: Asked) -> Option<Result<Value, String>> {
        if what != "update" {
            return None;
        }
        let (Some(bot), Some(update @ Value::Object(_))) = (asked.id("bot"), asked.remove("update")) else {
            return Some(Err(r#"expected {"bot":ID,"update":{…}}"#.into()));
        };
        let id = self.push_update(bot, update);
        Some(Ok(json!({"ok": true, "update_id": id})))
    }
}
