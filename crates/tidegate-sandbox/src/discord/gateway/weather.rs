//! Bad weather: what the Gateway does although nobody stepped over a line.

use std::time::Duration;

use super::conn::{ConnId, Stage, Todo};
use super::dispatch::To;
use super::figures::GatewayEntry;
use super::model::Model;
use super::output::{Frame, Kind, Output};
use crate::scripts;
use crate::time::micros;

/// What happens to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The handshake is answered with a status of HTTP; at [`Moment::Connect`] alone.
    Refuse {
        /// The status.
        status: u16,
        /// The body.
        body: String,
    },
    /// Op 7; whoever stays is closed 5 s later.
    Reconnect,
    /// Op 9.
    Invalid {
        /// `d`.
        resumable: bool,
    },
    /// A close frame.
    Close {
        /// Its code; 1005 is none.
        code: u16,
        /// It comes a second time.
        twice: bool,
    },
    /// The connection ends without a close frame.
    Cut,
    /// Nothing is read or written any more, and the connection stays open.
    Freeze,
    /// Nothing is written any more, and everything is read.
    Silence,
    /// Heartbeats are not acknowledged any more.
    Deaf,
    /// Op 1: a heartbeat is wanted at once.
    Beat,
    /// What would come now comes so much later.
    Delay(Duration),
    /// READY tells an address for RESUME that answers with 503; at [`Moment::Identify`] alone.
    DeadResumeUrl,
}

/// When a script looks at a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It is asked for: in place of HELLO.
    Connect,
    /// An IDENTIFY was let through: in place of READY.
    Identify,
    /// A RESUME of a session that is there: in place of the replay.
    Resume,
    /// READY was given.
    Ready,
    /// RESUMED was given.
    Resumed,
    /// READY or RESUMED was given.
    Live,
    /// A frame of this opcode came: in place of its meaning.
    Frame(u8),
}

/// A rule: some connections at some moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weather {
    /// The bot's id; any if absent. Of a connection that is only asked for none is known.
    pub bot: Option<u64>,
    /// The shard's number; any if absent.
    pub shard: Option<u32>,
    /// What the path begins with, at [`Moment::Connect`] alone; any if absent.
    pub path: Option<String>,
    /// When it looks.
    pub on: Moment,
    /// With it, what is usual happens, and the act so much later (platform time).
    pub after: Duration,
    /// Connections to let pass first.
    pub skip: u64,
    /// Connections that it happens to after that.
    pub times: u64,
    /// What happens.
    pub act: Act,
}

impl Weather {
    /// Happens to the next connection at that moment.
    pub fn next(on: Moment, act: Act) -> Self {
        Self { bot: None, shard: None, path: None, on, after: Duration::ZERO, skip: 0, times: 1, act }
    }

    fn matches(&self, on: Moment, bot: u64, shard: Option<u32>, path: &str) -> bool {
        let moment = match self.on {
            Moment::Live => matches!(on, Moment::Ready | Moment::Resumed),
            own => own == on,
        };
        moment
            && self.bot.is_none_or(|wanted| wanted == bot)
            && self.shard.is_none_or(|wanted| Some(wanted) == shard)
            && self.path.as_ref().is_none_or(|wanted| path.starts_with(wanted.as_str()))
    }
}

impl scripts::Script for Weather {
    type Forced = (Duration, Act);

    fn turns(&mut self) -> (&mut u64, &mut u64) {
        (&mut self.skip, &mut self.times)
    }

    fn forced(&self) -> (Duration, Act) {
        (self.after, self.act.clone())
    }
}

/// How long after op 7 the connection is closed.
const AFTER_RECONNECT: Duration = Duration::from_secs(5);

impl Model {
    /// Adds a rule; false if too many wait already.
    pub fn weather(&mut self, weather: Weather) -> bool {
        self.scripts.push(weather)
    }

    /// Something happens to live connections now; says to how many.
    pub fn strike(&mut self, now: Duration, to: To, act: &Act) -> usize {
        self.tick(now);
        self.strike_now(to, act)
    }

