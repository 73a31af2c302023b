//! Time passes.

use std::cmp::Reverse;
use std::time::Duration;

use super::conn::{ConnId, Stage, Todo};
use super::model::Model;
use crate::time::micros;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Due {
    Conn(u64),
    Session(u64),
    Load(u64),
}

/// Timers that may stand for nothing, besides three for each that waits.
const STALE_TIMERS_MAX: usize = 4096;

impl Model {
    /// Lets time pass: heartbeats that did not come, sessions that end.
    pub fn tick(&mut self, now: Duration) {
        let now_us = micros(now);
        while let Some(Reverse((at_us, due))) = self.timers.peek().copied() {
            if at_us > now_us {
                break;
            }
            self.timers.pop();
            self.now_us = self.now_us.max(at_us);
            match due {
                Due::Conn(number) => self.conn_due(ConnId(number), at_us),
                Due::Session(number) => self.session_due(number),
                Due::Load(number) => self.load_due(number),
            }
        }
        self.now_us = self.now_us.max(now_us);
    }

    /// When [`tick`](Self::tick) is due.
    pub fn next_at(&self) -> Option<Duration> {
        self.timers.peek().map(|Reverse((at_us, _))| Duration::from_micros(*at_us))
    }

    fn conn_due(&mut self, conn: ConnId, at_us: u64) {
        let Some(it) = self.conns.get_mut(&conn.0).filter(|it| it.armed_us == at_us) else { return };
        it.armed_us = u64::MAX;
        let late = it.beat_by_us <= self.now_us;
        // An op 9 may have come before the late answer.
        let asking = it.stage == Stage::Asking;
        let todo = it.take_due(self.now_us).filter(|todo| asking || !todo.is_answer());
        let bot = it.bot;
        match todo {
            Some(Todo::Hello) => self.hello(conn),
            Some(Todo::Ready { shard, intents, dead_resume_url }) => {
                self.ready(conn, bot, shard, intents, dead_resume_url);
            }
            Some(Todo::Resume { session, seq }) => self.take_up(conn, session, seq),
            Some(Todo::Act(act)) => self.happen(conn, &act),
            Some(Todo::Fate { act, turn }) if turn == self.random_turn => {
                self.happen(conn, &act);
                // Not every act ends a connection.
                if self.conns.get(&conn.0).is_some_and(|it| it.session().is_some()) {
                    self.random_fate(conn);
                }
            }
            None if late => self.close(conn, self.settings.limits.heartbeat_close, "Session timed out."),
            Some(Todo::Fate { .. }) | None => {}
        }
        self.arm(conn);
    }

    fn session_due(&mut self, number: u64) {
        match self.sessions.get(&number) {
            Some(session) if session.conn.is_none() && session.until_us <= self.now_us => self.forget_session(number),
            _ => {}
        }
    }

    /// Sets the connection's timer, if none stands early enough.
    pub(crate) fn arm(&mut self, conn: ConnId) {
        let Some(it) = self.conns.get_mut(&conn.0) else { return };
        let due_us = it.due_us();
        if due_us < it.armed_us {
            it.armed_us = due_us;
            self.set_timer(due_us, Due::Conn(conn.0));
        }
    }

    pub(crate) fn set_timer(&mut self, at_us: u64, due: Due) {
        self.timers.push(Reverse((at_us, due)));
        // Timers outlive what they were for; those that nothing waits for must not pile up.
        let waiting = self.conns.len() + self.sessions.len() + self.loads.len();
        if self.timers.len() > 4 * waiting + STALE_TIMERS_MAX {
            let (conns, sessions, loads) = (&self.conns, &self.sessions, &self.loads);
            self.timers.retain(|Reverse((at_us, due))| match due {
                Due::Conn(number) => conns.get(number).is_some_and(|it| it.armed_us == *at_us),
                Due::Session(number) => {
                    sessions.get(number).is_some_and(|it| it.conn.is_none() && it.until_us == *at_us)
                }
                Due::Load(number) => loads.contains_key(number),
            });
        }
    }
}
