//! IDENTIFY and RESUME.

use super::conn::{Conn, ConnId, Stage, Todo};
use super::figures::GatewayEntry;
use super::frame::{self, Identify, Resume};
use super::model::{DEAD_PATH, Model, RESUME_PATH};
use super::objects::{self, Ready};
use super::output::{Frame, Kind};
use super::session::{self, Session};
use super::weather::{Act, Moment};
use crate::discord::auth::bot_id;
use crate::time::micros;

/// The intent that guilds are told with.
const GUILDS: u64 = 1;

impl Model {
    /// The bot of a token that is taken; else the connection is closed.
    fn authenticate(&mut self, conn: ConnId, token: &str) -> Option<u64> {
        let bot = bot_id(token);
        let known = bot.filter(|_| self.settings.tokens.take(token));
        if let (Some(bot), Some(it)) = (bot, self.conns.get_mut(&conn.0)) {
            let first = it.bot != bot;
            it.bot = bot;
            if first {
                self.met(conn, bot);
            }
        }
        if known.is_none() {
            self.count(bot.unwrap_or(0), |figures| figures.unauthorized += 1);
            self.close(conn, 4004, "Authentication failed.");
        }
        known
    }

    /// A connection said whose it is: what came on it before, heartbeats and this frame, is the bot's too.
    fn met(&mut self, conn: ConnId, bot: u64) {
        let Some(it) = self.conns.get(&conn.0) else { return };
        let (frames, op, worst) = (it.frames, it.last_op, it.minute.worst);
        let figures = &mut self.bot(bot).figures;
        figures.connections += 1;
        figures.frames += frames;
        *figures.by_op.entry(op).or_default() += 1;
        if frames > 1 {
            *figures.by_op.entry(1).or_default() += frames - 1;
        }
        figures.see_minute(worst);
    }

    pub(crate) fn identify(&mut self, conn: ConnId, asked: &Identify) {
        let token = frame::bare(&asked.token);
        let Some(bot) = self.authenticate(conn, token) else { return };
        self.count(bot, |figures| figures.identifies += 1);
        self.note_asked(conn, "identify", asked.shard.as_ref());
        if !self.bot(bot).spend() {
            return self.reset_token(bot, token);
        }
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        let Some(shard) = frame::shard(asked.shard.as_ref()) else {
            return self.close(conn, 4010, "Invalid shard.");
        };
        it.shard = Some(shard);
        let Some(intents) = frame::intents(asked.intents.as_ref(), it.version) else {
            return self.close(conn, 4013, "Invalid intent(s).");
        };
        let (now_us, spacing_us) = (self.now_us, micros(self.settings.limits.identify_spacing));
        let it = self.bot(bot);
        if intents & it.denied_intents != 0 {
            return self.close(conn, 4014, "Disallowed intent(s).");
        }
        if shard.1 < it.least_shards {
            return self.close(conn, 4011, "Sharding is required.");
        }
        match it.take_place(shard.0, now_us, spacing_us) {
            Err(since_us) => {
                self.count(bot, |figures| {
                    figures.spacing_violations += 1;
                    figures.see_spacing(Some(since_us));
                });
                self.invalid(conn, false, "too soon after another IDENTIFY");
            }
            Ok(since_us) => {
                self.count(bot, |figures| figures.see_spacing(since_us));
                self.answer(conn, Moment::Identify, Todo::Ready { shard, intents, dead_resume_url: false });
            }
        }
    }

    /// Answers an IDENTIFY or RESUME, if the weather lets it.
    fn answer(&mut self, conn: ConnId, on: Moment, mut todo: Todo) {
        let mut weather = self.weather_at(on, conn, "");
        if weather == Some(Act::DeadResumeUrl) {
            weather = None;
            if let Todo::Ready { dead_resume_url, .. } = &mut todo {
                *dead_resume_url = true;
            }
        }
        let bot = self.conns.get(&conn.0).map_or(0, |it| it.bot);
        match self.or_later(conn, weather, todo) {
            Some(Todo::Ready { shard, intents, dead_resume_url }) => {
                self.ready(conn, bot, shard, intents, dead_resume_url);
            }
            Some(Todo::Resume { session, seq }) => self.take_up(conn, session, seq),
            Some(Todo::Hello | Todo::Act(_) | Todo::Fate { .. }) | None => {}
        }
    }

    fn note_asked(&mut self, conn: ConnId, what: &'static str, shard: Option<&serde_json::Value>) {
        let Some(it) = self.conns.get(&conn.0) else { return };
        let shard = shard.and_then(|shard| frame::shard(Some(shard))).or(it.shard);
        let entry = GatewayEntry { shard, what, ..GatewayEntry::of(conn, it) };
        self.note(entry);
    }

    pub(crate) fn note_conn(&mut self, conn: ConnId, what: &'static str, note: &'static str) {
        let Some(it) = self.conns.get(&conn.0) else { return };
        let entry = GatewayEntry { what, note, ..GatewayEntry::of(conn, it) };
        self.note(entry);
    }

    /// The budget was gone: all of the bot's sessions end, and its token with them.
    fn reset_token(&mut self, bot: u64, token: &str) {
        self.count(bot, |figures| figures.token_resets += 1);
        self.note(GatewayEntry { bot, what: "token_reset", ..GatewayEntry::default() });
        self.revoke(token);
    }

