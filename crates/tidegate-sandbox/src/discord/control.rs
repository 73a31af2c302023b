//! What tests read and force over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::Model;
use super::script::Script;
use crate::control::{Asked, Controlled, value};

impl Controlled for Model {
    const MORE: &'static str = "GET gateway/stats, gateway/log, gateway/connections, gateway/sizes; POST webhook, gateway/bot, gateway/dispatch, \
         gateway/load, gateway/now, gateway/random, gateway/settings, gateway/weather";

    fn tick(&mut self, now: Duration) {
        self.tick(now);
    }

    fn stats_value(&self, asked: &Asked) -> Value {
        let mut stats = self.stats();
        if let Some(channel) = asked.get("channel") {
            stats.channels.retain(|it| it.channel == channel);
        }
        value(&stats)
    }

    fn log_values(&self, asked: &Asked) -> Vec<Value> {
        let channel = asked.number("channel");
        let bot = asked.number("bot");
        let route = asked.get("route");
        asked.page(
            self.log(),
            |entry| entry.seq,
            |entry| {
                (channel.is_none() || entry.channel == channel)
                    && bot.is_none_or(|bot| entry.bot == bot)
                    && route.is_none_or(|route| entry.route.contains(route))
            },
        )
    }

    fn messages_value(&self, asked: &Asked) -> Result<Value, &'static str> {
        let channel = asked.number("channel").ok_or("channel= is missing: an id")?;
        let messages = self.messages(channel).into_iter().map(|view| {
            let mut value = value(&view);
            if let Some(object) = value.as_object_mut() {
                // As Discord writes them: no number of JavaScript holds one.
                object.insert("message_id".into(), view.message_id.to_string().into());
            }
            value
        });
        let messages: Vec<Value> = messages.collect();
        Ok(json!({"channel": channel.to_string(), "messages": messages}))
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

    fn read(&self, what: &str, asked: &Asked) -> Option<Value> {
        self.gateway.read(what.strip_prefix("gateway/")?, asked)
    }

    /// `webhook`: `{"webhook":"5","channel":"1"}` or `{"webhook":"5","dead":true}`.
    fn more(&mut self, what: &str, mut asked: Asked) -> Option<Result<Value, String>> {
        if let Some(what) = what.strip_prefix("gateway/") {
            return self.gateway.act(what, asked);
        }
        if what != "webhook" {
            return None;
        }
        let dead = asked.remove("dead") == Some(Value::Bool(true));
        match (asked.id("webhook"), asked.id("channel")) {
            (Some(id), channel) if dead || channel.is_some() => {
                if let Some(channel) = channel {
                    self.link_webhook(id, channel);
                }
                if dead {
                    self.kill_webhook(id);
                }
                Some(Ok(json!({"ok": true})))
            }
            _ => Some(Err(r#"expected {"webhook":ID,"channel":ID} or {"webhook":ID,"dead":true}"#.into())),
        }
    }
}
