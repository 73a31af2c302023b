//! The end of a connection: what becomes of the session, and how long to wait.

use super::connection::{Connection, OP_HEARTBEAT, Stage};
use super::hold::Hold;
use super::io::{End, Note, Output, StopReason, Why};
use super::line::Line;
use super::settings::{GRACE_MAX, Settings};
use super::{Run, Shard};
use crate::backoff::Share;
use crate::discord::{AfterClose, Fatal, after_close};
use crate::time::{Span, Time};

/// Ours, and the session stays resumable: never 1000 or 1001.
pub(super) const KEEP: u16 = 4000;
/// Ours, and the session is over.
pub(super) const LOG_OUT: u16 = 1000;

/// What an end means, before failed RESUMEs are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    keeps_session: bool,
    wait: Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Not at all.
    None,
    /// A step that never holds the next IDENTIFY: nothing of ours was seen.
    Dial,
    /// A step.
    Backoff,
    /// The wait after op 9, or what is left of the backoff.
    Invalid,
    /// The wait after op 9, or a step.
    InvalidBackoff,
    /// What close 4008 asks for.
    RateLimited,
    /// For good.
    Stop(Fatal),
}

impl Shard {
    /// Ends the living connection. Its timers end with it, and its generation is ignored from now on.
    pub(super) fn end(&mut self, now: Time, end: End) {
        let Some(connection) = self.connection.take() else { return };
        self.close_unless_gone(&connection, end);
        if end == End::Closed(Some(4002)) {
            self.emit(Output::Note(Note::Undecodable { last_op: connection.last_op }));
        }
        self.release();
        let unstable = connection.live().is_some_and(|live| !live.stable);
        if unstable && let Some(reasons) = self.instability.ended(end) {
            self.emit(Output::Note(Note::Unstable { reasons }));
        }
        let Verdict { keeps_session, wait } = self.verdict(&connection, end);
        let keeps_session = keeps_session && !self.too_many_resumes(&connection, end);
        self.newer = false;
        self.take_wait(now, wait, connection.live().map(|live| now.since(live.since)));
        if let Wait::Stop(reason) = wait {
            self.halt(StopReason::Fatal(reason));
        } else if self.fresh && self.session.is_some() {
            self.replaced = Some(now);
            self.lose_session();
        } else if !keeps_session {
            self.lose_session();
        } else {
            self.save(now);
        }
    }

    fn close_unless_gone(&mut self, connection: &Connection, end: End) {
        let gone = match end {
            End::Closed(_) => true,
            End::Error => connection.stage == Stage::Dialing,
            End::Watchdog | End::Zombie | End::Reconnect | End::InvalidSession { .. } => false,
        };
        if !gone {
            self.emit(Output::Close { generation: connection.generation, code: KEEP });
        }
    }

    fn verdict(&mut self, connection: &Connection, end: End) -> Verdict {
        let keep = |wait| Verdict { keeps_session: true, wait };
        let drop = |wait| Verdict { keeps_session: false, wait };
        let broken = if connection.stage == Stage::Dialing { Wait::Dial } else { Wait::Backoff };
        match end {
            End::Closed(code) => match after_close(code) {
                AfterClose::Resume => keep(broken),
                AfterClose::NewSession => drop(Wait::Backoff),
                AfterClose::RateLimited => keep(Wait::RateLimited),
                AfterClose::Stop(reason) => drop(Wait::Stop(reason)),
            },
            End::Error | End::Watchdog => keep(broken),
            End::Zombie => keep(Wait::Backoff),
            End::Reconnect if self.reconnected_at_once => keep(Wait::Backoff),
            End::Reconnect => {
                self.reconnected_at_once = true;
                keep(Wait::None)
            }
            End::InvalidSession { resumable } => match connection.stage {
                // Before anything was written it answers nothing.
                Stage::Dialing | Stage::Open | Stage::Greeted => keep(Wait::Backoff),
                Stage::Identifying(_) => drop(Wait::InvalidBackoff),
                Stage::Resuming(_) if resumable => keep(Wait::Backoff),
                Stage::Resuming(_) => drop(Wait::Invalid),
                Stage::Live(live) => {
                    let wait = if live.stable { Wait::Invalid } else { Wait::InvalidBackoff };
                    Verdict { keeps_session: resumable, wait }
                }
            },
        }
    }

    /// Counts a connection that opened to RESUME and ended before RESUMED.
    fn too_many_resumes(&mut self, connection: &Connection, end: End) -> bool {
        let opened = connection.stage != Stage::Dialing;
        let failed = self.session.is_some() && opened && connection.live().is_none() && end != End::Reconnect;
        if failed {
            self.failed_resumes = self.failed_resumes.saturating_add(1);
        }
        failed && self.failed_resumes >= self.settings.resume_attempts
    }