    /// Takes a token away: the bot's connections are closed with 4004 and its sessions end.
    pub fn revoke(&mut self, token: &str) {
        self.settings.tokens.revoke(token);
        let Some(bot) = bot_id(token) else { return };
        let of_bot = |(number, it): (&u64, &Conn)| (it.bot == bot).then_some(ConnId(*number));
        let conns: Vec<ConnId> = self.conns.iter().filter_map(of_bot).collect();
        for conn in conns {
            self.close(conn, 4004, "Authentication failed.");
        }
        for session in self.bot(bot).sessions.clone() {
            self.forget_session(session);
        }
    }

    pub(crate) fn ready(&mut self, conn: ConnId, bot: u64, shard: (u32, u32), intents: u64, dead_resume_url: bool) {
        if self.sessions.len() >= self.settings.bounds.sessions.max(1) {
            let detached = self.sessions.iter().filter(|(_, session)| session.conn.is_none());
            match detached.min_by_key(|(_, session)| session.until_us).map(|(number, _)| *number) {
                Some(oldest) => self.forget_session(oldest),
                None => return self.close(conn, 4000, "Too many sessions."),
            }
        }
        self.numbers += 1;
        let number = self.numbers;
        self.sessions.insert(number, Session::new(bot, shard, intents, conn));
        self.bot(bot).sessions.insert(number);
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        it.stage = Stage::Live(number);
        let version = it.version;
        let path = if dead_resume_url { DEAD_PATH } else { RESUME_PATH };
        let (url, guilds) = (format!("{}{path}", self.settings.start.url), self.settings.guilds);
        let id = session::id(number, self.settings.seed);
        let d = objects::ready(&Ready { version, bot, session: &id, resume_url: &url, shard, guilds });
        self.count(bot, |figures| figures.ready += 1);
        self.note_conn(conn, "ready", "");
        self.emit(number, &"READY".into(), &d);
        if intents & GUILDS != 0 {
            let (members, epoch) = (self.settings.members, self.settings.epoch_unix_ms);
            let event = "GUILD_CREATE".into();
            for guild in objects::guild_ids(shard, guilds) {
                self.emit(number, &event, &objects::guild(guild, bot, members, epoch));
            }
        }
        self.weather_after(Moment::Ready, conn);
        self.random_fate(conn);
    }

    pub(crate) fn resume(&mut self, conn: ConnId, asked: &Resume) {
        let Some(bot) = self.authenticate(conn, frame::bare(&asked.token)) else { return };
        let elsewhere = self.conns.get(&conn.0).is_some_and(|it| !it.by_resume_url);
        self.count(bot, |figures| {
            figures.resumes += 1;
            figures.resumes_elsewhere += u64::from(elsewhere);
        });
        let number = session::number(&asked.session_id, self.settings.seed);
        let found = number.and_then(|number| Some((number, self.sessions.get(&number)?)));
        let Some((number, found)) = found.filter(|(_, session)| session.bot == bot) else {
            self.note_conn(conn, "resume", "unknown session");
            return self.invalid(conn, false, "unknown session");
        };
        let (shard, last, other) = (found.shard, found.seq, found.conn);
        if let Some(it) = self.conns.get_mut(&conn.0) {
            it.shard = Some(shard);
        }
        self.note_conn(conn, "resume", "");
        let seq = asked.seq.and_then(|seq| u64::try_from(seq).ok()).filter(|seq| *seq <= last);
        let Some(seq) = seq else {
            self.forget_session(number);
            return self.close(conn, 4007, "Invalid seq.");
        };
        if let Some(other) = other {
            self.close(other, 4000, "The session was resumed elsewhere.");
        }
        self.answer(conn, Moment::Resume, Todo::Resume { session: number, seq });
    }

    /// Gives the connection its session, and what it missed of it.
    pub(crate) fn take_up(&mut self, conn: ConnId, number: u64, seq: u64) {
        let Some(session) = self.sessions.get_mut(&number) else {
            // It ended while its RESUME waited.
            return self.invalid(conn, false, "unknown session");
        };
        let bot = session.bot;
        let Some(missed) = session.since(seq) else {
            self.forget_session(number);
            return self.invalid(conn, false, "older than what is kept");
        };
        session.conn = Some(conn);
        session.until_us = u64::MAX;
        if let Some(it) = self.conns.get_mut(&conn.0) {
            it.stage = Stage::Live(number);
        }
        self.count(bot, |figures| {
            figures.resumed += 1;
            figures.replayed += missed.len() as u64;
        });
        for frame in missed {
            self.write(conn, frame);
        }
        self.note_conn(conn, "resumed", "");
        let d = r#"{"_trace":["sandbox"]}"#;
        self.emit(number, &"RESUMED".into(), d);
        self.weather_after(Moment::Resumed, conn);
        self.random_fate(conn);
    }

    /// Op 9: the connection carries nothing any more, and may IDENTIFY or RESUME anew.
    pub(crate) fn invalid(&mut self, conn: ConnId, resumable: bool, note: &'static str) {
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        let before = std::mem::replace(&mut it.stage, Stage::Fresh);
        let (bot, shard) = (it.bot, it.shard);
        if let Stage::Live(number) = before {
            if resumable {
                self.detach(number);
            } else {
                self.forget_session(number);
            }
        }
        self.count(bot, |figures| figures.invalid_sessions += 1);
        let entry = GatewayEntry { conn: conn.0, bot, shard, what: "invalid", note, ..GatewayEntry::default() };
        self.note(GatewayEntry { resumable: Some(resumable), ..entry });
        self.write(conn, Frame::plain(Kind::Invalid { resumable }));
    }
}
