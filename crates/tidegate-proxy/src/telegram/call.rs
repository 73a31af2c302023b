//! What one call is: its row, its peer, its body, how long it may be held.

use hyper::StatusCode;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Parts;
use tidegate_core::governor::{Ticket, Write};
use tidegate_core::policy::{BucketScope, Call as Called, Policy, RowId};
use tidegate_core::{MessageKey, MethodKey, Peer, Span};

use super::args::{Args, Format, Multipart, from_body, from_query};
use super::reply::Reply;
use super::{answer, hold};
use crate::budget::Reserved;
use crate::headers::Asked;
use crate::pipeline::asking::{Asking, Library};
use crate::pipeline::intake::{Intake, in_time};
use crate::request_body::RequestBody;
use crate::settings::{Bounds, Settings};
use crate::upstream::Payload;

/// An album that hides its media behind its files is as heavy as an album can be.
const HEAVIEST_ALBUM: u32 = 10;

/// What is known of a call before it is decided.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) method: MethodKey,
    pub(crate) asking: Asking,
    pub(crate) args: Args,
    pub(crate) format: Format,
    weight: u32,
    message: Option<MessageKey>,
}

impl Facts {
    /// Reads what the decision needs of a call; the error is its answer.
    pub(crate) async fn read(
        policy: &Policy,
        config: &Settings,
        method: &str,
        head: &Parts,
        asked: &Asked,
        body: RequestBody,
        reserved: &mut Reserved,
    ) -> Result<(Self, Payload), Box<Reply>> {
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let format = Format::of(header(CONTENT_TYPE), head.headers.contains_key(CONTENT_ENCODING));
        let mut args = Args::default();
        from_query(&mut args, head.uri.query().unwrap_or_default());
        let reading = body_of(policy, &config.bounds, method, &format, &mut args, Intake::new(body, reserved));
        let payload = in_time(config.bounds.decision_timeout, reading).await.unwrap_or_else(|| {
            Err(Box::new(answer::error(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body did not come")))
        })?;
        if args.peer().is_none() {
            args.chat = asked.peer.as_ref().and_then(|peer| peer.to_str().ok()).map(Peer::parse);
        }
        let paid = args.paid.unwrap_or(false);
        let row = policy.row_of(&Called { method, has_chat: args.peer().is_some(), rich: args.rich, paid });
        let timeout = || Library::GivesUp(hold::timeout(header(USER_AGENT)));
        let library = config.telegram.auto_hold.map_or_else(timeout, Library::Holds);
        let asking = Asking::new(row, library, asked).map_err(|reason| Box::new(answer::bad(reason)))?;
        let (weight, message) = (weight(method, &args, payload.is_whole()), message(policy, row, method, &args));
        let method = MethodKey::of(method);
        Ok((Self { method, asking, args, format, weight, message }, payload))
    }

    pub(crate) fn write(&self, ticket: Ticket, slow: Span) -> Write {
        Write {
            ticket,
            row: self.asking.row,
            method: self.method,
            peer: self.args.peer().cloned(),
            wider: None,
            thread: self.args.thread,
            message: self.message,
            class: self.asking.class,
            weight: self.weight,
            fields: Box::default(),
            max_hold: self.asking.max_hold,
            auto_hold: Some(self.asking.library.hold(slow)),
        }
    }
}

fn weight(method: &str, args: &Args, whole: bool) -> u32 {
    let weight = if method.eq_ignore_ascii_case("sendMediaGroup") {
        args.media.or((!whole).then_some(HEAVIEST_ALBUM))
    } else {
        args.messages
    };
    weight.unwrap_or(1).clamp(1, 100)
}

/// What an edit, a draft or a delete writes to. Other methods name messages that they only read.
fn message(policy: &Policy, row: RowId, method: &str, args: &Args) -> Option<MessageKey> {
    const HASHED: u64 = 1 << 63;
    if let Some(draft) = args.draft {
        // Each topic has drafts of its own.
        let thread =
            args.thread.map_or(0, |thread| thread.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) | HASHED);
        return Some(MessageKey(draft.0 ^ thread));
    }
    let method = MethodKey::of(method);
    let writes = policy.edits_message(row, method) || policy.deletes.contains(&method);
    args.message.filter(|_| writes)
}

/// Whether a call of this method must show its chat before it may leave.
fn needs_chat(policy: &Policy, method: &str) -> bool {
    let row = policy.row_of(&Called { method, has_chat: false, rich: false, paid: false });
    policy.row(row).buckets.iter().any(|id| policy.bucket(*id).scope != BucketScope::Bot)
}

/// Reads a body as far as the decision needs it, and takes its arguments in.
async fn body_of(
    policy: &Policy,
    bounds: &Bounds,
    method: &str,
    format: &Format,
    args: &mut Args,
    mut body: Intake<'_>,
) -> Result<Payload, Box<Reply>> {
    body.up_to(bounds.body_max).await.map_err(answer::wrong)?;
    if body.is_over() {
        let payload = body.into_payload();
        if let Payload::Whole(whole) = &payload {
            from_body(args, format, whole);
        }
        return Ok(payload);
    }
    let mut seen = body.seen();
    let Format::Multipart(boundary) = format else {
        from_body(args, format, &seen);
        return Ok(body.into_payload());
    };
    let mut parts = Multipart::new(boundary);
    parts.read(&seen, |name, value| args.set(name, value));
    while args.peer().is_none() && body.length() < bounds.multipart_max {
        let Some(chunk) = body.next().await.map_err(answer::wrong)? else { break };
        seen.extend_from_slice(chunk);
        parts.read(&seen, |name, value| args.set(name, value));
    }
    if args.peer().is_none() && !body.is_over() && needs_chat(policy, method) {
        let fix = "Request Entity Too Large: chat_id was not found in the first part of the upload; put the field \
                   chat_id before the file";
        return Err(Box::new(answer::error(StatusCode::PAYLOAD_TOO_LARGE, fix)));
    }
    Ok(body.into_payload())
}
