//! Answers' bodies on their way: whole ones, and streams whose first part was looked at.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::upstream::{Download, Fault, with_head};

/// The body of an answer to a bot.
pub struct Body(Kind);

enum Kind {
    /// All of it is at hand; `None` where there is none, or no more.
    Whole(Option<Bytes>),
    /// What was read of it already, and the rest.
    Stream(VecDeque<Bytes>, Download),
}

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Self(Kind::Whole(None))
    }

    /// It comes before its request was sent to the end, and the platform wants no more of that.
    pub(crate) fn ends_upload(&mut self) {
        if let Kind::Stream(_, rest) = &mut self.0 {
            rest.ends_upload();
        }
    }

    /// What was read of it already, and the rest.
    pub(crate) fn stream(head: VecDeque<Bytes>, rest: Download) -> Self {
        Self(Kind::Stream(head, rest))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        match &mut self.get_mut().0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Stream(head, rest) => match head.pop_front() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Pin::new(rest).poll_frame(cx),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Stream(head, rest) => head.is_empty() && rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Kind::Stream(head, rest) => with_head(head, rest),
        }
    }
}
