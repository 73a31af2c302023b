//! Requests' bodies on their way: whole ones that can be sent again, and streams whose first part was looked at.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::request_body::RequestBody;

/// The size of a body of which a part was read.
pub(crate) fn with_head(head: &VecDeque<Bytes>, rest: &impl HttpBody) -> SizeHint {
    let head = head.iter().map(Bytes::len).sum::<usize>() as u64;
    rest.size_hint().exact().map_or_else(SizeHint::default, |rest| SizeHint::with_exact(head + rest))
}

/// The body of a bot's request, for the platform.
#[derive(Clone)]
pub(crate) enum Payload {
    /// At hand: it can be sent again.
    Whole(Bytes),
    /// A part at hand, the rest still with the client.
    Part(Arc<Mutex<Part>>),
}

/// What was read already, and the rest.
pub(crate) struct Part {
    head: VecDeque<Bytes>,
    rest: RequestBody,
    /// Something of it left: what is sent now would lack its beginning.
    touched: bool,
}

impl Payload {
    /// A stream whose first chunks were read.
    pub(crate) fn part(head: VecDeque<Bytes>, rest: RequestBody) -> Self {
        Self::Part(Arc::new(Mutex::new(Part { head, rest, touched: false })))
    }

    /// Whether it can be sent (again) from its beginning.
    pub(crate) fn is_fresh(&self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Part(part) => !lock(part).touched,
        }
    }

    /// Whether the client has not sent all of it yet, as far as is known.
    pub(crate) fn is_unread(&self) -> bool {
        match self {
            Self::Whole(_) => false,
            Self::Part(part) => {
                let part = lock(part);
                !(part.head.is_empty() && part.rest.is_end_stream())
            }
        }
    }

    /// Whether it can be sent any number of times.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// Its length, where it is known; `None` for a chunked one.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Self::Whole(bytes) => Some(bytes.len() as u64),
            Self::Part(part) => {
                let part = lock(part);
                with_head(&part.head, &part.rest).exact()
            }
        }
    }

    /// One sending of it.
    pub(crate) fn outgoing(&self) -> Outgoing {
        match self {
            Self::Whole(bytes) => Outgoing::Whole(Some(bytes.clone()).filter(|bytes| !bytes.is_empty())),
            Self::Part(part) => Outgoing::Part(Arc::clone(part)),
        }
    }
}

fn lock(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A payload on its way to the platform.
pub(crate) enum Outgoing {
    Whole(Option<Bytes>),
    Part(Arc<Mutex<Part>>),
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Part(part) => {
                let mut part = lock(part);
                part.touched = true;
                match part.head.pop_front() {
                    Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                    None => Pin::new(&mut part.rest).poll_frame(cx),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Part(part) => {
                let part = lock(part);
                part.head.is_empty() && part.rest.is_end_stream()
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Part(part) => {
                let part = lock(part);
                with_head(&part.head, &part.rest)
            }
        }
    }
}
