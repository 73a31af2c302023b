//! What a trace tells an identify queue.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use tidegate_core::identify_queue::{GrantId, Input, SessionStartLimit, Shard, Start};
use tidegate_core::{Span, Time};

use crate::line::Millis;

const DAY_MS: i64 = 24 * 3_600 * 1_000;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Request(Request),
    Release(Release),
    Identified(Identified),
    Refresh(Refresh),
    Deferred(Deferred),
    Tick,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    shard: Shard,
    #[serde(default)]
    http: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Release {
    shard: Shard,
    grant: Option<u64>,
    #[serde(default)]
    unused: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identified {
    shard: Shard,
    grant: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refresh {
    max_concurrency: i64,
    remaining: i64,
    reset_at_ms: Moment,
    total: Option<i64>,
    shards: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deferred {
    shard: Shard,
    grant: u64,
    until_ms: Millis,
}

impl From<Line> for Input {
    fn from(line: Line) -> Self {
        match line {
            Line::Request(Request { shard, http }) => Self::Request { shard, http },
            Line::Release(Release { shard, grant, unused }) => {
                Self::Release { shard, grant: grant.map(GrantId), unused }
            }
            Line::Identified(Identified { shard, grant }) => Self::Identified { shard, grant: grant.map(GrantId) },
            Line::Refresh(Refresh { max_concurrency, remaining, reset_at_ms, total, shards }) => Self::Refresh {
                limit: SessionStartLimit { max_concurrency, remaining, reset_at: reset_at_ms.time() },
                total: total.map(count),
                shards: shards.map(count),
            },
            Line::Deferred(Deferred { shard, grant, until_ms }) => {
                Self::Deferred { shard, grant: GrantId(grant), until: Time::from_millis(until_ms.0) }
            }
            Line::Tick => Self::Tick,
        }
    }
}

/// A count off the wire: below 0 it is 0.
pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A moment in milliseconds that may lie before the trace's start. A fraction counts as a whole one.
#[derive(Clone, Copy, Default)]
pub(super) struct Moment(i64);

impl Moment {
    /// The start at the earliest.
    pub(super) fn time(self) -> Time {
        Time::from_millis(count(self.0))
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl Visitor<'_> for Visit {
            type Value = Moment;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a moment in milliseconds")
            }
            fn visit_i64<E: de::Error>(self, ms: i64) -> Result<Moment, E> {
                Ok(Moment(ms))
            }
            fn visit_u64<E: de::Error>(self, ms: u64) -> Result<Moment, E> {
                Ok(Moment(i64::try_from(ms).unwrap_or(i64::MAX)))
            }
            #[expect(clippy::cast_possible_truncation, reason = "held to i64's range by `as`")]
            fn visit_f64<E: de::Error>(self, ms: f64) -> Result<Moment, E> {
                Ok(Moment(ms.ceil() as i64))
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

/// A start that was kept: its moment, alone or with its shard.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a start as MS or as [MS, SHARD]")]
pub(super) enum KeptStart {
    At(Moment),
    Of(Moment, Shard),
}

impl KeptStart {
    pub(super) fn into_start(self) -> Start {
        let (Moment(at), shard) = match self {
            Self::At(at) => (at, None),
            Self::Of(at, shard) => (at, Some(shard)),
        };
        Start { lapses_at: Time::ZERO + Span::from_millis(count(at.saturating_add(DAY_MS))), shard }
    }
}
