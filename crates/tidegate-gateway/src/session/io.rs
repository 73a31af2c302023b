//! What goes into a session and what comes out of it.

use std::sync::Arc;

use tidegate_core::shard::{self, StopReason, Why};
use tidegate_core::{Span, Time};

use crate::close::Close;
use crate::frame::Identify;
use crate::ring::{Position, Replay, Ring};
use crate::settings::Settings;

/// The numbers of a session. Keys under `discord.gateway`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The session goes on so long without a bot.
    pub detach_timeout: Span,
    /// The same for a bot that logged out.
    pub logout_grace: Span,
    /// A place in the identify line outlives its bot's connection by this.
    pub place_hold: Span,
    /// A bot is told of longer waits.
    pub quiet_max: Span,
    /// This takeover within the window has to wait.
    pub takeover_most: usize,
    /// The window.
    pub takeover_window: Span,
    /// How long it has to wait.
    pub takeover_wait: Span,
}

impl From<&Settings> for Times {
    fn from(settings: &Settings) -> Self {
        Self {
            detach_timeout: settings.detach_timeout.into(),
            logout_grace: settings.logout_grace.into(),
            place_hold: settings.place_hold.into(),
            quiet_max: settings.quiet_max.into(),
            takeover_most: settings.takeover.most,
            takeover_window: settings.takeover.window.into(),
            takeover_wait: settings.takeover.wait.into(),
        }
    }
}

/// What a session has to know of its ring.
pub trait Tape {
    /// Whether it holds READY and everything since.
    fn is_complete(&self) -> bool;
    /// Where a bot goes on that has had all up to `seq`.
    fn replay(&self, seq: u64) -> Replay;
}

impl Tape for Ring {
    fn is_complete(&self) -> bool {
        Ring::is_complete(self)
    }

    fn replay(&self, seq: u64) -> Replay {
        Ring::replay(self, seq)
    }
}

/// What happened. Bots are told apart by numbers.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "a variant says what its fields are")]
pub enum Input {
    /// A bot wants a new session.
    Identify { bot: u64, identify: Arc<Identify> },
    /// A bot wants this session, which it named by its id, from behind `seq` on.
    Resume { bot: u64, seq: u64 },
    /// A bot's connection is gone: closed by it with a code, or else.
    Left { bot: u64, code: Option<u16> },
    /// The shard asks for a grant or dials.
    Going,
    /// The shard waits.
    Waiting { until: Time, why: Why },
    /// The shard stopped.
    Stopped(StopReason),
    /// READY came, and is the first in the ring.
    Ready { session: Box<str> },
    /// Discord's own RESUMED came.
    Resumed,
    /// The shard's session is gone.
    Lost,
    /// Time has passed.
    Tick,
}

/// What to do.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "a variant says what its fields are")]
pub enum Order {
    /// Tell a bot.
    Tell { bot: u64, word: Word },
    /// Tell the shard.
    Shard(shard::Input),
    /// Let the shard RESUME as if `seq` was the last that came. The ring begins there.
    Reopen { seq: u64 },
    /// The ring holds nothing of use any more.
    Clear,
    /// Nobody has wanted it for long: drop it, its ring and its shard.
    Forget,
}

/// What a bot is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// READY and what follows, from the ring's start.
    Begin,
    /// What stands in the ring from there on; RESUMED once all that is there now was said.
    Replay(Position),
    /// What comes into the ring from its start on.
    Follow,
    /// RESUMED, once all that is there now was said.
    Resumed,
    /// Op 9 false.
    Invalid,
    /// Goodbye.
    Close(Close),
}
