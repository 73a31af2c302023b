//! Events, and who gets them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::model::Model;
use super::objects;
use crate::discord::snowflake;

/// Whose sessions get an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct To {
    /// The bot's id; every bot if absent.
    pub bot: Option<u64>,
    /// The shard's number; every shard if absent.
    pub shard: Option<u32>,
}

/// An event that a test makes.
#[derive(Clone, Debug)]
pub struct Event {
    /// `t`.
    pub name: Arc<str>,
    /// `d`; a message is made up if absent.
    pub d: Option<String>,
    /// Bytes of a message that is made up, about.
    pub bytes: usize,
}

/// Messages in guilds.
const GUILD_MESSAGES: u64 = 1 << 9;

impl Model {
    /// Gives the sessions an event, whatever their intents; says how many got it.
    pub fn dispatch(&mut self, now: Duration, to: To, event: &Event) -> usize {
        self.tick(now);
        let sessions = self.sessions_of(to);
        for session in &sessions {
            self.give(*session, event);
        }
        sessions.len()
    }

    pub(crate) fn sessions_of(&self, to: To) -> Vec<u64> {
        let of_shard = |number: &u64| {
            self.sessions.get(number).is_some_and(|session| to.shard.is_none_or(|shard| shard == session.shard.0))
        };
        match to.bot {
            Some(bot) => {
                let sessions = self.bots.peek(&bot).map(|bot| bot.sessions.iter().copied());
                sessions.into_iter().flatten().filter(of_shard).collect()
            }
            None => self.sessions.keys().copied().filter(of_shard).collect(),
        }
    }

    pub(crate) fn give(&mut self, session: u64, event: &Event) {
        if let Some(d) = &event.d {
            return self.emit(session, &event.name, d);
        }
        let Some(it) = self.sessions.get(&session) else { return };
        let guild = objects::guild_ids(it.shard, 1).next().unwrap_or(1);
        let unix_ms = self.settings.epoch_unix_ms.saturating_add(self.now_us / 1000);
        let d = objects::filler(snowflake::at(unix_ms, it.seq), guild, guild, event.bytes, unix_ms);
        self.emit(session, &event.name, &d);
    }

    /// A message of the REST half, as the bot's own sessions see it: in guild 1.
    pub(crate) fn message(&mut self, bot: u64, name: &'static str, message: &Value) {
        let sessions = self.sessions_of(To { bot: Some(bot), shard: None });
        if sessions.is_empty() {
            return;
        }
        let mut message = message.clone();
        if let Some(message) = message.as_object_mut() {
            message.insert("guild_id".into(), "1".into());
        }
        let (event, d) = (Arc::from(name), message.to_string());
        for number in sessions {
            let Some(session) = self.sessions.get(&number) else { continue };
            if session.intents & GUILD_MESSAGES != 0 && session.shard.0 == objects::shard_of(1, session.shard.1) {
                self.emit(number, &event, &d);
            }
        }
    }

    /// Writes a session's next dispatch, and keeps it for RESUME.
    pub(crate) fn emit(&mut self, number: u64, event: &Arc<str>, d: &str) {
        let bounds = self.settings.bounds;
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let frame = session.next(event, d);
        if **event == *"RESUMED" {
            // What told the end of one replay must not stand in the middle of the next.
            if let Some(conn) = session.conn {
                self.write(conn, frame);
            }
            return;
        }
        let before = session.ring_bytes;
        session.keep(frame.clone(), bounds.ring.max(1), bounds.ring_bytes.saturating_sub(self.ring_bytes));
        self.ring_bytes = self.ring_bytes - before + session.ring_bytes;
        if let Some(conn) = session.conn {
            self.write(conn, frame);
        }
    }
}
