//! What Telegram's calls bring to the life of a governed call.

use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::{Method, Response};
use tidegate_core::governor::{self, Write};
use tidegate_core::policy::{DropAnswer, Row};
use tidegate_core::{Peer, Span};

use super::call::Facts;
use super::reply::Reply;
use super::{answer, judge, message};
use crate::body::Body;
use crate::bots::InUse;
use crate::client_connection::Connection;
use crate::headers::Asked;
use crate::pipeline::asking::Asking;
use crate::pipeline::edge::Edge;
use crate::pipeline::{self, Governed, Own, Platform, Verdict};
use crate::request_body::RequestBody;

/// Answers a call of a method other than a long poll.
pub(super) async fn serve(
    edge: &Arc<Edge>,
    connection: Arc<Connection>,
    bot: InUse,
    method: &str,
    head: Parts,
    asked: &Asked,
    body: RequestBody,
) -> Result<Response<Body>, Box<Reply>> {
    let shared = &connection.shared;
    let surfaces = edge.surfaces();
    let mut buffered = shared.buffers.reserve();
    let (facts, payload) =
        Facts::read(&surfaces.policy, &shared.config, method, &head, asked, body, &mut buffered).await?;
    Ok(pipeline::serve(connection, Arc::clone(edge), bot, surfaces, head, facts, (payload, buffered)).await)
}

impl Platform for Facts {
    type Edge = Edge;

    fn own(own: Own) -> Reply {
        match own {
            Own::Refusal(wait) => answer::refusal(wait),
            Own::Busy => answer::busy(),
            Own::Unauthorized => answer::unauthorized(),
            Own::Unreachable => answer::unavailable("Telegram cannot be reached", false),
            Own::Unknown => answer::unavailable("Telegram gave no answer; the call may have taken effect", true),
        }
    }

    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn asking_mut(&mut self) -> &mut Asking {
        &mut self.asking
    }

    fn peer(&self) -> Option<&Peer> {
        self.args.peer()
    }

    fn write(&self, ticket: governor::Ticket, slow: Span) -> Write {
        Self::write(self, ticket, slow)
    }

    /// A name's answer tells its chat, an edit's the message.
    fn reads(&self, row: &Row) -> bool {
        matches!(self.args.peer(), Some(Peer::Name(_))) || row.merges()
    }

    fn is_idempotent(call: &Governed<Self>) -> bool {
        call.row().is_free() && matches!(call.head.method, Method::GET | Method::HEAD | Method::PUT | Method::DELETE)
    }

    fn judge(call: &Governed<Self>, reply: &Reply) -> Verdict {
        judge::judge(call, reply)
    }

    fn dropped(call: &Governed<Self>, answer: DropAnswer) -> Reply {
        match answer {
            DropAnswer::Message => Self::stand_in(call),
            DropAnswer::True | DropAnswer::NoContent => answer::success("true"),
        }
    }

    fn stand_in(call: &Governed<Self>) -> Reply {
        let kept = match (call.facts.args.peer(), call.facts.args.message) {
            (Some(peer), Some(message)) => call.bot().memory.message(peer, message),
            _ => None,
        };
        let query = call.head.uri.query().unwrap_or_default();
        answer::success(&message::result(&call.facts, query, &call.payload, kept.as_deref()))
    }
}
