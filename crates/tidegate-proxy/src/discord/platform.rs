//! What Discord's calls bring to the life of a governed call.

use bytes::Bytes;
use hyper::header::HeaderValue;
use hyper::{HeaderMap, Method, StatusCode};
use tidegate_core::governor::{self, Input, Write};
use tidegate_core::policy::{DropAnswer, Row};
use tidegate_core::{Peer, Span};

use super::address::Barrier;
use super::call::Facts;
use super::response::{self, Scope};
use super::{Edge, answer, judge, kind, message};
use crate::pipeline::asking::Asking;
use crate::pipeline::{Barred, Governed, Own, Platform, Verdict};
use crate::reply::Reply;
use tidegate_net::keyed;

impl Platform for Facts {
    type Edge = Edge;

    fn own(own: Own) -> Reply {
        match own {
            Own::Refusal(wait) => answer::refused(wait),
            Own::Busy => answer::busy(),
            Own::Unauthorized => answer::unauthorized(),
            Own::Unreachable => answer::unavailable("Discord cannot be reached", false),
            Own::Unknown => answer::unavailable("Discord gave no answer; the call may have taken effect", true),
        }
    }

    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn asking_mut(&mut self) -> &mut Asking {
        &mut self.asking
    }

    fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    fn write(&self, ticket: governor::Ticket, slow: Span) -> Write {
        Self::write(self, ticket, slow)
    }

    /// An edit's answer is the message, for those that will not be sent.
    fn reads(&self, row: &Row) -> bool {
        row.partial
    }

    fn is_idempotent(call: &Governed<Self>) -> bool {
        matches!(call.head.method, Method::GET | Method::HEAD | Method::PUT | Method::DELETE)
    }

    fn barred(call: &Governed<Self>) -> Option<Barred> {
        let route = &call.facts.route;
        let webhook = route.peer.as_ref().filter(|_| route.webhook.is_some());
        let address = &call.edge.address;
        Some(match address.barrier(call.now(), kind(call.bot(), route.method), webhook)? {
            Barrier::Ban(wait) | Barrier::Invalid(wait) => Barred::For(wait),
            Barrier::DeadWebhook => Barred::With(answer::unknown_webhook()),
        })
    }

    fn learn(call: &Governed<Self>, ticket: governor::Ticket, status: StatusCode, headers: &HeaderMap) {
        if call.row().is_free() {
            return;
        }
        let told = response::bucket(headers);
        // A refusal of another limit, and a failure, say nothing of this one.
        if told.is_none() && (status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()) {
            return;
        }
        call.bot().driver.tell(Input::Learned { ticket, headers: told });
        if let Some(bucket) = headers.get(answer::BUCKET) {
            call.edge.names.keep(call.facts.route.method, bucket);
        }
    }

    fn judge(call: &Governed<Self>, reply: &Reply) -> Verdict {
        judge::judge(call, reply)
    }

    fn worked(call: &Governed<Self>) {
        let shared = &call.connection.shared;
        call.edge.address.answered(call.now(), kind(call.bot(), call.facts.route.method), false);
        judge::standing(shared, &call.edge, call.bot(), StatusCode::OK);
    }

    async fn refusal(call: &Governed<Self>, wait: Span) -> Reply {
        let (now, edge) = (call.now(), &call.edge);
        let until = now + wait;
        let caller =
            keyed((call.bot().token.hash(), call.connection.client, call.facts.route.method, &call.facts.peer));
        let later = edge.repeats.refused(caller, now, until);
        if !later.is_zero() {
            tokio::time::sleep(call.connection.shared.clock.real(later)).await;
        }
        refused(call, until.since(call.now()))
    }

    /// A global one, or one that does not say whose it is, is answered by an instant storm by some libraries.
    fn passed_on(call: &Governed<Self>, reply: Reply) -> Reply {
        match response::refusal(&reply) {
            Some(refusal) if matches!(refusal.scope, Scope::Global | Scope::Unnamed) => {
                refused(call, refusal.retry_after.unwrap_or(answer::SOON))
            }
            Some(refusal) if refusal.scope == Scope::Ban => {
                let figures = call.edge.address.figures(call.now());
                refused(call, figures.banned.unwrap_or(answer::SOON))
            }
            _ => reply,
        }
    }

    fn dropped(call: &Governed<Self>, answer: DropAnswer) -> Reply {
        match answer {
            DropAnswer::Message => Self::stand_in(call),
            DropAnswer::True | DropAnswer::NoContent => answer::no_content(),
        }
    }

    fn stand_in(call: &Governed<Self>) -> Reply {
        let facts = &call.facts;
        let kept = match (&facts.peer, facts.route.message) {
            (Some(peer), Some(message)) => call.bot().memory.message(peer, message),
            _ => None,
        };
        answer::success(kept.unwrap_or_else(|| Bytes::from(message::made(call))))
    }
}

fn refused(call: &Governed<Facts>, wait: Span) -> Reply {
    let edge = &call.edge;
    let method = call.facts.route.method;
    let unknown = || HeaderValue::try_from(format!("{:032x}", method.0));
    let bucket = edge.names.of(method).or_else(|| unknown().ok());
    answer::refusal(wait, bucket.unwrap_or(HeaderValue::from_static("tidegate")), edge.unix_ms(call.now()))
}
