//! What every request goes through first: its head is looked at, and its body read as far as the decision needs it.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use crate::budget::Reserved;
use crate::headers::{self, Asked};
use crate::request_body::RequestBody;
use crate::settings::Bounds;
use crate::target;
use crate::upstream::Payload;

/// Why a request goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is wrong in itself.
    Request(StatusCode, &'static str),
    /// There is no room for its body at the moment.
    NoRoom,
}

impl Wrong {
    const fn bad(reason: &'static str) -> Self {
        Self::Request(StatusCode::BAD_REQUEST, reason)
    }
}

/// Looks at a request's head and makes its headers fit to go upstream.
pub(crate) fn vet(bounds: &Bounds, head: &mut Parts) -> Result<Asked, Wrong> {
    if head.uri.path_and_query().map_or(0, |target| target.as_str().len()) > bounds.target_max {
        return Err(Wrong::Request(StatusCode::URI_TOO_LONG, "URI Too Long"));
    }
    let seen = headers::look(&head.headers);
    if seen.bytes > bounds.header_block {
        let reason = "Request Header Fields Too Large";
        return Err(Wrong::Request(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, reason));
    }
    // It asks for a tunnel, and has no path.
    if head.method == Method::CONNECT {
        return Err(Wrong::bad("CONNECT is not served"));
    }
    if seen.hosts > 1 {
        return Err(Wrong::bad("there is more than one Host"));
    }
    target::check(&head.uri).map_err(Wrong::bad)?;
    headers::forward(&mut head.headers, &seen).map_err(Wrong::bad)
}

/// A timeout that costs nothing where what it is for is at hand, as a body mostly is.
pub(crate) async fn in_time<T>(limit: Duration, reading: impl Future<Output = T>) -> Option<T> {
    let mut reading = pin!(reading);
    let at_once = poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx))).await;
    if let Poll::Ready(read) = at_once {
        return Some(read);
    }
    Box::pin(tokio::time::timeout(limit, reading)).await.ok()
}

/// A body while it is read.
pub(crate) struct Intake<'a> {
    body: RequestBody,
    chunks: VecDeque<Bytes>,
    length: usize,
    /// A chunked body does not know its end before it was asked for more.
    ended: bool,
    reserved: &'a mut Reserved,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(body: RequestBody, reserved: &'a mut Reserved) -> Self {
        Self { ended: body.is_end_stream(), body, chunks: VecDeque::new(), length: 0, reserved }
    }

    /// Reads on until so much is at hand, or all.
    pub(crate) async fn up_to(&mut self, length: usize) -> Result<(), Wrong> {
        while self.length < length && self.next().await?.is_some() {}
        Ok(())
    }

    /// Reads one chunk more; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<&Bytes>, Wrong> {
        while !self.is_over() {
            let Some(frame) = self.body.frame().await else {
                self.ended = true;
                return Ok(None);
            };
            let frame = frame.map_err(|_| Wrong::bad("the body broke off"))?;
            let Ok(chunk) = frame.into_data() else { continue };
            if !self.reserved.grow(chunk.len()) {
                return Err(Wrong::NoRoom);
            }
            self.length += chunk.len();
            self.chunks.push_back(chunk);
            return Ok(self.chunks.back());
        }
        Ok(None)
    }

    /// Whether it is all at hand.
    pub(crate) fn is_over(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// What was read so far, in one piece.
    pub(crate) fn seen(&self) -> BytesMut {
        let mut seen = BytesMut::with_capacity(self.length);
        for chunk in &self.chunks {
            seen.extend_from_slice(chunk);
        }
        seen
    }

    /// What was read, and the rest where there is one.
    pub(crate) fn into_payload(mut self) -> Payload {
        if !self.is_over() {
            return Payload::part(self.chunks, self.body);
        }
        match self.chunks.len() {
            0 | 1 => Payload::Whole(self.chunks.pop_front().unwrap_or_default()),
            _ => Payload::Whole(self.seen().freeze()),
        }
    }
}
