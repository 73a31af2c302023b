//! What tests read.

use std::collections::VecDeque;

use serde::Serialize;
use serde_json::{Value, json};

use super::conn::{Conn, ConnId};
use super::figures::{Figures, GatewayEntry};
use super::model::Model;
use super::random::Random;
use crate::scripts::Scripts;
use crate::time::micros;

/// A connection, open or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConnStats {
    /// Its number.
    pub conn: u64,
    /// The bot's id, 0 until it is known.
    pub bot: u64,
    /// `[id, count]`.
    pub shard: Option<(u32, u32)>,
    /// When it opened.
    pub opened_ms: u64,
    /// How long it has been open, or was.
    pub age_ms: u64,
    /// It has ended.
    pub ended: bool,
    /// The code with which it ended, 1006 without a close frame; none if it was frozen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// It carries a session.
    pub live: bool,
    /// The `s` of the first and the last dispatch written.
    pub seqs: Option<(u64, u64)>,
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
    /// Rules of weather.
    pub scripts: usize,
    /// Streams of messages.
    pub loads: usize,
    /// Ended connections.
    pub ended: usize,
}

const OPEN_MAX: usize = 1000;
/// Ended connections that are remembered.
const ENDED_MAX: usize = 10_000;

impl Model {
    /// All figures as of the last input.
    pub fn stats(&self) -> GatewayStats {
        let mut bots: Vec<BotStats> = self.bots.iter().map(|(id, _)| self.bot_stats(*id)).collect();
        bots.sort_by(|a, b| a.bot.cmp(&b.bot));
        let open = self.conns.iter().take(OPEN_MAX).map(|(number, it)| self.conn_stats(ConnId(*number), it));
        let at_ms = self.now_us.saturating_sub(self.zero_us) / 1000;
        GatewayStats { at_ms, total: self.total.clone(), bots, open: open.collect() }
    }

    fn conn_stats(&self, conn: ConnId, it: &Conn) -> ConnStats {
        ConnStats {
            conn: conn.0,
            bot: it.bot,
            shard: it.shard,
            opened_ms: it.opened_us.saturating_sub(self.zero_us) / 1000,
            age_ms: (self.now_us - it.opened_us) / 1000,
            ended: false,
            code: None,
            live: it.session().is_some(),
            seqs: it.seqs,
            frames: it.frames,
            worst_minute: it.minute.worst.all,
            worst_minute_queued: it.minute.worst.queued,
            worst_minute_subscriptions: it.minute.worst.subscriptions,
            worst_beat_gap_ms: it.worst_beat_gap_us / 1000,
        }
    }

    /// Remembers a connection that has ended.
    pub(crate) fn gone(&mut self, conn: ConnId, it: &Conn, code: Option<u16>) {
        if self.ended.len() >= ENDED_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back(ConnStats { ended: true, code, ..self.conn_stats(conn, it) });
    }

    /// Connections by their number: the last 10,000 that have ended, and those that are open.
    pub fn connections(&self) -> Vec<ConnStats> {
        let open = self.conns.iter().map(|(number, it)| self.conn_stats(ConnId(*number), it));
        let mut all: Vec<ConnStats> = self.ended.iter().copied().chain(open).collect();
        all.sort_by_key(|it| it.conn);
        all
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
            scripts: self.scripts.len(),
            loads: self.loads.len(),
            ended: self.ended.len(),
        }
    }

    /// Forgets figures, log, budgets, weather, streams and what became of tokens; connections and sessions stay, and the
    /// log's numbers go on.
    pub(crate) fn reset(&mut self, tokens: crate::tokens::Tokens) {
        self.settings.tokens = tokens;
        self.zero_us = self.now_us;
        self.total = Figures::default();
        self.log = VecDeque::new();
        self.ended = VecDeque::new();
        self.loads.clear();
        self.scripts = Scripts::new(self.settings.bounds.scripts);
        self.random = Random::new(self.settings.seed);
        self.random_turn += 1;
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
