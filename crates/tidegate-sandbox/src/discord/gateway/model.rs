//! The Gateway in virtual time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

use super::bot::Bot;
use super::conn::{Compress, Conn, ConnId, Handshake, Todo};
use super::figures::{Figures, GatewayEntry};
use super::limits::Settings;
use super::load::Running;
use super::output::{Frame, Kind, Output};
use super::random::Random;
use super::session::Session;
use super::stats::ConnStats;
use super::timers::Due;
use super::weather::{Act, Moment, Weather};
use crate::lru::Lru;
use crate::scripts::Scripts;
use crate::time::micros;

/// A connection that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its number.
    pub conn: ConnId,
    /// How what is written to it is compressed.
    pub compress: Compress,
}

/// A handshake that was answered with a status of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// A Gateway that keeps its limits.
///
/// Times are platform time since the model's moment zero; a smaller one than the last is held to the last. Inputs:
///
/// - [`connect`](Self::connect): a WebSocket is asked for.
/// - [`receive`](Self::receive): a message came on it.
/// - [`closed`](Self::closed): the client closed it, or it broke.
/// - [`tick`](Self::tick): time passes; due whenever [`next_at`](Self::next_at) says.
///
/// After each of them [`poll`](Self::poll) tells what to do, until it tells `None`.
pub struct Model {
    pub(crate) settings: Settings,
    pub(crate) now_us: u64,
    /// Moment of the last reset: what the log counts from.
    pub(crate) zero_us: u64,
    pub(crate) conns: BTreeMap<u64, Conn>,
    pub(crate) sessions: BTreeMap<u64, Session>,
    pub(crate) bots: Lru<u64, Bot>,
    /// Connections and sessions so far.
    pub(crate) numbers: u64,
    pub(crate) ring_bytes: usize,
    pub(crate) timers: BinaryHeap<Reverse<(u64, Due)>>,
    pub(crate) outputs: VecDeque<Output>,
    output_bytes: usize,
    pub(crate) scripts: Scripts<Weather>,
    pub(crate) random: Random,
    /// How often random weather was set.
    pub(crate) random_turn: u64,
    pub(crate) loads: BTreeMap<u64, Running>,
    /// Connections that have ended, oldest first.
    pub(crate) ended: VecDeque<ConnStats>,
    pub(crate) total: Figures,
    pub(crate) log: VecDeque<GatewayEntry>,
    pub(crate) log_seq: u64,
}

