//! A message came: the limits of a connection, then what it says.

use std::time::Duration;

use super::conn::{ConnId, Stage};
use super::figures::GatewayEntry;
use super::frame::{Incoming, Members};
use super::minute::Class;
use super::model::Model;
use super::objects;
use super::output::{Frame, Kind};
use super::weather::Moment;
use crate::time::micros;

/// Members in one chunk.
const CHUNK: usize = 1000;

impl Model {
    /// A message came on a connection, text or binary alike.
    pub fn receive(&mut self, now: Duration, conn: ConnId, bytes: &[u8]) {
        self.tick(now);
        let read = if bytes.len() > self.settings.limits.frame_bytes {
            Err("Frame is too long.")
        } else {
            Incoming::read(bytes).map_err(|_| "Error while decoding payload.")
        };
        let op = read.as_ref().map_or(0, Incoming::op);
        let (now_us, rate) = (self.now_us, self.settings.limits.frames);
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        it.frames += 1;
        it.last_op = op;
        let in_minute = it.minute.add(now_us, Class::of(op), rate);
        let (bot, worst, stage) = (it.bot, it.minute.worst, it.stage);
        self.count(bot, |figures| {
            figures.frames += 1;
            *figures.by_op.entry(op).or_default() += 1;
            figures.subscriptions += u64::from(Class::of(op) == Class::Subscription);
            figures.see_minute(worst);
        });
        if op != 1 {
            self.note_frame(conn, op, bytes.len());
        }
        if in_minute > rate.count {
            return self.close(conn, 4008, "Rate limited.");
        }
        if let Some(act) = self.weather_at(Moment::Frame(op), conn, "") {
            return self.happen(conn, &act);
        }
        match read {
            Err(reason) => self.close(conn, 4002, reason),
            Ok(Incoming::Unknown(_)) => self.close(conn, 4001, "Unknown opcode."),
            Ok(Incoming::Beat) => self.beat(conn),
            Ok(Incoming::Identify(_) | Incoming::Resume(_)) if stage != Stage::Fresh => {
                self.close(conn, 4005, "Already authenticated.");
            }
            Ok(Incoming::Identify(identify)) => self.identify(conn, &identify),
            Ok(Incoming::Resume(resume)) => self.resume(conn, &resume),
            Ok(Incoming::Members(_) | Incoming::Command(_)) if stage == Stage::Fresh => {
                self.close(conn, 4003, "Not authenticated.");
            }
            Ok(Incoming::Members(members)) => self.members(conn, &members),
            Ok(Incoming::Command(3)) => self.presence(conn),
            Ok(Incoming::Command(_)) => {}
        }
    }

    fn note_frame(&mut self, conn: ConnId, op: u8, bytes: usize) {
        let Some(it) = self.conns.get(&conn.0) else { return };
        let entry = GatewayEntry { what: "frame", op: Some(op), bytes: Some(bytes), ..GatewayEntry::of(conn, it) };
        self.note(entry);
    }

    fn beat(&mut self, conn: ConnId) {
        let limits = &self.settings.limits;
        let patience = limits.heartbeat_interval.as_secs_f64() * limits.heartbeat_patience.clamp(1.0, 1000.0);
        let patience_us = micros(Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX));
        let now_us = self.now_us;
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        let gap_us = now_us - it.last_beat_us;
        it.worst_beat_gap_us = it.worst_beat_gap_us.max(gap_us);
        it.last_beat_us = now_us;
        if it.beat_by_us != u64::MAX {
            it.beat_by_us = now_us.saturating_add(patience_us);
        }
        let (bot, deaf) = (it.bot, it.deaf);
        self.count(bot, |figures| figures.worst_beat_gap_ms = figures.worst_beat_gap_ms.max(gap_us / 1000));
        if !deaf {
            self.write(conn, Frame::plain(Kind::Ack));
        }
        self.arm(conn);
    }

    fn presence(&mut self, conn: ConnId) {
        let (now_us, rate) = (self.now_us, self.settings.limits.presence);
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        let over = it.presence.add(now_us, rate) > rate.count;
        let bot = it.bot;
        self.count(bot, |figures| figures.presence_over += u64::from(over));
    }

    fn members(&mut self, conn: ConnId, asked: &Members) {
        let (now_us, rate) = (self.now_us, self.settings.limits.members);
        let Some((bot, Stage::Live(session))) = self.conns.get(&conn.0).map(|it| (it.bot, it.stage)) else { return };
        if asked.all {
            let period_us = micros(rate.period);
            let it = self.bot(bot);
            let last_us = it.members.peek(&asked.guild).copied();
            if let Some(until_us) = last_us.map(|at_us| at_us.saturating_add(period_us)).filter(|it| *it > now_us) {
                self.count(bot, |figures| figures.members_over += 1);
                let retry_after = Duration::from_micros(until_us - now_us).as_secs_f64();
                let mut meta = serde_json::json!({"guild_id": asked.guild.to_string()});
                if let (Some(nonce), Some(meta)) = (&asked.nonce, meta.as_object_mut()) {
                    meta.insert("nonce".into(), nonce.clone().into());
                }
                let d = serde_json::json!({"opcode": 8, "retry_after": retry_after, "meta": meta});
                self.emit(session, &"RATE_LIMITED".into(), &d.to_string());
                return;
            }
            *it.members.entry(&asked.guild, || now_us) = now_us;
        }
        self.chunks(bot, session, asked);
    }

    fn chunks(&mut self, bot: u64, session: u64, asked: &Members) {
        let epoch_unix_ms = self.settings.epoch_unix_ms;
        let members = if asked.users.is_empty() {
            let there = usize::try_from(self.settings.members.clamp(1, 10_000)).unwrap_or(1);
            let count = if asked.limit == 0 { there } else { there.min(asked.limit) };
            objects::members(bot, count, epoch_unix_ms)
        } else {
            asked.users.iter().map(|id| crate::discord::objects::member(*id, epoch_unix_ms)).collect()
        };
        let count = members.len().div_ceil(CHUNK);
        for (index, chunk) in members.chunks(CHUNK).enumerate() {
            let mut d = serde_json::json!({
                "guild_id": asked.guild.to_string(), "members": chunk, "chunk_index": index, "chunk_count": count,
                "not_found": [],
            });
            if let (Some(nonce), Some(d)) = (&asked.nonce, d.as_object_mut()) {
                d.insert("nonce".into(), nonce.clone().into());
            }
            self.emit(session, &"GUILD_MEMBERS_CHUNK".into(), &d.to_string());
        }
    }
}

impl Incoming {
    /// The opcode; 0 for one that is not known.
    fn op(&self) -> u8 {
        match self {
            Self::Beat => 1,
            Self::Identify(_) => 2,
            Self::Resume(_) => 6,
            Self::Members(_) => 8,
            Self::Command(op) => *op,
            Self::Unknown(op) => u8::try_from(*op).unwrap_or(0),
        }
    }
}
