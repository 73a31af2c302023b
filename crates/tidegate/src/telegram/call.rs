//! What one call is: its row, its peer, its body, how long it may be held.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use hyper::http::request::Parts;
use tidegate_core::governor::{Class, Ticket, Write};
use tidegate_core::policy::{BucketScope, Call as Asking, Cell, MaxHold, Policy, Row, RowId};
use tidegate_core::{MessageKey, MethodKey, Peer, Span};

use super::args::{Args, Format, Multipart, from_body, from_query};
use super::reply::Reply;
use super::{answer, hold};
use crate::config::Config;
use crate::proxy::body::Payload;
use crate::proxy::budget::Reserved;
use crate::proxy::headers::Asked;

/// An album that hides its media behind its files is as heavy as an album can be.
const HEAVIEST_ALBUM: u32 = 10;

/// What is known of a call before it is decided.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) method: MethodKey,
    pub(crate) row: RowId,
    pub(crate) args: Args,
    pub(crate) format: Format,
    pub(crate) class: Option<Class>,
    /// The limit that the client named.
    pub(crate) max_hold: Option<Span>,
    /// What its library can wait.
    pub(crate) auto_hold: Span,
    weight: u32,
    message: Option<MessageKey>,
}

impl Facts {
    /// Reads what the decision needs of a call; the error is its answer.
    pub(crate) async fn read(
        policy: &Policy,
        config: &Config,
        method: &str,
        head: &Parts,
        asked: &Asked,
        body: Incoming,
        reserved: &mut Reserved,
    ) -> Result<(Self, Payload), Box<Reply>> {
        let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let format = Format::of(header(CONTENT_TYPE), head.headers.contains_key(CONTENT_ENCODING));
        let mut args = Args::default();
        from_query(&mut args, head.uri.query().unwrap_or_default());
        let reading = tokio::time::timeout(
            config.bounds.decision_timeout,
            body_of(policy, config, method, &format, &mut args, body, reserved),
        );
        let payload = reading.await.unwrap_or_else(|_| {
            Err(Box::new(answer::error(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body did not come")))
        })?;
        if args.peer().is_none() {
            args.chat = asked.peer.as_ref().and_then(|peer| peer.to_str().ok()).map(Peer::parse);
        }
        let row = policy.row_of(&Asking { method, has_chat: args.peer().is_some(), rich: args.rich });
        let auto_hold = config.telegram.auto_hold.unwrap_or_else(|| hold::auto(header(USER_AGENT)));
        let (class, max_hold) = asked_of(asked)?;
        let (weight, message) = (weight(method, &args, payload.is_whole()), message(policy, row, method, &args));
        let method = MethodKey::of(method);
        Ok((Self { method, row, args, format, class, max_hold, auto_hold, weight, message }, payload))
    }

    pub(crate) fn write(&self, ticket: Ticket) -> Write {
        Write {
            ticket,
            row: self.row,
            method: self.method,
            peer: self.args.peer().cloned(),
            wider: None,
            thread: self.args.thread,
            message: self.message,
            class: self.class,
            weight: self.weight,
            fields: Box::default(),
            max_hold: self.max_hold,
            auto_hold: Some(self.auto_hold),
        }
    }

    pub(crate) fn cell<'a>(&self, row: &'a Row) -> &'a Cell {
        row.cell(self.class.unwrap_or(row.default_class))
    }

    /// How long its client waits at most.
    pub(crate) fn patience(&self, row: &Row) -> Span {
        self.max_hold.unwrap_or(match self.cell(row).max_hold {
            MaxHold::For(span) => span,
            MaxHold::Auto | MaxHold::Unlimited => self.auto_hold,
        })
    }
}

fn asked_of(asked: &Asked) -> Result<(Option<Class>, Option<Span>), Box<Reply>> {
    let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let class = match asked.class.as_ref().map(text) {
        None => None,
        Some(name) => Some(Class::parse(&name).ok_or_else(|| {
            Box::new(answer::bad(
                "X-Tidegate-Class is one of interactive, final, send, status, intermediary, preview, clock",
            ))
        })?),
    };
    let max_hold = match asked.max_hold.as_ref().map(text) {
        None => None,
        Some(span) => Some(hold::named(&span).ok_or_else(|| {
            Box::new(answer::bad("X-Tidegate-Max-Hold is a length of time like 5s or 250ms, at most 10min"))
        })?),
    };
    Ok((class, max_hold))
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
    let writes = policy.row(row).merges() || policy.deletes.contains(&MethodKey::of(method));
    args.message.filter(|_| writes)
}

/// Whether a call of this method must show its chat before it may leave.
fn needs_chat(policy: &Policy, method: &str) -> bool {
    let row = policy.row_of(&Asking { method, has_chat: false, rich: false });
    policy.row(row).buckets.iter().any(|id| policy.bucket(*id).scope != BucketScope::Bot)
}

/// Reads a body as far as the decision needs it, and takes its arguments in.
async fn body_of(
    policy: &Policy,
    config: &Config,
    method: &str,
    format: &Format,
    args: &mut Args,
    mut body: Incoming,
    reserved: &mut Reserved,
) -> Result<Payload, Box<Reply>> {
    if body.is_end_stream() {
        return Ok(Payload::Whole(Bytes::new()));
    }
    let mut chunks = VecDeque::new();
    let mut length = 0;
    while length < config.bounds.body_max && next(&mut body, &mut chunks, &mut length, reserved).await? {}
    if length < config.bounds.body_max || body.is_end_stream() {
        let whole = join(chunks, length);
        from_body(args, format, &whole);
        return Ok(Payload::Whole(whole));
    }
    let mut seen = BytesMut::with_capacity(length);
    for chunk in &chunks {
        seen.extend_from_slice(chunk);
    }
    let Format::Multipart(boundary) = format else {
        from_body(args, format, &seen);
        return Ok(Payload::part(chunks, body));
    };
    let mut parts = Multipart::new(boundary);
    parts.read(&seen, |name, value| args.set(name, value));
    while args.peer().is_none() && length < config.bounds.multipart_max {
        if !next(&mut body, &mut chunks, &mut length, reserved).await? {
            break;
        }
        if let Some(chunk) = chunks.back() {
            seen.extend_from_slice(chunk);
        }
        parts.read(&seen, |name, value| args.set(name, value));
    }
    if args.peer().is_none() && !body.is_end_stream() && needs_chat(policy, method) {
        let fix = "Request Entity Too Large: chat_id was not found in the first part of the upload; put the field \
                   chat_id before the file";
        return Err(Box::new(answer::error(StatusCode::PAYLOAD_TOO_LARGE, fix)));
    }
    Ok(Payload::part(chunks, body))
}

/// Reads one chunk more; `false` at the end.
async fn next(
    body: &mut Incoming,
    chunks: &mut VecDeque<Bytes>,
    length: &mut usize,
    reserved: &mut Reserved,
) -> Result<bool, Box<Reply>> {
    let Some(frame) = body.frame().await else { return Ok(false) };
    let frame = frame.map_err(|_| Box::new(answer::bad("the body broke off")))?;
    if let Ok(chunk) = frame.into_data() {
        if !reserved.grow(chunk.len()) {
            return Err(Box::new(answer::busy()));
        }
        *length += chunk.len();
        chunks.push_back(chunk);
    }
    Ok(!body.is_end_stream())
}

fn join(mut chunks: VecDeque<Bytes>, length: usize) -> Bytes {
    if chunks.len() <= 1 {
        return chunks.pop_front().unwrap_or_default();
    }
    let mut whole = BytesMut::with_capacity(length);
    for chunk in &chunks {
        whole.extend_from_slice(chunk);
    }
    whole.freeze()
}
