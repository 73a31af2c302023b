//! A request on its way out.

use std::io::{self, IoSlice, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use hyper::body::Body as _;
use tokio::io::AsyncWrite;

use super::Base;
use super::fault::Fault;
use super::head;
use super::payload::{Outgoing, Payload};

/// A body up to this size goes out in one piece with its head.
const JOINED: usize = 16 << 10;

/// What is to be written, piece by piece: one is made when the last is out, so that a slow platform slows the client.
#[derive(Default)]
pub(super) struct Sending {
    /// The head, or the frame of a chunk.
    frame: Vec<u8>,
    /// So much of it is out.
    written: usize,
    /// Goes out behind the frame.
    piece: Bytes,
    rest: Option<Outgoing>,
    chunked: Option<Chunks>,
    /// Something is out.
    begun: bool,
    /// Nothing is left with TLS, which takes more than it can write.
    flushed: bool,
}

/// Where a chunked body stands. The end of a chunk goes out with what follows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chunks {
    None,
    Some,
}

impl Sending {
    /// Begins another request.
    pub(super) fn begin(&mut self, base: &Base, parts: &hyper::http::request::Parts, payload: &Payload) {
        let length = payload.length();
        self.frame.clear();
        head::write(&mut self.frame, base, parts, length);
        (self.written, self.piece, self.rest) = (0, Bytes::new(), None);
        (self.begun, self.flushed) = (false, false);
        self.chunked = length.is_none().then_some(Chunks::None);
        match payload {
            Payload::Whole(body) if body.len() <= JOINED => self.frame.extend_from_slice(body),
            Payload::Whole(body) => self.piece = body.clone(),
            Payload::Part(_) => self.rest = Some(payload.outgoing()),
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether all of it is out.
    pub(super) fn is_over(&self) -> bool {
        self.flushed
    }

    /// Lets go of more than so much room.
    pub(super) fn rest(&mut self, kept: usize) {
        if self.frame.capacity() > kept {
            self.frame = Vec::new();
            self.written = 0;
        }
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.frame.capacity()
    }

    /// What is not out stays here.
    pub(super) fn give_up(&mut self) {
        (self.piece, self.rest, self.flushed) = (Bytes::new(), None, true);
    }

    /// Ready when all of it is out.
    pub(super) fn poll(
        &mut self,
        mut stream: Pin<&mut impl AsyncWrite>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Fault>> {
        loop {
            while self.written < self.frame.len() || !self.piece.is_empty() {
                let frame = &self.frame[self.written..];
                let out = if self.piece.is_empty() {
                    ready!(stream.as_mut().poll_write(cx, frame))?
                } else {
                    ready!(stream.as_mut().poll_write_vectored(cx, &[IoSlice::new(frame), IoSlice::new(&self.piece)]))?
                };
                if out == 0 {
                    return Poll::Ready(Err(io::Error::from(io::ErrorKind::WriteZero).into()));
                }
                self.begun = true;
                let of_frame = out.min(frame.len());
                self.written += of_frame;
                self.piece.advance(out - of_frame);
            }
            let Some(rest) = &mut self.rest else { break };
            let Poll::Ready(next) = Pin::new(rest).poll_frame(cx) else {
                ready!(stream.poll_flush(cx))?;
                return Poll::Pending;
            };
            match next.transpose().map_err(Fault::Client)?.map(hyper::body::Frame::into_data) {
                Some(Ok(data)) => self.take(data),
                // Trailers say nothing that a platform would read.
                Some(Err(_)) => {}
                None => self.end(),
            }
        }
        ready!(stream.poll_flush(cx))?;
        self.flushed = true;
        Poll::Ready(Ok(()))
    }

    fn take(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        (self.written, self.piece) = (0, data);
        self.frame.clear();
        if let Some(chunks) = &mut self.chunked {
            let end = if *chunks == Chunks::Some { "\r\n" } else { "" };
            *chunks = Chunks::Some;
            // A vector takes all that is written.
            let _ = write!(self.frame, "{end}{:x}\r\n", self.piece.len());
        }
    }

    fn end(&mut self) {
        (self.written, self.rest) = (0, None);
        self.frame.clear();
        self.frame.extend_from_slice(match self.chunked.take() {
            Some(Chunks::Some) => b"\r\n0\r\n\r\n",
            Some(Chunks::None) => b"0\r\n\r\n",
            None => b"",
        });
    }
}
