//! The bad days that users of other software had: what Discord, or the way to it, does to those who dial.

use tidegate_core::{Span, Time};

const HOUR: Span = Span::from_secs(3_600);
const TEN_MINUTES: Span = Span::from_secs(600);

/// How a dial goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dial {
    Fine,
    /// Answered with 503, or not at all.
    Refused,
    /// It opens, says nothing, and is closed.
    Silent {
        closes_after: Span,
        code: u16,
    },
}

/// What befalls a connection that has a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// Op 7.
    Reconnect,
    /// It is closed with a code or without.
    Drop { code: Option<u16>, keeps_session: bool },
}

/// One kind of bad day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weather {
    Fine,
    /// So long after each READY the connection is closed, and the session is gone.
    EndsSessions {
        after: Span,
    },
    /// The same, but a session can be resumed.
    EndsConnections {
        after: Span,
    },
    /// After an hour the connection is closed; until the 23rd hour no dial comes to HELLO.
    NoHello,
    /// After an hour the connection is closed; nobody answers any more where the session could be resumed.
    DeadResumeUrl,
    /// After an hour the network is away for a minute: dials fail at once.
    Away,
    /// After an hour, and every ten minutes then, op 7 to all that live; 10 ms later they are closed, or left open.
    Reconnects {
        times: u64,
        closes: bool,
    },
}

impl Weather {
    pub(super) fn dial(self, now: Time, resume: bool) -> Dial {
        let since_hour = now.since(Time::ZERO + HOUR);
        match self {
            Self::NoHello if since_hour > Span::ZERO && since_hour < HOUR.times(22) => {
                Dial::Silent { closes_after: Span::from_millis(1_000), code: 1005 }
            }
            Self::DeadResumeUrl if resume && since_hour > Span::ZERO => Dial::Refused,
            Self::Fine
            | Self::EndsSessions { .. }
            | Self::EndsConnections { .. }
            | Self::NoHello
            | Self::DeadResumeUrl
            | Self::Away
            | Self::Reconnects { .. } => Dial::Fine,
        }
    }

    /// Whether the network is away: a dial fails where it is made.
    pub(super) fn is_away(self, now: Time) -> bool {
        let since_hour = now.since(Time::ZERO + HOUR);
        self == Self::Away && since_hour > Span::ZERO && since_hour < Span::from_secs(60)
    }

    /// What befalls a connection that has had READY or RESUMED just now, and when.
    pub(super) fn live(self, now: Time) -> Vec<(Span, Blow)> {
        let until_hour = (Time::ZERO + HOUR).since(now);
        match self {
            Self::Fine => Vec::new(),
            Self::EndsSessions { after } => vec![(after, Blow::Drop { code: None, keeps_session: false })],
            Self::EndsConnections { after } => vec![(after, Blow::Drop { code: None, keeps_session: true })],
            Self::NoHello | Self::DeadResumeUrl | Self::Away => {
                let once =
                    (until_hour > Span::ZERO).then_some((until_hour, Blow::Drop { code: None, keeps_session: true }));
                once.into_iter().collect()
            }
            Self::Reconnects { times, closes } => {
                let waits = (0..times).map(|time| (Time::ZERO + HOUR + TEN_MINUTES.times(time)).since(now));
                let closed = |wait| {
                    let blow = Blow::Drop { code: Some(1000), keeps_session: true };
                    closes.then_some((wait + Span::from_millis(10), blow))
                };
                let to_come = waits.filter(|wait| *wait > Span::ZERO);
                to_come.flat_map(|wait| [Some((wait, Blow::Reconnect)), closed(wait)]).flatten().collect()
            }
        }
    }
}
