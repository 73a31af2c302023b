//! The body of a bot's request. What nobody read of it comes back to its connection when the call is answered: a client
//! that still sends would lose an answer, or its next call, with a connection that is simply closed.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::EXPECT;
use hyper::http::HeaderValue;
use hyper::http::header::CONNECTION;
use hyper::{HeaderMap, Request};

/// So much of a body that nobody wants is read before the answer goes out, within so long: the connection stays.
const READ_BYTES: u64 = 8 << 20;
const READ_TIME: Duration = Duration::from_millis(500);
/// So much is read and thrown away while and after an answer goes out that ends the connection.
const LEFT_BYTES: u64 = 64 << 20;
const LEFT_TIME: Duration = Duration::from_secs(30);

/// A request's body, with the way back for what is left of it.
pub struct RequestBody {
    body: Option<Incoming>,
    /// `None` where there is no body.
    way_back: Option<Arc<Unread>>,
    /// It is sent only once it is asked for (`Expect: 100-continue`), and was not asked for.
    waits: bool,
    ended: bool,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub(crate) fn new(body: Incoming, headers: &HeaderMap, unread: &Arc<Unread>) -> Self {
        let ended = body.is_end_stream();
        let waits = !ended && headers.contains_key(EXPECT);
        let way_back = (!ended).then(|| Arc::clone(unread));
        Self { body: Some(body), way_back, waits, ended }
    }

    /// A whole request. Those that go to a platform are taken apart first: moving one about takes a while.
    pub(crate) fn of(request: Request<Incoming>, unread: &Arc<Unread>) -> Request<Self> {
        let (head, body) = request.into_parts();
        let body = Self::new(body, &head.headers, unread);
        Request::from_parts(head, body)
    }
}

#[cfg(test)]
impl From<Incoming> for RequestBody {
    fn from(body: Incoming) -> Self {
        Self { ended: body.is_end_stream(), body: Some(body), way_back: None, waits: false }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.waits = false;
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        self.ended |= frame.is_none();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let (false, Some(way_back)) = (self.is_end_stream(), &self.way_back)
            && let Some(body) = self.body.take()
        {
            way_back.put(Rest { body, waits: self.waits });
        }
    }
}

/// What is left of the body of a connection's call.
#[derive(Default)]
pub(crate) struct Unread {
    rest: Mutex<Option<Rest>>,
    /// Mostly there is none.
    any: AtomicBool,
}

struct Rest {
    body: Incoming,
    waits: bool,
}

impl Unread {
    fn put(&self, rest: Rest) {
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
        self.any.store(true, Ordering::Release);
    }

    /// Whether something was left unread.
    pub(crate) fn is_any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Reads what is left, where that is little and comes quickly; else the answer says that the connection ends, and
    /// what still comes is thrown away meanwhile, so that a client that reads nothing before it has sent all comes to
    /// its answer.
    pub(crate) async fn clear(&self, answer: &mut HeaderMap, may_stay: bool) {
        self.any.store(false, Ordering::Release);
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Rest { mut body, waits }) = rest else { return };
        let fits = body.size_hint().lower() <= READ_BYTES;
        if may_stay && fits && !waits {
            let read = tokio::time::timeout(READ_TIME, read_out(&mut body, READ_BYTES)).await;
            if matches!(read, Ok(true)) {
                return;
            }
        }
        closes(answer);
        if !waits {
            tokio::spawn(tokio::time::timeout(LEFT_TIME, async move { read_out(&mut body, LEFT_BYTES).await }));
        }
    }
}

/// The same for a request whose body nobody wants: whether it was read to its end, so that the connection may stay.
pub async fn unwanted<B: Body + Unpin>(mut body: B, waits: bool) -> bool {
    let small = body.size_hint().lower() <= READ_BYTES && !waits;
    small && matches!(tokio::time::timeout(READ_TIME, read_out(&mut body, READ_BYTES)).await, Ok(true))
}

/// The answer says that no other call can follow on its connection.
pub fn closes(answer: &mut HeaderMap) {
    answer.insert(CONNECTION, HeaderValue::from_static("close"));
}

/// Throws a body away; whether it came to its end within so many bytes.
async fn read_out<B: Body + Unpin>(body: &mut B, most: u64) -> bool {
    let mut left = most;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let length = frame.data_ref().map_or(0, |data| bytes::Buf::remaining(data) as u64);
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}
