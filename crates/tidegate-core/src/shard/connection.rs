//! One connection: all of its timers and all that is known of it, gone when it is.

use super::io::{End, Generation};
use super::settings::Settings;
use crate::time::{Span, Time};

/// The codes of frames that a shard itself sends: <https://discord.com/developers/docs/topics/opcodes-and-status-codes>.
pub(super) const OP_HEARTBEAT: u8 = 1;
pub(super) const OP_IDENTIFY: u8 = 2;
pub(super) const OP_RESUME: u8 = 6;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not open yet.
    Dialing,
    /// Open, HELLO awaited.
    Open,
    /// HELLO came; a grant is awaited.
    Greeted,
    /// IDENTIFY written.
    Identifying(Asked),
    /// RESUME written.
    Resuming(Asked),
    /// READY or RESUMED.
    Live(Live),
}

/// An IDENTIFY or RESUME that awaits its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    since: Time,
    last_sign: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) since: Time,
    /// A heartbeat was acknowledged since.
    pub(super) acked: bool,
    pub(super) stable: bool,
}

#[derive(Clone, Copy, Debug)]
struct Heart {
    interval: Span,
    next: Time,
    /// Regular beats since the last ACK.
    missed: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Connection {
    pub(super) generation: Generation,
    pub(super) stage: Stage,
    pub(super) last_op: Option<u8>,
    dialled: Time,
    heart: Option<Heart>,
}

/// What a connection's clocks ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Beat,
    End(End),
}

impl Connection {
    pub(super) fn new(generation: Generation, dialled: Time) -> Self {
        Self { generation, stage: Stage::Dialing, last_op: None, dialled, heart: None }
    }

    /// Whether READY or RESUMED came.
    pub(super) fn live(&self) -> Option<Live> {
        match self.stage {
            Stage::Live(live) => Some(live),
            Stage::Dialing | Stage::Open | Stage::Greeted | Stage::Identifying(_) | Stage::Resuming(_) => None,
        }
    }

    /// Whether HELLO is still to come.
    pub(super) fn before_hello(&self) -> bool {
        match self.stage {
            Stage::Dialing | Stage::Open => true,
            Stage::Greeted | Stage::Identifying(_) | Stage::Resuming(_) | Stage::Live(_) => false,
        }
    }

    pub(super) fn greeted(&mut self, interval: Span, first_beat: Time) {
        self.stage = Stage::Greeted;
        self.heart = Some(Heart { interval, next: first_beat, missed: 0 });
    }

    pub(super) fn asked(&mut self, now: Time, op: u8) {
        let asked = Asked { since: now, last_sign: now };
        self.last_op = Some(op);
        self.stage = if op == OP_RESUME { Stage::Resuming(asked) } else { Stage::Identifying(asked) };
    }

    pub(super) fn went_live(&mut self, now: Time) {
        self.stage = Stage::Live(Live { since: now, acked: false, stable: false });
    }

    pub(super) fn acked(&mut self) {
        if let Some(heart) = &mut self.heart {
            heart.missed = 0;
        }
        if let Stage::Live(live) = &mut self.stage {
            live.acked = true;
        }
    }

    /// Discord is slow, not gone.
    pub(super) fn sign_of_life(&mut self, now: Time) {
        if let Stage::Identifying(asked) | Stage::Resuming(asked) = &mut self.stage {
            asked.last_sign = now;
        }
    }

    /// A regular beat is written now.
    pub(super) fn beat(&mut self, now: Time) {
        self.last_op = Some(OP_HEARTBEAT);
        if let Some(heart) = &mut self.heart {
            heart.missed = heart.missed.saturating_add(1);
            heart.next = now + heart.interval;
        }
    }

    /// What is due first, and when.
    pub(super) fn next(&self, settings: &Settings) -> Option<(Time, Due)> {
        let watchdog = match self.stage {
            Stage::Dialing | Stage::Open => Some(self.dialled + settings.connect_watchdog),
            Stage::Identifying(asked) | Stage::Resuming(asked) => {
                Some((asked.last_sign + settings.connect_watchdog).min(asked.since + settings.ready_watchdog))
            }
            Stage::Greeted | Stage::Live(_) => None,
        };
        let watchdog = watchdog.map(|at| (at, Due::End(End::Watchdog)));
        let heart = self.heart.map(|heart| {
            let zombie = heart.missed >= settings.ack_tolerance.max(1);
            (heart.next, if zombie { Due::End(End::Zombie) } else { Due::Beat })
        });
        watchdog.into_iter().chain(heart).min_by_key(|(at, _)| *at)
    }
}
