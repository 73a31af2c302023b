//! `/__sandbox/gateway/…`: what tests read and force over HTTP.

use serde_json::{Value, json};

use super::dispatch::{Event, To};
use super::model::Model;
use crate::control::{Asked, value};

/// Dispatches that one request may ask for.
const COUNT_MAX: u64 = 100_000;

impl Model {
    /// `GET gateway/stats`, `gateway/log`, `gateway/sizes`.
    pub(crate) fn read(&self, what: &str, asked: &Asked) -> Option<Value> {
        match what {
            "stats" => Some(value(&self.stats())),
            "sizes" => Some(value(&self.sizes())),
            "log" => {
                let (bot, conn, kind) = (asked.number("bot"), asked.number("conn"), asked.get("what"));
                let entries = asked.page(
                    self.log(),
                    |entry| entry.seq,
                    |entry| {
                        bot.is_none_or(|bot| entry.bot == bot)
                            && conn.is_none_or(|conn| entry.conn == conn)
                            && kind.is_none_or(|kind| entry.what == kind)
                    },
                );
                Some(json!({"entries": entries}))
            }
            _ => None,
        }
    }

    /// `POST gateway/…`.
    pub(crate) fn act(&mut self, what: &str, mut asked: Asked) -> Option<Result<Value, String>> {
        match what {
            "dispatch" => Some(self.act_dispatch(&mut asked)),
            "bot" => Some(self.act_bot(&asked)),
            _ => None,
        }
    }

    /// `{"bot":ID,"shard":N,"t":NAME,"d":…,"count":N,"bytes":N}`, each may be left out.
    fn act_dispatch(&mut self, asked: &mut Asked) -> Result<Value, String> {
        asked.only(&["bot", "shard", "t", "d", "count", "bytes"])?;
        let name = match asked.remove("t") {
            None => "MESSAGE_CREATE".to_owned(),
            Some(Value::String(name)) => name,
            Some(_) => return Err("\"t\" is a string".into()),
        };
        let bytes = asked.id("bytes").unwrap_or(600).clamp(300, 2000);
        let event = Event {
            name: name.into(),
            d: asked.remove("d").map(|d| d.to_string()),
            bytes: usize::try_from(bytes).unwrap_or(600),
        };
        let to = asked.to()?;
        let sessions = self.sessions_of(to);
        for _ in 0..asked.id("count").unwrap_or(1).min(COUNT_MAX) {
            for session in &sessions {
                self.give(*session, &event);
            }
        }
        Ok(json!({"ok": true, "sessions": sessions.len()}))
    }

    /// `{"bot":ID,"total":N,"remaining":N,"reset_after_ms":N,"max_concurrency":N,"shards":N,"denied_intents":BITS,
    /// "least_shards":N}`: what is left out stays.
    fn act_bot(&mut self, asked: &Asked) -> Result<Value, String> {
        asked.only(&[
            "bot",
            "total",
            "remaining",
            "reset_after_ms",
            "max_concurrency",
            "shards",
            "denied_intents",
            "least_shards",
        ])?;
        let id = asked.id("bot").ok_or("\"bot\" is missing: an id")?;
        let small = |name: &str| asked.id(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let now_us = self.now_us;
        let bot = self.bot(id);
        bot.total = small("total").unwrap_or(bot.total);
        if let Some(remaining) = small("remaining") {
            bot.used = bot.total.saturating_sub(remaining);
        }
        if let Some(reset_after_ms) = asked.id("reset_after_ms") {
            bot.reset_at_us = now_us.saturating_add(reset_after_ms.saturating_mul(1000));
        }
        bot.max_concurrency = small("max_concurrency").unwrap_or(bot.max_concurrency).clamp(1, 1000);
        bot.shards = small("shards").unwrap_or(bot.shards);
        bot.denied_intents = asked.id("denied_intents").unwrap_or(bot.denied_intents);
        bot.least_shards = small("least_shards").unwrap_or(bot.least_shards);
        Ok(json!({"ok": true, "gateway_bot": self.gateway_bot(id)}))
    }
}

impl Asked {
    /// The sessions that are meant: `bot` and `shard`.
    fn to(&self) -> Result<To, String> {
        let shard = match self.id("shard") {
            None => None,
            Some(shard) => Some(u32::try_from(shard).map_err(|_| "\"shard\" is a number")?),
        };
        Ok(To { bot: self.id("bot"), shard })
    }
}
