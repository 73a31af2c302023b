//! What the living connection tells.

use alloc::boxed::Box;

use super::Shard;
use super::connection::{OP_IDENTIFY, OP_RESUME, Stage};
use super::io::{End, Event, Generation, Note, Output};
use super::line::Line;
use super::session::Session;
use crate::time::{Span, Time};

impl Shard {
    /// One event of one connection. One that is not the living one changes nothing.
    pub(super) fn socket(&mut self, now: Time, generation: Generation, event: Event) {
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.generation == generation) else {
            self.emit(Output::Note(Note::Stale { generation }));
            return;
        };
        match event {
            Event::Opened => {
                if connection.stage == Stage::Dialing {
                    connection.stage = Stage::Open;
                }
            }
            Event::Hello { interval } => self.hello(now, interval),
            Event::Ready { session, resume_url, seq } => self.ready(now, session, resume_url, seq),
            Event::Resumed => self.resumed(now),
            Event::Dispatch { seq } => self.dispatch(now, seq),
            Event::Ack => {
                connection.sign_of_life(now);
                connection.acked();
            }
            Event::BeatAsked => self.beat_asked(),
            Event::Sent { op } => connection.last_op = Some(op),
            Event::Reconnect => self.end(now, End::Reconnect),
            Event::InvalidSession { resumable } => {
                // It came over an open socket, whether or not that was told.
                if connection.stage == Stage::Dialing {
                    connection.stage = Stage::Open;
                }
                self.end(now, End::InvalidSession { resumable });
            }
            Event::Closed { code } => self.end(now, End::Closed(code)),
            Event::Error => self.end(now, End::Error),
        }
    }

    fn hello(&mut self, now: Time, interval: Span) {
        let (low, high) = self.settings.heartbeat_interval;
        let interval = interval.min(high).max(low).max(Span::from_millis(1));
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.before_hello()) else { return };
        let first = self.jitter.between(Span::ZERO, interval);
        connection.greeted(interval, now + first);
        match &self.session {
            Some(Session { id, seq, .. }) => {
                connection.asked(now, OP_RESUME);
                let resume = Output::Resume { generation: connection.generation, session: id.clone(), seq: *seq };
                self.emit(resume);
            }
            None => self.identify(now),
        }
    }

    /// Writes IDENTIFY where the grant is there and good; asks for another where it is too old.
    pub(super) fn identify(&mut self, now: Time) {
        let Some(connection) = self.connection.as_mut().filter(|connection| connection.stage == Stage::Greeted) else {
            return;
        };
        if !self.line.good(now, self.settings.hold) {
            self.release();
            if self.line == Line::Out {
                self.request();
            }
            return;
        }
        if let Line::Held { written, .. } = &mut self.line {
            *written = true;
        }
        connection.asked(now, OP_IDENTIFY);
        let generation = connection.generation;
        self.emit(Output::Identify { generation });
    }

    fn ready(&mut self, now: Time, id: Box<str>, resume_url: Box<str>, seq: u64) {
        let Some(connection) = &mut self.connection else { return };
        match connection.stage {
            Stage::Identifying(_) | Stage::Resuming(_) => connection.went_live(now),
            // An answer to nothing.
            Stage::Dialing | Stage::Open | Stage::Greeted | Stage::Live(_) => return,
        }
        self.session = Some(Session { id, seq, resume_url, born: Some(now) });
        self.main_only = false;
        self.failed_resumes = 0;
        self.release();
        self.save(now);
        self.fresh = false;
        if core::mem::take(&mut self.newer) {
            self.want_fresh(now);
        }
    }

    fn resumed(&mut self, now: Time) {
        if let Some(connection) = &mut self.connection
            && let Stage::Resuming(_) = connection.stage
        {
            connection.went_live(now);
            self.failed_resumes = 0;
        }
    }

    fn dispatch(&mut self, now: Time, seq: u64) {
        let Some(connection) = &mut self.connection else { return };
        connection.sign_of_life(now);
        if self.settings.dispatch_is_ack {
            connection.acked();
        }
        match connection.stage {
            Stage::Resuming(_) | Stage::Live(_) => {
                if let Some(session) = &mut self.session {
                    session.saw(seq);
                }
            }
            Stage::Dialing | Stage::Open | Stage::Greeted | Stage::Identifying(_) => {}
        }
    }

    /// Whether the connection has been good for long enough: only then does the backoff start over.
    pub(super) fn settle(&mut self, now: Time) {
        if self.fresh {
            // What is about to be replaced earns nothing while it waits.
            return;
        }
        let Some(connection) = &mut self.connection else { return };
        let Stage::Live(live) = &mut connection.stage else { return };
        if live.stable || !live.acked || now < live.since + self.settings.stable_after {
            return;
        }
        live.stable = true;
        self.backoff.reset();
        self.retry = super::hold::Hold::NONE;
        self.identify = super::hold::Hold::NONE;
        self.reconnected_at_once = false;
        self.instability.reset();
    }
}
