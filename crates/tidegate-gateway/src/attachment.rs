//! The protocol towards one bot: in which order it may say what, and when it has been silent for too long.
//!
//! ```text
//! new ── IDENTIFY, RESUME ──▶ asked ── READY, RESUMED ──▶ live
//!  ▲                            │                          │
//!  └────────────── op 9 ◀───────┴──────────────────────────┘
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::{Span, Time};

use super::close::Close;
use super::frame::{Command, Identify, Resume, Said, said};

/// Heartbeats, pings, IDENTIFYs and RESUMEs that may come within [`FLOOD_PERIOD`]: Discord's limit of all frames.
const FLOOD_MOST: usize = 120;
const FLOOD_PERIOD: Span = Span::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was asked for.
    New,
    /// It waits for READY or RESUMED.
    Asked,
    /// It has had one of them.
    Live,
    /// Its session is gone. What it had on the way meanwhile is no fault of its.
    Invalid,
}

/// What follows from a frame.
#[derive(Clone, Debug)]
pub enum Act {
    /// Op 11, at once.
    Ack,
    /// It asks for a new session.
    Identify(Arc<Identify>),
    /// It asks for a session that it had.
    Resume(Resume),
    /// It is for Discord, by way of the send queue.
    Command(Command),
    /// Nothing.
    Nothing,
}

/// One bot's connection.
#[derive(Clone, Debug)]
pub struct Attachment {
    interval: Span,
    phase: Phase,
    /// Closed then, unless it says something before.
    silent_until: Time,
    answers: VecDeque<Time>,
}

impl Attachment {
    /// `interval`: how often HELLO asks for heartbeats.
    pub fn new(now: Time, interval: Span) -> Self {
        let mut attachment = Self { interval, phase: Phase::New, silent_until: Time::NEVER, answers: VecDeque::new() };
        attachment.heard(now);
        attachment
    }

    /// A message came.
    pub fn frame(&mut self, now: Time, frame: &Bytes) -> Result<Act, Close> {
        match said(frame)? {
            Said::Beat => {
                self.answered(now)?;
                self.heard(now);
                Ok(Act::Ack)
            }
            Said::Identify(identify) => self.ask(now).map(|()| Act::Identify(identify)),
            Said::Resume(resume) => self.ask(now).map(|()| Act::Resume(resume)),
            Said::Command(command) => match self.phase {
                Phase::Asked | Phase::Live => Ok(Act::Command(command)),
                Phase::Invalid => Ok(Act::Nothing),
                Phase::New => Err(Close::NOT_IDENTIFIED),
            },
        }
    }

    /// A WebSocket ping came. It is no heartbeat, but it costs as much.
    pub fn ping(&mut self, now: Time) -> Result<(), Close> {
        self.answered(now)
    }

    /// READY or RESUMED was handed on: from now on its heartbeats are awaited.
    pub fn live(&mut self, now: Time) {
        if self.phase != Phase::Live {
            self.phase = Phase::Live;
            self.heard(now);
        }
    }

    /// Op 9 was handed on.
    pub fn invalid(&mut self, now: Time) {
        self.phase = Phase::Invalid;
        self.heard(now);
    }

    /// When to look at the time again.
    pub fn due(&self) -> Time {
        self.silent_until
    }

    /// Time has passed.
    pub fn tick(&self, now: Time) -> Result<(), Close> {
        if now < self.silent_until {
            return Ok(());
        }
        Err(if self.phase == Phase::Live { Close::NO_BEATS } else { Close::NOT_ASKED })
    }

    fn ask(&mut self, now: Time) -> Result<(), Close> {
        match self.phase {
            Phase::New | Phase::Invalid => {
                // Each may be answered with op 9, and then comes again.
                self.answered(now)?;
                self.phase = Phase::Asked;
                // Some libraries send no heartbeat before READY.
                self.silent_until = Time::NEVER;
                Ok(())
            }
            Phase::Asked | Phase::Live => Err(Close::TWICE),
        }
    }

    fn heard(&mut self, now: Time) {
        if self.phase != Phase::Asked {
            self.silent_until = now + self.interval.times(2);
        }
    }

    /// Something comes that is answered at once.
    fn answered(&mut self, now: Time) -> Result<(), Close> {
        while self.answers.front().is_some_and(|at| *at + FLOOD_PERIOD <= now) {
            self.answers.pop_front();
        }
        if self.answers.len() >= FLOOD_MOST {
            return Err(Close::FLOOD);
        }
        self.answers.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
