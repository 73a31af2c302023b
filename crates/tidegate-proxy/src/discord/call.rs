//! What one call is: its route, its row, what it changes, how long it may be held.

use std::borrow::Cow;
use std::fmt;

use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Parts;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use tidegate_core::discord::Route;
use tidegate_core::governor::{Ticket, Write};
use tidegate_core::policy::{Call as Called, Policy};
use tidegate_core::{Peer, Span, UNKNOWN_FIELDS, field};

use super::{answer, hold};
use crate::budget::Reserved;
use crate::headers::Asked;
use crate::pipeline::asking::{Asking, Library};
use crate::pipeline::intake::{Intake, Wrong, in_time};
use crate::reply::Reply;
use crate::request_body::RequestBody;
use crate::settings::Settings;
use crate::upstream::Payload;
use tidegate_net::keyed;

/// What is known of a call before it is decided.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(super) route: Route,
    pub(super) asking: Asking,
    pub(super) peer: Option<Peer>,
    /// Hashes of what an edit names; `None` where that cannot be told, and matters.
    fields: Option<Box<[u64]>>,
}

impl Facts {
    /// Reads what the decision needs of a call; the error is its answer.
    pub(super) async fn read(
        (policy, config): (&Policy, &Settings),
        mut route: Route,
        head: &Parts,
        asked: &Asked,
        body: RequestBody,
        reserved: &mut Reserved,
    ) -> Result<(Self, Payload), Box<Reply>> {
        let mut intake = Intake::new(body, reserved);
        let reading = in_time(config.bounds.decision_timeout, intake.up_to(config.bounds.body_max));
        let late = Wrong::Request(StatusCode::REQUEST_TIMEOUT, "the body did not come");
        reading.await.unwrap_or(Err(late)).map_err(answer::wrong)?;
        let payload = intake.into_payload();
        let mut fields = None;
        if head.method == hyper::Method::PATCH
            && let Some(keys) = keys(head, &payload)
        {
            fields = Some(keys.0.iter().map(|key| field(key)).collect());
            route = route.with_fields(keys.0.iter().map(AsRef::as_ref));
        }
        let named = asked.peer.as_ref().and_then(|peer| peer.to_str().ok()).map(Peer::parse);
        let peer = route.peer.clone().or(named);
        let row =
            policy.row_of(&Called { method: &route.template, has_chat: peer.is_some(), rich: false, paid: false });
        let agent = head.headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
        let timeout = || Library::GivesUp(hold::timeout(agent));
        let library = config.discord.auto_hold.map_or_else(timeout, Library::Holds);
        if fields.is_none() && !policy.row(row).merges() {
            fields = Some(Box::default());
        }
        let bad = |reason| answer::wrong(Wrong::Request(StatusCode::BAD_REQUEST, reason));
        let asking = Asking::new(row, library, asked).map_err(bad)?;
        Ok((Self { route, asking, peer, fields }, payload))
    }

    pub(super) fn write(&self, ticket: Ticket, slow: Span) -> Write {
        Write {
            ticket,
            row: self.asking.row,
            method: self.route.method,
            peer: self.peer.clone(),
            wider: self.route.webhook,
            thread: None,
            message: self.route.message,
            class: self.asking.class,
            weight: 1,
            // What cannot be told may be anything; it covers nothing and is covered by nothing.
            fields: self.fields.clone().unwrap_or_else(|| Box::new([UNKNOWN_FIELDS, keyed(ticket.0)])),
            max_hold: self.asking.max_hold,
            auto_hold: Some(self.asking.library.hold(slow)),
        }
    }
}

/// The top-level keys of a JSON object.
struct Keys<'a>(Vec<Cow<'a, str>>);

fn keys<'a>(head: &Parts, payload: &'a Payload) -> Option<Keys<'a>> {
    let Payload::Whole(body) = payload else { return None };
    let kind = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("application/json");
    if head.headers.contains_key(CONTENT_ENCODING) || !kind.to_ascii_lowercase().contains("json") {
        return None;
    }
    serde_json::from_slice(body).ok()
}

impl<'de: 'a, 'a> Deserialize<'de> for Keys<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Keys<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys<'de>, A::Error> {
                const MOST: usize = 64;
                let mut keys = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    map.next_value::<IgnoredAny>()?;
                    if keys.len() >= MOST {
                        return Err(A::Error::custom("too many keys"));
                    }
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// Borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
