//! `/__sandbox/gateway/…`: what tests read and force over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

use super::dispatch::{Event, To};
use super::load::Load;
use super::model::Model;
use super::random::Random;
use super::weather::{Act, Weather};
use crate::control::{Asked, value};

/// Dispatches that one request may ask for, and their bytes over all sessions.
const COUNT_MAX: u64 = 10_000;
const BYTES_MAX: u64 = 256 << 20;

impl Model {
    /// `GET gateway/stats`, `gateway/log`, `gateway/sizes`.
    pub(crate) fn read(&self, what: &str, asked: &Asked) -> Option<Value> {
        match what {
            "stats" => Some(value(&self.stats())),
            "connections" => {
                let (bot, open) = (asked.number("bot"), asked.get("open").is_some());
                let all = self.connections().into_iter();
                let wanted = all.filter(|it| bot.is_none_or(|bot| it.bot == bot) && !(open && it.ended));
                Some(json!({"connections": wanted.map(|it| value(&it)).collect::<Vec<_>>()}))
            }
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
            "weather" => Some(self.act_weather(&asked)),
            "random" => Some(self.act_random(&asked)),
            "now" => Some(self.act_now(&mut asked)),
            "load" => Some(self.act_load(&asked)),
            "settings" => Some(self.act_settings(&asked)),
            _ => None,
        }
    }

    /// `{"bot":ID,"shard":N,"t":NAME,"d":…,"count":N,"bytes":N}`, each may be left out.
    fn act_dispatch(&mut self, asked: &mut Asked) -> Result<Value, String> {
        asked.only(&["bot", "shard", "count", "bytes"], &["t", "d"])?;
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
        let count = asked.id("count").unwrap_or(1).min(COUNT_MAX);
        let size = event.d.as_ref().map_or(event.bytes, String::len) as u64;
        if count.saturating_mul(size).saturating_mul(sessions.len() as u64) > BYTES_MAX {
            return Err("too much at once: the bytes over all sessions are over 256 MiB".into());
        }
        for _ in 0..count {
            for session in &sessions {
                self.give(*session, &event);
            }
        }
        Ok(json!({"ok": true, "sessions": sessions.len()}))
    }

    /// A rule, or `{"weather":[…]}` with several.
    fn act_weather(&mut self, asked: &Asked) -> Result<Value, String> {
        let rules = match asked.body().get("weather") {
            Some(Value::Array(rules)) => rules.clone(),
            _ => vec![Value::Object(asked.body().clone())],
        };
        for rule in rules.iter().map(Weather::from_json).collect::<Result<Vec<_>, _>>()? {
            if !self.scripts.push(rule) {
                return Err("too many rules wait already".into());
            }
        }
        Ok(json!({"ok": true}))
    }

    fn act_random(&mut self, asked: &Asked) -> Result<Value, String> {
        asked.only(&["seed", "live_mean_ms", "connect_permille", "answer_permille"], &["live", "connect", "answer"])?;
        let random = Random::from_json(asked.body())?;
        self.random(random);
        Ok(json!({"ok": true}))
    }

    /// `{"bot":ID,"shard":N,"do":…}`.
    fn act_now(&mut self, asked: &mut Asked) -> Result<Value, String> {
        asked.only(&["bot", "shard"], &["do"])?;
        let act = Act::from_json(&asked.remove("do").unwrap_or_default())?;
        if matches!(act, Act::Refuse { .. } | Act::Delay(_) | Act::DeadResumeUrl) {
            return Err("that cannot happen to a live connection".into());
        }
        let to = asked.to()?;
        Ok(json!({"ok": true, "connections": self.strike_now(to, &act)}))
    }

    /// `{"bot":ID,"shard":N,"per_second":N,"bytes_min":N,"bytes_max":N,"for_ms":N}`.
    fn act_load(&mut self, asked: &Asked) -> Result<Value, String> {
        asked.only(&["bot", "shard", "per_second", "bytes_min", "bytes_max", "for_ms"], &[])?;
        let bytes = |name: &str, usual: u64| usize::try_from(asked.id(name).unwrap_or(usual)).unwrap_or(0);
        let load = Load {
            to: asked.to()?,
            per_second: asked.id("per_second").ok_or("\"per_second\" is missing: a number")?,
            bytes: (bytes("bytes_min", 300), bytes("bytes_max", 2000)),
            lasts: Duration::from_millis(asked.id("for_ms").ok_or("\"for_ms\" is missing: how long, in ms")?),
        };
        if self.begin(load) { Ok(json!({"ok": true})) } else { Err("too many streams run already".into()) }
    }

    /// Numbers of the judge: what is left out stays.
    fn act_settings(&mut self, asked: &Asked) -> Result<Value, String> {
        const KEYS: [&str; 7] = [
            "heartbeat_interval_ms",
            "heartbeat_close",
            "session_keep_ms",
            "identify_spacing_ms",
            "frames",
            "guilds",
            "members",
        ];
        asked.only(&KEYS, &[])?;
        let small = |name: &str| asked.id(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let ms = |name: &str| asked.id(name).map(Duration::from_millis);
        let (settings, none) = (&mut self.settings, Duration::from_millis(1));
        let limits = &mut settings.limits;
        limits.heartbeat_interval = ms("heartbeat_interval_ms").unwrap_or(limits.heartbeat_interval).max(none);
        limits.session_keep = ms("session_keep_ms").unwrap_or(limits.session_keep);
        limits.identify_spacing = ms("identify_spacing_ms").unwrap_or(limits.identify_spacing);
        limits.frames.count = small("frames").unwrap_or(limits.frames.count);
        if let Some(code) = asked.id("heartbeat_close") {
            let code = u16::try_from(code).ok().filter(|code| (4000..=4014).contains(code));
            limits.heartbeat_close = code.ok_or("\"heartbeat_close\" is 4000 to 4014")?;
        }
        settings.guilds = small("guilds").unwrap_or(settings.guilds);
        settings.members = small("members").unwrap_or(settings.members);
        Ok(json!({"ok": true}))
    }

    /// `{"bot":ID,"total":N,"remaining":N,"reset_after_ms":N,"max_concurrency":N,"shards":N,"denied_intents":BITS,
    /// "least_shards":N}`: what is left out stays.
    fn act_bot(&mut self, asked: &Asked) -> Result<Value, String> {
        const KEYS: [&str; 8] = [
            "bot",
            "total",
            "remaining",
            "reset_after_ms",
            "max_concurrency",
            "shards",
            "denied_intents",
            "least_shards",
        ];
        asked.only(&KEYS, &[])?;
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
