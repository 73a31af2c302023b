//! What a trace tells a governor.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tidegate_core::discord::Headers;
use tidegate_core::governor::{Answer, Class, Input, RefusedScope, Scope, Ticket};
use tidegate_core::{MethodKey, Peer, Span, Time};

use crate::line::{Millis, Name};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Write(Write),
    Done(Done),
    Refused(Refused),
    Deferred(Deferred),
    Cancel(Cancel),
    Cooldown(Cooldown),
    Learned(Learned),
    Migrate(Migrate),
    Set(Map<String, Value>),
    Tick,
    Query(Query),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    #[serde(deserialize_with = "ticket")]
    pub(super) ticket: Ticket,
    pub(super) method: String,
    pub(super) peer: Option<Name>,
    pub(super) thread: Option<i64>,
    pub(super) message: Option<Name>,
    pub(super) class: Option<String>,
    #[serde(default = "one")]
    pub(super) weight: u32,
    #[serde(default)]
    pub(super) fields: Vec<String>,
    pub(super) max_hold_ms: Option<Millis>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    #[serde(deserialize_with = "ticket")]
    ticket: Ticket,
    result: Ended,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    Ok,
    Transient,
    Permanent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    #[serde(deserialize_with = "ticket")]
    ticket: Ticket,
    retry_after_ms: Option<Millis>,
    scope: Option<ScopeName>,
}

/// Discord's own words beside the gate's.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScopeName {
    #[serde(alias = "global")]
    Bot,
    Peer,
    Method,
    #[serde(alias = "route", alias = "user")]
    PeerMethod,
    Shared,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deferred {
    #[serde(deserialize_with = "ticket")]
    ticket: Ticket,
    bucket: String,
    until_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cancel {
    #[serde(deserialize_with = "ticket")]
    ticket: Ticket,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cooldown {
    scope: ScopeName,
    for_ms: Millis,
    peer: Option<Name>,
    method: Option<String>,
}

/// What an answer's headers teach.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Learned {
    #[serde(deserialize_with = "ticket")]
    ticket: Ticket,
    hash: String,
    limit: u32,
    remaining: u32,
    reset_after_ms: Millis,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Migrate {
    from: Name,
    to: Name,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Query {
    Peers,
    Counters,
}

fn ticket<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Ticket, D::Error> {
    u64::deserialize(deserializer).map(Ticket)
}

pub(super) fn class(name: &str) -> Result<Class, String> {
    Class::parse(name).ok_or_else(|| {
        let known: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        format!("class: \"{name}\" is none of {}, chrome", known.join(", "))
    })
}

impl Line {
    /// What the gate is told by a line that says it all.
    pub(super) fn into_input(self, method: impl Fn(&str) -> MethodKey) -> Result<Input, String> {
        Ok(match self {
            Self::Write(_) | Self::Set(_) | Self::Tick => Input::Tick,
            Self::Learned(Learned { ticket, hash, limit, remaining, reset_after_ms }) => {
                let reset_after = Span::from_millis(reset_after_ms.0);
                let headers = Headers { hash: MethodKey::of(&hash).0, limit, remaining, reset_after };
                Input::Learned { ticket, headers: Some(headers) }
            }
            Self::Done(Done { ticket, result }) => Input::Done {
                ticket,
                result: match result {
                    Ended::Ok => Answer::Ok,
                    Ended::Transient => Answer::Transient,
                    Ended::Permanent => Answer::Permanent,
                },
            },
            Self::Refused(Refused { ticket, retry_after_ms, scope }) => Input::Refused {
                ticket,
                retry_after: retry_after_ms.map(|ms| Span::from_millis(ms.0)),
                scope: scope.map(|scope| match scope {
                    ScopeName::Bot => RefusedScope::Bot,
                    ScopeName::Peer => RefusedScope::Peer,
                    ScopeName::Method => RefusedScope::Method,
                    ScopeName::PeerMethod => RefusedScope::PeerMethod,
                    ScopeName::Shared => RefusedScope::Wider,
                }),
            },
            Self::Deferred(Deferred { ticket, bucket, until_ms }) => {
                Input::Deferred { ticket, bucket: bucket.into(), until: Time::from_millis(until_ms.0) }
            }
            Self::Cancel(Cancel { ticket }) => Input::Cancel { ticket },
            Self::Cooldown(line) => {
                Input::Cooldown { duration: Span::from_millis(line.for_ms.0), scope: line.into_scope(method)? }
            }
            Self::Migrate(Migrate { from, to }) => {
                Input::Migrate { from: Peer::parse(&from.0), to: Peer::parse(&to.0) }
            }
            Self::Query(Query::Peers) => Input::QueryPeers,
            Self::Query(Query::Counters) => Input::QueryCounters,
        })
    }
}

impl Cooldown {
    fn into_scope(self, key: impl Fn(&str) -> MethodKey) -> Result<Scope, String> {
        let named = (self.scope, self.peer, self.method);
        Ok(match named {
            (ScopeName::Bot, None, None) => Scope::Bot,
            (ScopeName::Peer, Some(peer), None) => Scope::Peer(Peer::parse(&peer.0)),
            (ScopeName::Method, None, Some(method)) => Scope::Method(key(&method)),
            (ScopeName::PeerMethod, Some(peer), Some(method)) => Scope::PeerMethod(Peer::parse(&peer.0), key(&method)),
            _ => {
                let expected = "scope bot alone, peer with \"peer\", method with \"method\", peer_method with both";
                return Err(format!("cooldown: expected {expected}"));
            }
        })
    }
}
