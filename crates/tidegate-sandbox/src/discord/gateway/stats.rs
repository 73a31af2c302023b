//! What tests read.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Value, json};

use super::figures::{Figures, GatewayEntry};
use super::model::Model;
use crate::time::micros;

/// A connection that is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConnStats {
    /// Its number.
    pub conn: u64,
    /// The bot's id, 0 until it is known.
    pub bot: u64,
    /// `[id, count]`.
    pub shard: Option<(u32, u32)>,
    /// How long it has been open.
    pub age_ms: u64,
    /// It carries a session.
    pub live: bool,
    /// The `s` of the last dispatch.
    pub seq: Option<u64>,
    /// Frames that came.
    pub frames: u64,
    /// Most frames in any minute.
    pub worst_minute: u32,
    /// The same without heartbeats, IDENTIFY and RESUME.
    pub worst_minute_queued: u32,
    /// The same of subscriptions alone.
    pub worst_minute_subscriptions: u32,
    /// The longest time between two heartbeats.
    pub worst_beat_gap_ms: u64,
}

/// A bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BotStats {
    /// Its id.
    pub bot: String,
    /// IDENTIFYs of a day.
    pub total: u32,
    /// Those left.
    pub remaining: u32,
    /// Until they are whole again.
    pub reset_after_ms: u64,
    /// IDENTIFYs of 5 s.
    pub max_concurrency: u32,
    /// Sessions, with and without a connection.
    pub sessions: usize,
    /// What it did.
    #[serde(flatten)]
    pub figures: Figures,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GatewayStats {
    /// Platform time since the start or the last reset, in ms.
    pub at_ms: u64,
    /// Over all.
    #[serde(flatten)]
    pub total: Figures,
    /// Each bot, by its id.
    pub bots: Vec<BotStats>,
    /// The connections that are open; at most 1,000 are listed.
    pub open: Vec<ConnStats>,
}

/// How much is remembered at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GatewaySizes {
    /// Connections.
    pub connections: usize,
    /// Sessions.
    pub sessions: usize,
    /// Bots.
    pub bots: usize,
    /// Bytes kept for RESUME.
    pub ring_bytes: usize,
    /// Outputs that wait.
    pub outputs: usize,
    /// Timers.
    pub timers: usize,
    /// Lines of the log.
    pub log: usize,
}

const OPEN_MAX: usize = 1000;

impl Model {
    /// All figures as of the last input.
    pub fn stats(&self) -> GatewayStats {
        let mut bots: Vec<BotStats> = self.bots.iter().map(|(id, _)| self.bot_stats(*id)).collect();
        bots.sort_by(|a, b| a.bot.cmp(&b.bot));
        let open = self.conns.iter().take(OPEN_MAX).map(|(number, it)| ConnStats {
            conn: *number,
            bot: it.bot,
            shard: it.shard,
            age_ms: (self.now_us - it.opened_us) / 1000,
            live: it.session().is_some(),
            seq: it.session().and_then(|session| Some(self.sessions.get(&session)?.seq)),
            frames: it.frames,
            worst_minute: it.minute.worst.all,
            worst_minute_queued: it.minute.worst.queued,
            worst_minute_subscriptions: it.minute.worst.subscriptions,
            worst_beat_gap_ms: it.worst_beat_gap_us / 1000,
        });
        let at_ms = self.now_us.saturating_sub(self.zero_us) / 1000;
        GatewayStats { at_ms, total: self.total.clone(), bots, open: open.collect() }
    }

    fn bot_stats(&self, id: u64) -> BotStats {
        let start = self.start_limit(id);
        let known = self.bots.peek(&id);
        BotStats {
            bot: id.to_string(),
            total: start.total,
            remaining: start.remaining,
            reset_after_ms: start.reset_after_ms,
            max_concurrency: start.max_concurrency,
            sessions: known.map_or(0, |bot| bot.sessions.len()),
            figures: known.map(|bot| bot.figures.clone()).unwrap_or_default(),
        }
    }

    /// What `GET /gateway/bot` tells of a bot.
    pub(crate) fn start_limit(&self, id: u64) -> crate::discord::Gateway {
        let start = &self.settings.start;
        let Some(bot) = self.bots.peek(&id) else { return start.clone() };
        let day_us = micros(self.settings.limits.day).max(1);
        let over = self.now_us >= bot.reset_at_us;
        let left_us =
            if over { day_us - (self.now_us - bot.reset_at_us) % day_us } else { bot.reset_at_us - self.now_us };
        crate::discord::Gateway {
            url: start.url.clone(),
            shards: bot.shards,
            total: bot.total,
            remaining: if over { bot.total } else { bot.remaining() },
            reset_after_ms: left_us.div_ceil(1000),
            max_concurrency: bot.max_concurrency,
        }
    }

    /// The body of `GET /gateway/bot`.
    pub(crate) fn gateway_bot(&self, id: u64) -> Value {
        let start = self.start_limit(id);
        json!({
            "url": start.url, "shards": start.shards,
            "session_start_limit": {
                "total": start.total, "remaining": start.remaining, "reset_after": start.reset_after_ms,
                "max_concurrency": start.max_concurrency,
            },
        })
    }

    /// The log, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &GatewayEntry> {
        self.log.iter()
    }

    /// How much is remembered.
    pub fn sizes(&self) -> GatewaySizes {
        GatewaySizes {
            connections: self.conns.len(),
            sessions: self.sessions.len(),
            bots: self.bots.len(),
            ring_bytes: self.ring_bytes,
            outputs: self.outputs.len(),
            timers: self.timers.len(),
            log: self.log.len(),
        }
    }

    /// Forgets figures, log, budgets and what became of tokens; connections and sessions stay, and the log's numbers go on.
    pub(crate) fn reset(&mut self, tokens: crate::tokens::Tokens) {
        self.settings.tokens = tokens;
        self.zero_us = self.now_us;
        self.total = Figures::default();
        self.log = VecDeque::new();
        let ids: Vec<u64> = self.bots.iter().map(|(id, _)| *id).collect();
        for id in ids {
            let (now_us, start, guilds) = (self.now_us, self.settings.start.clone(), self.settings.bounds.guilds);
            if let Some(bot) = self.bots.get_mut(&id) {
                let sessions = std::mem::take(&mut bot.sessions);
                *bot = super::bot::Bot::new(&start, now_us, guilds);
                bot.sessions = sessions;
            }
        }
    }
}