impl Model {
    /// A Gateway to which nobody has come yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            now_us: 0,
            zero_us: 0,
            conns: BTreeMap::new(),
            sessions: BTreeMap::new(),
            bots: Lru::new(settings.bounds.bots),
            numbers: 0,
            ring_bytes: 0,
            timers: BinaryHeap::new(),
            outputs: VecDeque::new(),
            output_bytes: 0,
            scripts: Scripts::new(settings.bounds.scripts),
            random: Random::new(settings.seed),
            random_turn: 0,
            loads: BTreeMap::new(),
            ended: VecDeque::new(),
            total: Figures::default(),
            log: VecDeque::new(),
            log_seq: 0,
            settings,
        }
    }

    /// A WebSocket is asked for; whoever is let in has HELLO among the outputs.
    pub fn connect(&mut self, now: Duration, handshake: &Handshake) -> Result<Accepted, Refused> {
        self.tick(now);
        if self.conns.len() >= self.settings.bounds.connections.max(1) {
            return Err(self.refuse(503, "too many connections"));
        }
        if handshake.path.starts_with(DEAD_PATH) {
            return Err(self.refuse(503, "no healthy upstream"));
        }
        self.numbers += 1;
        let conn = ConnId(self.numbers);
        let by_resume_url = handshake.path.starts_with(RESUME_PATH);
        self.conns.insert(conn.0, Conn::new(handshake, by_resume_url, self.now_us));
        let weather = self.weather_at(Moment::Connect, conn, &handshake.path);
        if let Some(Act::Refuse { status, body }) = weather {
            self.conns.remove(&conn.0);
            self.total.forced += 1;
            return Err(self.refuse(status, &body));
        }
        self.total.connections += 1;
        self.note(GatewayEntry { conn: conn.0, what: "open", ..GatewayEntry::default() });
        if !(6..=10).contains(&handshake.version()) {
            self.close(conn, 4012, "Invalid API version.");
        } else if handshake.get("encoding").is_some_and(|encoding| encoding != "json") {
            self.close(conn, 4012, "JSON alone is served here.");
        } else if let Some(Todo::Hello) = self.or_later(conn, weather, Todo::Hello) {
            self.hello(conn);
        }
        Ok(Accepted { conn, compress: handshake.compress() })
    }

    fn refuse(&mut self, status: u16, body: &str) -> Refused {
        self.total.refused += 1;
        self.note(GatewayEntry { what: "refused", code: Some(status), ..GatewayEntry::default() });
        Refused { status, body: body.to_owned() }
    }

    pub(crate) fn hello(&mut self, conn: ConnId) {
        let limits = &self.settings.limits;
        let patience = limits.heartbeat_interval.as_secs_f64() * limits.heartbeat_patience.clamp(1.0, 1000.0);
        let told = limits.heartbeat_interval.as_secs_f64() * 1000.0 * self.settings.told_scale;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float's cast saturates")]
        let interval_ms = told.round().max(1.0) as u64;
        let patience_us = micros(Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX));
        let beat_by_us = self.now_us.saturating_add(patience_us);
        if let Some(it) = self.conns.get_mut(&conn.0) {
            it.beat_by_us = if it.silent { u64::MAX } else { beat_by_us };
            it.last_beat_us = self.now_us;
        }
        self.write(conn, Frame::plain(Kind::Hello { interval_ms }));
        self.arm(conn);
    }

    /// The client closed the connection with this code, or it ended without one.
    pub fn closed(&mut self, now: Duration, conn: ConnId, code: Option<u16>) {
        self.tick(now);
        let Some(it) = self.conns.remove(&conn.0) else { return };
        let told = code.unwrap_or(1006);
        self.count(it.bot, |figures| *figures.client_closes.entry(told).or_default() += 1);
        self.note(GatewayEntry { what: "closed", code: Some(told), ..GatewayEntry::of(conn, &it) });
        self.gone(conn, &it, Some(told));
        self.left(&it, !matches!(code, Some(1000 | 1001)));
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        let output = self.outputs.pop_front()?;
        if let Output::Write { frame, .. } = &output {
            self.output_bytes -= frame.text.len();
        }
        Some(output)
    }

    pub(crate) fn write(&mut self, conn: ConnId, frame: Frame) {
        let bounds = &self.settings.bounds;
        if self.outputs.len() >= bounds.outputs.max(1) || self.output_bytes >= bounds.output_bytes.max(1) {
            return self.cut(conn, "reads too slowly");
        }
        let Some(it) = self.conns.get_mut(&conn.0).filter(|it| !it.silent) else { return };
        if let Kind::Dispatch { seq, .. } = frame.kind {
            it.seqs = Some((it.seqs.map_or(seq, |(first, _)| first), seq));
        }
        let bot = it.bot;
        if matches!(frame.kind, Kind::Dispatch { .. }) {
            self.count(bot, |figures| figures.dispatches += 1);
        }
        self.output_bytes += frame.text.len();
        self.outputs.push_back(Output::Write { conn, frame });
    }

    /// Closes a connection; what becomes of its session is by the code.
    pub(crate) fn close(&mut self, conn: ConnId, code: u16, reason: &'static str) {
        self.close_by(conn, code, reason, false);
    }

    pub(crate) fn close_by(&mut self, conn: ConnId, code: u16, reason: &'static str, twice: bool) {
        let Some(it) = self.conns.remove(&conn.0) else { return };
        self.ended(conn, &it, code, reason);
        self.outputs.push_back(Output::Close { conn, code, reason, twice });
        self.left(&it, !matches!(code, 4003..=4007 | 4009..=4014));
    }

    pub(crate) fn cut(&mut self, conn: ConnId, note: &'static str) {
        let Some(it) = self.conns.remove(&conn.0) else { return };
        self.ended(conn, &it, 1006, note);
        self.outputs.push_back(Output::Cut { conn });
        self.left(&it, true);
    }

    fn ended(&mut self, conn: ConnId, it: &Conn, code: u16, note: &'static str) {
        self.count(it.bot, |figures| *figures.closes.entry(code).or_default() += 1);
        self.note(GatewayEntry { what: "close", code: Some(code), note, ..GatewayEntry::of(conn, it) });
        self.gone(conn, it, Some(code));
    }

    /// A connection is gone; its session goes too, or waits to be resumed.
    pub(crate) fn left(&mut self, it: &Conn, keep: bool) {
        let Some(number) = it.session() else { return };
        if keep { self.detach(number) } else { self.forget_session(number) }
    }

    /// A session waits to be resumed.
    pub(crate) fn detach(&mut self, number: u64) {
        let until_us = self.now_us.saturating_add(micros(self.settings.limits.session_keep));
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.conn = None;
        session.until_us = until_us;
        self.set_timer(until_us, Due::Session(number));
    }

    pub(crate) fn forget_session(&mut self, number: u64) {
        let Some(session) = self.sessions.remove(&number) else { return };
        self.ring_bytes -= session.ring_bytes;
        if let Some(bot) = self.bots.get_mut(&session.bot) {
            bot.sessions.remove(&number);
        }
    }

    /// The bot's state, made if it is not there.
    pub(crate) fn bot(&mut self, bot: u64) -> &mut Bot {
        let (now_us, day_us) = (self.now_us, micros(self.settings.limits.day));
        let (start, guilds) = (&self.settings.start, self.settings.bounds.guilds);
        let it = self.bots.entry(&bot, || Bot::new(start, now_us, guilds));
        it.turn(now_us, day_us);
        it
    }

    pub(crate) fn count(&mut self, bot: u64, add: impl Fn(&mut Figures)) {
        add(&mut self.total);
        if let Some(bot) = self.bots.peek_mut(&bot) {
            add(&mut bot.figures);
        }
    }

    pub(crate) fn note(&mut self, entry: GatewayEntry) {
        if self.log.len() >= self.settings.bounds.log.max(1) {
            self.log.pop_front();
        }
        self.log_seq += 1;
        let at_ms = self.now_us.saturating_sub(self.zero_us) / 1000;
        self.log.push_back(GatewayEntry { seq: self.log_seq, at_ms, ..entry });
    }
}

impl GatewayEntry {
    pub(crate) fn of(conn: ConnId, it: &Conn) -> Self {
        Self { conn: conn.0, bot: it.bot, shard: it.shard, ..Self::default() }
    }
}

/// Where READY sends a RESUME.
pub(crate) const RESUME_PATH: &str = "/resume";
/// Nobody answers here but with 503.
pub(crate) const DEAD_PATH: &str = "/dead";

#[cfg(test)]
#[path = "model_tests.rs"]
pub(crate) mod tests;
