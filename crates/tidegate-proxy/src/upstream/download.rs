//! The body of an answer, and the connection that it comes on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tidegate_core::policy::Platform;

use super::fault::Fault;
use super::pool::Pool;
use super::wire::Wire;

/// A body on its way from a platform. Dropped before its end it closes its connection.
pub(crate) struct Download {
    /// Until the body has ended.
    wire: Option<Box<Wire>>,
    platform: Platform,
    pool: Pool,
}

impl Download {
    pub(super) fn new(wire: Box<Wire>, platform: Platform, pool: Pool) -> Self {
        let mut download = Self { wire: Some(wire), platform, pool };
        download.settle();
        download
    }

    /// Nothing more is sent on its connection.
    pub(crate) fn ends_upload(&mut self) {
        if let Some(wire) = &mut self.wire {
            wire.give_up();
        }
    }

    /// The connection goes to rest once nothing more is to come on it.
    fn settle(&mut self) {
        if let Some(mut wire) = self.wire.take_if(|wire| wire.is_over())
            && wire.is_free()
        {
            wire.rest();
            self.pool.put(self.platform, wire);
        }
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        let Some(wire) = &mut self.wire else { return Poll::Ready(None) };
        let piece = ready!(wire.poll_body(cx));
        match piece {
            Ok(Some(data)) => {
                self.settle();
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Ok(None) => {
                self.settle();
                self.wire = None;
                Poll::Ready(None)
            }
            Err(fault) => {
                self.wire = None;
                Poll::Ready(Some(Err(fault)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.wire.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.wire {
            None => SizeHint::with_exact(0),
            Some(wire) => wire.left().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
