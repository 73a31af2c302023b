//! A stream of made-up messages.

use std::sync::Arc;
use std::time::Duration;

use super::dispatch::To;
use super::model::Model;
use super::objects;
use super::session::mix;
use super::timers::Due;
use crate::discord::snowflake;
use crate::time::micros;

/// So many messages a second for each session that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Whose sessions.
    pub to: To,
    /// Messages a second (platform time), up to 1,000,000.
    pub per_second: u64,
    /// Bytes of a message, about: from and to.
    pub bytes: (usize, usize),
    /// How long.
    pub lasts: Duration,
}

pub(crate) struct Running {
    load: Load,
    began_us: u64,
    sent: u64,
}

/// Streams at once.
pub(crate) const LOADS_MAX: usize = 64;
/// Messages come in batches this far apart.
const STEP_US: u64 = 5_000;

impl Model {
    /// Begins a stream; false if too many run already.
    pub fn load(&mut self, now: Duration, load: Load) -> bool {
        self.tick(now);
        self.begin(load)
    }

    pub(crate) fn begin(&mut self, load: Load) -> bool {
        if self.loads.len() >= LOADS_MAX {
            return false;
        }
        let load = Load { per_second: load.per_second.min(1_000_000), ..load };
        let running = Running { load, began_us: self.now_us, sent: 0 };
        self.numbers += 1;
        self.loads.insert(self.numbers, running);
        self.set_timer(self.now_us.saturating_add(STEP_US), Due::Load(self.numbers));
        true
    }

    pub(crate) fn load_due(&mut self, number: u64) {
        let Some(mut running) = self.loads.remove(&number) else { return };
        let load = running.load;
        let spent_us = (self.now_us - running.began_us).min(micros(load.lasts));
        let due = spent_us.saturating_mul(load.per_second) / 1_000_000;
        let event: Arc<str> = "MESSAGE_CREATE".into();
        let sessions = self.sessions_of(load.to);
        let unix_ms = self.settings.epoch_unix_ms.saturating_add(self.now_us / 1000);
        let (least, most) = (load.bytes.0.clamp(300, 4000), load.bytes.1.clamp(300, 4000));
        let span = most.saturating_sub(least) as u64 + 1;
        while running.sent < due {
            running.sent += 1;
            let id = snowflake::at(unix_ms, running.sent);
            let more = usize::try_from(mix(running.sent) % span).unwrap_or(0);
            let d = objects::filler(id, 1, 1, least + more, unix_ms);
            for session in &sessions {
                self.emit(*session, &event, &d);
            }
        }
        if spent_us < micros(load.lasts) {
            self.loads.insert(number, running);
            self.set_timer(self.now_us.saturating_add(STEP_US), Due::Load(number));
        }
    }
}
