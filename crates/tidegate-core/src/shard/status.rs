//! What a shard does at the moment, for people.

use super::connection::Stage;
use super::io::{Generation, Grant, Reason, StopReason, Why};
use super::line::Line;
use super::{Run, Shard};
use crate::time::Time;

/// What a shard does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Not started, or told to disconnect.
    Off,
    /// No session, and nobody asked for one.
    NotAsked,
    /// Waiting.
    Waiting {
        /// Until then.
        until: Time,
        /// Why.
        why: Why,
    },
    /// In the identify queue.
    InLine,
    /// Dialling, or HELLO has not come.
    Connecting,
    /// Open, in the identify queue.
    AwaitingGrant,
    /// IDENTIFY was written.
    Identifying,
    /// RESUME was written.
    Resuming,
    /// READY or RESUMED.
    Live,
    /// Until re-armed.
    Stopped(StopReason),
}

impl Shard {
    /// What it does at the moment.
    pub fn status(&self) -> Status {
        match self.run {
            Run::Off => return Status::Off,
            Run::Stopped(reason) => return Status::Stopped(reason),
            Run::On => {}
        }
        if let Some(connection) = &self.connection {
            return match connection.stage {
                Stage::Dialing | Stage::Open => Status::Connecting,
                Stage::Greeted => Status::AwaitingGrant,
                Stage::Identifying(_) => Status::Identifying,
                Stage::Resuming(_) => Status::Resuming,
                Stage::Live(_) => Status::Live,
            };
        }
        match self.plan() {
            Some(plan) => match plan.why {
                Reason::Wait(why) => Status::Waiting { until: plan.at, why },
                Reason::EarlyDial | Reason::Beat | Reason::Watchdog => Status::InLine,
            },
            None if self.session.is_some() || self.wants_identify() => Status::InLine,
            None => Status::NotAsked,
        }
    }

    /// The living connection, where there is one.
    pub fn living(&self) -> Option<Generation> {
        self.connection.as_ref().map(|connection| connection.generation)
    }

    /// The grant that it holds, used or not.
    pub fn grant(&self) -> Option<Grant> {
        match self.line {
            Line::Held { grant, .. } => Some(grant),
            Line::Out | Line::In { .. } => None,
        }
    }

    /// Whether it asked for a grant and has no answer yet.
    pub fn in_line(&self) -> bool {
        matches!(self.line, Line::In { .. })
    }

    /// Whether its session is live and has been for long enough.
    pub fn is_stable(&self) -> bool {
        self.connection.as_ref().and_then(super::connection::Connection::live).is_some_and(|live| live.stable)
    }

    /// The session's id and last number, where there is one.
    pub fn session(&self) -> Option<(&str, u64)> {
        self.session.as_ref().map(|session| (&*session.id, session.seq))
    }

    /// Backoff steps taken since it started over.
    pub fn backoff_step(&self) -> u32 {
        self.backoff.step()
    }
}
