//! What a bot, a person and the identify queue tell.

use super::connection::{Connection, Stage};
use super::end::{KEEP, LOG_OUT};
use super::hold::Hold;
use super::io::{End, Grant, Note, Output, StopReason, Why};
use super::line::Line;
use super::settings::OnBudgetGone;
use super::{Run, Shard};
use crate::discord::Fatal;
use crate::time::{Span, Time};

impl Shard {
    pub(super) fn start(&mut self, now: Time) {
        match self.run {
            Run::Off => self.go(now),
            Run::On => {}
            Run::Stopped(reason) => self.emit(Output::Stopped(reason)),
        }
    }

    /// Off no more. What was left of a stored backoff goes on: a crash loop of ours is a loop too.
    fn go(&mut self, now: Time) {
        self.run = Run::On;
        if let Some(at) = self.stored_at.take()
            && let Some(last) = self.backoff.step().checked_sub(1)
        {
            let wait = self.backoff.wait(last);
            let until = at.min(now) + self.share().of(wait);
            self.identify = self.identify.later(Hold::new(until, Why::Backoff));
        }
    }

    /// A bot's IDENTIFY.
    pub(super) fn bot_identifies(&mut self, now: Time, differs: bool) {
        match self.run {
            Run::On => {}
            Run::Off => self.go(now),
            Run::Stopped(StopReason::Budget) => match self.parked.filter(|until| *until > now) {
                Some(until) => {
                    self.emit(Output::Note(Note::NotYet { until, why: Why::Budget }));
                    return;
                }
                None => self.run = Run::On,
            },
            Run::Stopped(StopReason::Fatal(_)) => {
                self.run = Run::On;
                if differs {
                    self.skip_backoff(now);
                }
            }
        }
        if self.connection.is_some() && self.session.is_none() && !self.awaits_grant() {
            // The last one is on its way. Another is another session, once that one is answered.
            self.newer |= differs;
        } else if !self.fresh {
            self.want_fresh(now);
        }
    }

    /// A new session is wanted in the place of the one that may be there.
    pub(super) fn want_fresh(&mut self, now: Time) {
        self.fresh = true;
        let Some(session) = &self.session else { return };
        let living = self.connection.is_some();
        let young = living && session.born.is_some_and(|born| now < born + self.settings.stable_after);
        let again = self.replaced.is_some_and(|at| now < at + self.settings.replace_window);
        if young || again {
            // Sessions that live just long enough to be stable must not be replaced for ever at the first step.
            self.backoff.raise(self.replace_step);
            self.step_for_haste(now);
            self.replace_step = self.backoff.step();
        } else {
            self.replace_step = 0;
        }
        if !living {
            self.replace(now);
        }
    }

    /// The old session makes way.
    fn replace(&mut self, now: Time) {
        self.close(KEEP);
        self.lose_session();
        self.replaced = Some(now);
    }

    pub(super) fn next_in_line(&mut self, at: Time) {
        if let Line::In { due } = &mut self.line {
            *due = Some(at);
        }
    }

    pub(super) fn granted(&mut self, now: Time, grant: Grant) {
        let wanted = match self.line {
            Line::Out => false,
            Line::In { .. } => true,
            // A newer one for the same place; the older goes back.
            Line::Held { grant: held, written, .. } => !written && held != grant,
        };
        let wanted = wanted && self.run == Run::On && self.wants_identify() && !self.identify_hold().holds(now);
        let usable = self.replacing() || (self.session.is_none() && (self.connection.is_none() || self.awaits_grant()));
        if !(wanted && usable) {
            if let Line::In { .. } = self.line {
                self.line = Line::Out;
            }
            let ours = matches!(self.line, Line::Held { grant: held, .. } if held == grant);
            if !ours {
                self.emit(Output::ReleaseGrant { grant, unused: true });
            }
            return;
        }
        self.release();
        if self.replacing() {
            self.replace(now);
        }
        self.line = Line::Held { grant, since: now, written: false };
        self.identify(now);
    }

