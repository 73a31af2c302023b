//! Whole answers.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use hyper::{HeaderMap, Response, StatusCode};
use tidegate_core::Span;

use super::body::Body;
use super::request_body::closes;
use super::upstream::{Answer, Payload};

/// Answers up to this size are read whole before they are passed on; the platforms' own are far smaller.
const WHOLE: u64 = 64 << 10;
const LONGEST: u64 = 1 << 20;
/// Longer waits are no waits but mistakes. The longest that was ever seen are half a day.
const LONGEST_WAIT_SECS: f64 = 30.0 * 86_400.0;

/// An answer at hand. It can be given to several.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// An answer from upstream as it may be passed on.
pub(crate) enum Answered {
    /// All of it is at hand.
    Whole(Reply),
    /// It is long, and has begun well.
    Stream(Response<Body>),
}

impl Answered {
    /// Reads so much of an answer that one of a common size is whole, whether its length was told or not; `None` where
    /// it breaks off before that, so that no client is left with a part of it.
    pub(crate) async fn read(answer: Answer) -> Option<Self> {
        Self::up_to(answer, WHOLE).await
    }

    /// The same for an answer that must be read whole; one that is far longer than any such is passed on unread.
    pub(crate) async fn read_long(answer: Answer) -> Option<Self> {
        Self::up_to(answer, LONGEST).await
    }

    async fn up_to(answer: Answer, most: u64) -> Option<Self> {
        let Answer { status, headers, body: mut incoming } = answer;
        let (mut head, mut length) = (VecDeque::new(), 0);
        if let Some(exact) = incoming.size_hint().exact().filter(|exact| *exact <= most) {
            // Mostly it comes in one piece.
            let first = match incoming.frame().await {
                Some(frame) => frame.ok()?.into_data().unwrap_or_default(),
                None => Bytes::new(),
            };
            if first.len() as u64 == exact && incoming.is_end_stream() {
                return Some(Self::Whole(Reply { status, headers, body: first }));
            }
            length = first.len() as u64;
            head.push_back(first);
        }
        if incoming.size_hint().lower() <= most {
            while length <= most {
                let Some(frame) = incoming.frame().await else {
                    return Some(Self::Whole(Reply::of(status, headers, head)));
                };
                let Ok(data) = frame.ok()?.into_data() else { continue };
                length += data.len() as u64;
                head.push_back(data);
            }
        }
        let mut response = Response::new(Body::stream(head, incoming));
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Some(Self::Stream(response))
    }

    /// An answer that began before its request was read to the end: one that says no ends the upload, so that what is
    /// left of it can be read here; behind another one the connection ends.
    pub(crate) fn early(response: &mut Response<Body>, payload: &Payload) {
        if !payload.is_unread() {
            return;
        }
        if response.status().is_success() {
            closes(response.headers_mut());
        } else {
            response.body_mut().ends_upload();
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Whole(reply) => reply.status,
            Self::Stream(response) => response.status(),
        }
    }
}

impl Reply {
    fn of(status: StatusCode, headers: HeaderMap, mut chunks: VecDeque<Bytes>) -> Self {
        let body = if chunks.len() > 1 {
            let mut whole = BytesMut::with_capacity(chunks.iter().map(Bytes::len).sum());
            for chunk in &chunks {
                whole.extend_from_slice(chunk);
            }
            whole.freeze()
        } else {
            chunks.pop_front().unwrap_or_default()
        };
        Self { status, headers, body }
    }

    /// Reads an answer to its end; `None` where it breaks off.
    pub(crate) async fn read(answer: Answer) -> Option<Self> {
        let Answer { status, headers, body: mut incoming } = answer;
        let mut first = Bytes::new();
        let mut more = BytesMut::new();
        while let Some(frame) = incoming.frame().await {
            let Ok(data) = frame.ok()?.into_data() else { continue };
            if first.is_empty() {
                first = data;
            } else {
                if more.is_empty() {
                    more.extend_from_slice(&first);
                }
                more.extend_from_slice(&data);
            }
            if more.len() as u64 > LONGEST {
                return None;
            }
        }
        let body = if more.is_empty() { first } else { more.freeze() };
        Some(Self { status, headers, body })
    }

    /// As the server sends it.
    pub fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// A wait in seconds; dates, negative numbers, nothing and ages are no waits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held to a range that fits")]
pub(crate) fn seconds(text: &str) -> Option<Span> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds > 0.0 && seconds <= LONGEST_WAIT_SECS).then(|| Span::from_micros((seconds * 1_000_000.0) as u64))
}