    /// `up`: how long the session was, since READY or RESUMED; `None` where it was not.
    fn take_wait(&mut self, now: Time, wait: Wait, up: Option<Span>) {
        match wait {
            Wait::None => self.retry = Hold::NONE,
            Wait::Dial => {
                self.main_only = true;
                let step = self.backoff.take();
                let wait = self.share().of(step.min(self.settings.resume_backoff_max));
                self.retry = Hold::new(now + wait, Why::Backoff);
            }
            Wait::Backoff | Wait::Stop(_) => self.step(now, now, Why::Backoff, up),
            Wait::Invalid => {
                let until = now + self.invalid_session_wait();
                let full = self.identify.until.max(until);
                self.identify = Hold::new(full, Why::InvalidSession);
                self.retry = Hold::new(until, Why::InvalidSession);
            }
            Wait::InvalidBackoff => {
                let until = now + self.invalid_session_wait();
                self.step(now, until, Why::InvalidSession, up);
            }
            Wait::RateLimited => self.rate_limited(now),
        }
    }

    /// Takes a step of the backoff: whole for the next IDENTIFY, shorter for a RESUME, neither before `floor`.
    fn step(&mut self, now: Time, floor: Time, why: Why, up: Option<Span>) {
        let step = self.backoff.take();
        let share = self.share();
        let resume = now + self.resume_wait(step, share, up);
        self.retry = Hold::new(resume.max(floor), why);
        let identify = (now + share.of(step)).max(floor).max(self.identify.until);
        self.identify = Hold::new(identify, why);
    }

    /// Steps are jittered, the cycle is not: a session that ends within each minute is resumed once a minute, and no sooner.
    /// After a RESUME that failed no session was up, and the whole step is waited.
    fn resume_wait(&self, step: Span, share: Share, up: Option<Span>) -> Span {
        let Settings { backoff_min, resume_backoff_max, resume_cycle, .. } = self.settings;
        let step = step.min(resume_backoff_max);
        let Some(up) = up else { return share.of(step) };
        let left = (resume_cycle - up).max(share.of(backoff_min));
        // Steps that are longer than the cycle have grown for long enough.
        let step = if step < resume_cycle { share.of(step) } else { step };
        step.min(left)
    }

    fn rate_limited(&mut self, now: Time) {
        let window = self.settings.grace_window;
        while self.rate_limits.front().is_some_and(|at| *at + window <= now) {
            self.rate_limits.pop_front();
        }
        let grace = self.settings.rate_limited_grace.min(GRACE_MAX) as usize;
        let wait = if self.rate_limits.len() < grace {
            let (low, high) = self.settings.grace_wait;
            self.jitter.between(low, high)
        } else {
            self.backoff.pin();
            self.rate_limits.pop_front();
            self.settings.rate_limited_cooldown
        };
        if grace > 0 {
            self.rate_limits.push_back(now);
        }
        let hold = Hold::new(now + wait, Why::Cooldown);
        self.retry = hold;
        self.identify = hold.later(self.identify);
    }

    fn invalid_session_wait(&mut self) -> Span {
        let (low, high) = self.settings.invalid_session_wait;
        self.jitter.between(low, high)
    }

    pub(super) fn share(&mut self) -> Share {
        let (low, high) = self.settings.jitter_ppm;
        self.jitter.share(low, high)
    }

    /// The session is gone. Its bot is told, unless it asked for another already.
    pub(super) fn lose_session(&mut self) {
        self.failed_resumes = 0;
        if self.session.take().is_some() {
            self.emit(Output::SaveSession(None));
            if !self.fresh {
                self.emit(Output::Lost);
            }
        }
    }

    /// Nothing more until re-armed.
    pub(super) fn halt(&mut self, reason: StopReason) {
        self.fresh = false;
        self.announced = None;
        if reason != StopReason::Budget {
            self.failed_resumes = 0;
            if self.session.take().is_some() {
                self.emit(Output::SaveSession(None));
            }
        }
        self.run = Run::Stopped(reason);
        self.emit(Output::Stopped(reason));
    }

    pub(super) fn save(&mut self, now: Time) {
        if let Some(session) = &self.session {
            let stored = session.store(self.backoff.step(), now);
            self.emit(Output::SaveSession(Some(stored)));
        }
    }

    /// Gives the grant back, where one is held.
    pub(super) fn release(&mut self) {
        if let Line::Held { grant, written, .. } = self.line {
            self.line = Line::Out;
            self.emit(Output::ReleaseGrant { grant, unused: !written });
        }
    }

    /// Closes the living connection for a reason of ours; nothing is waited for.
    pub(super) fn close(&mut self, code: u16) {
        if let Some(Connection { generation, .. }) = self.connection.take() {
            self.newer = false;
            self.emit(Output::Close { generation, code });
        }
        self.release();
    }

    /// Takes a step for a person's or a bot's haste, not for a connection's end.
    pub(super) fn step_for_haste(&mut self, now: Time) {
        let step = self.backoff.take();
        let until = now + self.share().of(step);
        self.identify = self.identify.later(Hold::new(until, Why::Backoff));
    }

    /// A beat that Discord asked for. It says nothing about the regular ones.
    pub(super) fn beat_asked(&mut self) {
        let seq = self.session.as_ref().map(|session| session.seq);
        if let Some(connection) = &mut self.connection {
            connection.last_op = Some(OP_HEARTBEAT);
            let generation = connection.generation;
            self.emit(Output::Beat { generation, seq });
        }
    }
}
