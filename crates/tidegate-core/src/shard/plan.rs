//! What a shard does next by itself. Derived from its state, so that there is never more than one pending reconnect.

use super::connection::{Connection, Due, Stage};
use super::hold::Hold;
use super::io::{Generation, Output, Reason, Why};
use super::line::Line;
use super::session::resume_address;
use super::{Run, Shard};
use crate::time::Time;

/// One thing to do, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) at: Time,
    pub(super) act: Act,
    /// Why not now.
    pub(super) why: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Dial,
    Request,
}

impl Shard {
    /// Whether a session start is wanted: always by an autonomous shard, else by a bot.
    pub(super) fn wants_identify(&self) -> bool {
        self.settings.autonomous || self.fresh
    }

    /// Whether the session that is there is to be replaced when the grant arrives.
    pub(super) fn replacing(&self) -> bool {
        self.fresh && self.session.is_some()
    }

    /// What holds the next IDENTIFY's request.
    pub(super) fn identify_hold(&self) -> Hold {
        let parked = self.parked.map_or(Hold::NONE, |until| Hold::new(until, Why::Budget));
        // The reconnect's own wait does not concern a shard that still has its old connection.
        let retry = if self.connection.is_some() { Hold::NONE } else { self.retry };
        self.identify.later(retry).later(parked)
    }

    pub(super) fn plan(&self) -> Option<Plan> {
        if self.run != Run::On {
            return None;
        }
        let after = |hold: Hold, act| Plan { at: hold.until, act, why: Reason::Wait(hold.why) };
        if self.session.is_some() && !self.fresh {
            return self.connection.is_none().then(|| after(self.retry, Act::Dial));
        }
        let identifying = self.connection.is_some() && !self.replacing();
        if identifying || !self.wants_identify() {
            return None;
        }
        let hold = self.identify_hold();
        let dial = self.connection.is_none();
        match self.line {
            Line::Out => Some(after(hold, Act::Request)),
            Line::In { due: Some(due) } if dial => {
                let early = due.before(self.settings.early_dial);
                Some(if early > hold.until {
                    Plan { at: early, act: Act::Dial, why: Reason::EarlyDial }
                } else {
                    after(hold, Act::Dial)
                })
            }
            Line::Held { .. } if dial => Some(after(hold, Act::Dial)),
            Line::In { .. } | Line::Held { .. } => None,
        }
    }

    /// Does what is due by its clocks, then what the plan says, or tells what it waits for.
    pub(super) fn proceed(&mut self, now: Time) {
        // At most one beat and one end, however late: a beat moves the next one past now.
        while let Some((at, due)) = self.connection.as_ref().and_then(|connection| connection.next(&self.settings))
            && at <= now
        {
            match due {
                Due::Beat => self.beat(now),
                Due::End(end) => self.end(now, end),
            }
        }
        match self.plan() {
            Some(Plan { at, act: Act::Dial, .. }) if at <= now => self.dial(now),
            Some(Plan { at, act: Act::Request, .. }) if at <= now => self.request(),
            Some(Plan { at, why: Reason::Wait(why), .. }) if at > now => {
                if self.announced != Some((at, why)) {
                    self.announced = Some((at, why));
                    self.emit(Output::Waiting { until: at, why });
                }
            }
            Some(_) | None => self.announced = None,
        }
    }

    fn beat(&mut self, now: Time) {
        let seq = self.session.as_ref().map(|session| session.seq);
        if let Some(connection) = &mut self.connection {
            connection.beat(now);
            let generation = connection.generation;
            self.emit(Output::Beat { generation, seq });
        }
    }

    fn dial(&mut self, now: Time) {
        self.announced = None;
        let generation = Generation(self.generation.0.saturating_add(1));
        self.generation = generation;
        let main = &self.settings.url;
        let url = match &self.session {
            Some(session) if !self.main_only => resume_address(main, &session.resume_url),
            Some(_) | None => main.clone(),
        };
        self.connection = Some(Connection::new(generation, now));
        self.emit(Output::Connect { generation, url });
    }

    pub(super) fn request(&mut self) {
        self.announced = None;
        self.parked = None;
        self.line = Line::In { due: None };
        self.emit(Output::RequestGrant);
    }

    /// When to be called again, and why.
    pub(super) fn next_call(&self) -> Option<(Time, Reason)> {
        let clock = self.connection.as_ref().and_then(|connection| connection.next(&self.settings)).map(|(at, due)| {
            let reason = match due {
                Due::Beat => Reason::Beat,
                Due::End(_) => Reason::Watchdog,
            };
            (at, reason)
        });
        let plan = self.plan().map(|plan| (plan.at, plan.why));
        clock.into_iter().chain(plan).min_by_key(|(at, _)| *at)
    }

    /// Whether a connection still waits for its grant.
    pub(super) fn awaits_grant(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| match connection.stage {
            Stage::Dialing | Stage::Open | Stage::Greeted => self.session.is_none(),
            Stage::Identifying(_) | Stage::Resuming(_) | Stage::Live(_) => false,
        })
    }
}