    pub(super) fn denied(&mut self, now: Time, refresh_at: Time) {
        let Line::In { .. } = self.line else { return };
        self.line = Line::Out;
        let wanted = self.run == Run::On && self.wants_identify() && (self.session.is_none() || self.fresh);
        if !wanted {
            return;
        }
        match self.settings.on_budget_gone {
            OnBudgetGone::Park => {
                if self.awaits_grant() {
                    self.close(KEEP);
                }
                let spread = self.jitter.between(Span::ZERO, self.settings.spacing);
                self.parked = Some(refresh_at.max(now) + spread);
            }
            OnBudgetGone::Stop => {
                self.parked = Some(refresh_at);
                let living = self.connection.is_some();
                self.close(KEEP);
                if living {
                    self.save(now);
                }
                self.halt(StopReason::Budget);
            }
        }
    }

    /// Some session starts are left.
    pub(super) fn budget(&mut self, now: Time) {
        let Some(until) = self.parked else { return };
        self.parked = Some(match self.run {
            Run::Stopped(_) | Run::Off => until.min(now),
            Run::On => until.min(now + self.jitter.between(Span::ZERO, self.settings.spacing)),
        });
    }

    pub(super) fn unauthorized(&mut self, now: Time) {
        if let Run::Stopped(StopReason::Fatal(_)) = self.run {
            return;
        }
        self.close(KEEP);
        self.step_for_haste(now);
        self.halt(StopReason::Fatal(Fatal::AuthenticationFailed));
    }

    pub(super) fn stop(&mut self, now: Time) {
        let living = self.connection.is_some();
        self.close(KEEP);
        self.fresh = false;
        if living {
            self.save(now);
        }
        self.turn_off();
    }

    pub(super) fn log_out(&mut self) {
        self.close(LOG_OUT);
        // Who ends the session knows that it is gone.
        self.fresh = true;
        self.lose_session();
        self.fresh = false;
        self.turn_off();
    }

    pub(super) fn rewind(&mut self, now: Time, seq: u64) {
        let Some(session) = &mut self.session else { return };
        session.rewind(seq);
        // Who wanted another session has made way for one that wants this.
        self.fresh = false;
        let asked = |connection: &Connection| matches!(connection.stage, Stage::Resuming(_) | Stage::Live(_));
        if self.connection.as_ref().is_some_and(asked) {
            // A bot that cannot cope with what it is given again, and comes back for it, must not make a loop of dials.
            self.end(now, End::Reconnect);
        }
        self.start(now);
    }

    fn turn_off(&mut self) {
        self.announced = None;
        if self.run == Run::On {
            self.run = Run::Off;
        }
    }

    /// A person wants it to go.
    pub(super) fn restart(&mut self, now: Time) {
        let cooling = [self.retry, self.identify].into_iter().find(|hold| hold.cools(now));
        let parked = self.parked.filter(|until| *until > now).map(|until| Hold::new(until, Why::Budget));
        let waits = match self.run {
            Run::Off => return,
            Run::On => self.plan().is_some(),
            Run::Stopped(_) => true,
        };
        if !waits {
            return;
        }
        if let Some(Hold { until, why }) = cooling.or(parked) {
            self.emit(Output::Note(Note::NotYet { until, why }));
            return;
        }
        if let Run::Stopped(_) = self.run {
            self.run = Run::On;
            self.backoff.reset();
            self.failed_resumes = 0;
            self.replace_step = 0;
            self.reconnected_at_once = false;
            self.instability.reset();
        }
        self.skip_backoff(now);
    }

    /// Nothing that a person or another IDENTIFY may end holds any longer.
    fn skip_backoff(&mut self, now: Time) {
        for hold in [&mut self.retry, &mut self.identify] {
            if !hold.cools(now) {
                *hold = Hold::NONE;
            }
        }
    }
}