    pub(crate) fn strike_now(&mut self, to: To, act: &Act) -> usize {
        let sessions = self.sessions_of(to);
        let conns: Vec<ConnId> = sessions.iter().filter_map(|session| self.sessions.get(session)?.conn).collect();
        for conn in &conns {
            self.happen(*conn, act);
        }
        conns.len()
    }

    /// What is to happen in place of the usual at this moment; what is to happen later is noted.
    pub(crate) fn weather_at(&mut self, on: Moment, conn: ConnId, path: &str) -> Option<Act> {
        let (bot, shard) = self.conns.get(&conn.0).map_or((0, None), |it| (it.bot, it.shard.map(|shard| shard.0)));
        let scripted = self.scripts.take(|weather| weather.matches(on, bot, shard, path));
        let (after, act) = scripted.or_else(|| self.random_at(on))?;
        if after.is_zero() {
            return Some(act);
        }
        self.later(conn, after, Todo::Act(act));
        None
    }

    pub(crate) fn later(&mut self, conn: ConnId, after: Duration, todo: Todo) {
        let at_us = self.now_us.saturating_add(micros(after));
        if let Some(it) = self.conns.get_mut(&conn.0) {
            it.add(at_us, todo);
        }
        self.arm(conn);
    }

    /// Looks for weather behind a moment: nothing usual is left to take the place of.
    pub(crate) fn weather_after(&mut self, on: Moment, conn: ConnId) {
        if let Some(act) = self.weather_at(on, conn, "") {
            self.happen(conn, &act);
        }
    }

    pub(crate) fn happen(&mut self, conn: ConnId, act: &Act) {
        let Some(bot) = self.conns.get(&conn.0).map(|it| it.bot) else { return };
        self.count(bot, |figures| figures.forced += 1);
        match act {
            Act::Close { code: 1006, .. } | Act::Cut | Act::Refuse { .. } => self.cut(conn, "forced"),
            Act::Close { code, twice } => self.close_by(conn, *code, "Forced.", *twice),
            Act::Reconnect => {
                self.count(bot, |figures| figures.reconnects += 1);
                self.note_conn(conn, "reconnect", "forced");
                self.write(conn, Frame::plain(Kind::Reconnect));
                self.later(conn, AFTER_RECONNECT, Todo::Act(Act::Close { code: 1001, twice: false }));
            }
            Act::Invalid { resumable } => self.invalid(conn, *resumable, "forced"),
            Act::Freeze => self.freeze(conn),
            Act::Silence | Act::Deaf => {
                self.note_conn(conn, if *act == Act::Deaf { "deaf" } else { "silent" }, "forced");
                if let Some(it) = self.conns.get_mut(&conn.0) {
                    it.deaf = true;
                    if *act == Act::Silence {
                        it.silent = true;
                        it.beat_by_us = u64::MAX;
                    }
                }
            }
            Act::Beat => self.write(conn, Frame::plain(Kind::Beat)),
            Act::Delay(_) | Act::DeadResumeUrl => {}
        }
    }

    fn freeze(&mut self, conn: ConnId) {
        let Some(it) = self.conns.remove(&conn.0) else { return };
        self.note(GatewayEntry { what: "frozen", note: "forced", ..GatewayEntry::of(conn, &it) });
        self.gone(conn, &it, None);
        self.outputs.push_back(Output::Freeze { conn });
        self.left(&it, true);
    }

    /// What an act leaves of what was to come: it, later, or nothing.
    pub(crate) fn or_later(&mut self, conn: ConnId, act: Option<Act>, todo: Todo) -> Option<Todo> {
        match act {
            None => Some(todo),
            Some(Act::Delay(after)) => {
                if let Some(it) = self.conns.get_mut(&conn.0).filter(|_| todo != Todo::Hello) {
                    it.stage = Stage::Asking;
                }
                let bot = self.conns.get(&conn.0).map_or(0, |it| it.bot);
                self.count(bot, |figures| figures.forced += 1);
                self.later(conn, after, todo);
                None
            }
            Some(act @ (Act::Deaf | Act::Beat)) => {
                self.happen(conn, &act);
                Some(todo)
            }
            Some(act) => {
                self.happen(conn, &act);
                None
            }
        }
    }
}

#[cfg(test)]
#[path = "weather_tests.rs"]
mod tests;
