//! One connection to a platform. Whoever uses it drives it: it has no task of its own, so that a call goes to the platform
//! and back on one task's turn.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use memchr::memmem::{self, Finder};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use super::Base;
use super::fault::Fault;
use super::framing::{Framing, Next};
use super::head::{self, Head};
use super::sending::Sending;
use super::stream::Stream;
use crate::upstream::Payload;

/// The head of an answer. The platforms' have one or two thousand bytes.
pub(super) const LONGEST_HEAD: usize = 128 << 10;
/// Read at once, and at once of a body that is long.
const READ: usize = 4 << 10;
const READ_MORE: usize = 32 << 10;
/// What a connection at rest keeps.
const KEPT: usize = 16 << 10;

/// What a head ends with.
static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\r\n\r\n"));

/// A connection.
pub(super) struct Wire {
    stream: Stream,
    read: BytesMut,
    sending: Sending,
    /// Of the answer that is being read.
    framing: Framing,
    /// Another request may follow.
    keeps: bool,
    /// There was room for more than a connection keeps at rest.
    roomy: bool,
}

/// Why there is no answer.
pub(super) struct Broken {
    pub(super) fault: Fault,
    /// Nothing of the request was written.
    pub(super) unwritten: bool,
}

impl Wire {
    pub(super) fn new(stream: MaybeHttpsStream<TokioIo<TcpStream>>) -> Self {
        let (read, framing) = (BytesMut::new(), Framing::Length(0));
        Self { stream: Stream::new(stream), read, sending: Sending::default(), framing, keeps: true, roomy: false }
    }

    /// Sends a request, and waits for the head of its answer.
    pub(super) async fn ask(&mut self, base: &Base, parts: &Parts, payload: &Payload) -> Result<Head, Broken> {
        self.sending.begin(base, parts, payload);
        let answered = poll_fn(|cx| self.poll_head(cx, &parts.method)).await;
        answered.map_err(|fault| Broken { fault, unwritten: !self.sending.has_begun() })
    }

    /// What is not sent stays unsent, and no other request follows.
    pub(super) fn give_up(&mut self) {
        if !self.sending.is_over() {
            self.keeps = false;
            self.sending.give_up();
        }
    }

    /// Whether something of the request was written.
    pub(super) fn has_begun(&self) -> bool {
        self.sending.has_begun()
    }

    fn poll_head(&mut self, cx: &mut Context<'_>, method: &Method) -> Poll<Result<Head, Fault>> {
        if !self.sending.has_begun() {
            // Nothing was asked yet: what comes is the end, or no answer to this.
            if self.fill(cx, READ)?.is_ready() {
                return Poll::Ready(Err(Fault::Closed));
            }
            self.send(cx)?;
            // An answer wakes whoever just looked for one.
            return Poll::Pending;
        }
        self.send(cx)?;
        loop {
            let before = self.read.len();
            let read = ready!(self.fill(cx, READ))?;
            if read == 0 {
                return Poll::Ready(Err(Fault::Closed));
            }
            // Its end may have come in two parts.
            let mut from = before.saturating_sub(3);
            while let Some(at) = END.find(&self.read[from..]) {
                let head = head::read(&self.read.split_to(from + at + 4).freeze(), method)?;
                if head.status == StatusCode::SWITCHING_PROTOCOLS {
                    return Poll::Ready(Err(Fault::Answer("it switches protocols")));
                }
                if head.status.is_informational() {
                    from = 0;
                    continue;
                }
                self.framing = head.framing.clone();
                self.keeps &= head.keeps;
                return Poll::Ready(Ok(head));
            }
            // Its end would be waited for in vain.
            if memmem::find(&self.read[from..], b"\n\n").is_some() {
                return Poll::Ready(Err(Fault::Answer("its head has bare line ends")));
            }
            if self.read.len() > LONGEST_HEAD {
                return Poll::Ready(Err(Fault::Answer("its head is too long")));
            }
        }
    }

    /// Writes on. A platform that stops reading may have answered already, so only the client's faults end it.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Fault> {
        if self.sending.is_over() {
            return Ok(());
        }
        match self.sending.poll(Pin::new(&mut self.stream), cx) {
            Poll::Ready(Err(Fault::Io(error))) => {
                self.keeps = false;
                if !self.sending.has_begun() {
                    return Err(error.into());
                }
                self.sending.give_up();
                Ok(())
            }
            Poll::Ready(sent) => sent,
            Poll::Pending => Ok(()),
        }
    }

    /// The next piece of the body.
    pub(super) fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Fault>> {
        self.send(cx)?;
        loop {
            match self.framing.next(&mut self.read)? {
                Next::Data(data) => return Poll::Ready(Ok(Some(data))),
                Next::Over => return Poll::Ready(Ok(None)),
                Next::More => {}
            }
            let long = self.framing.left().is_none_or(|left| left > READ as u64);
            if ready!(self.fill(cx, if long { READ_MORE } else { READ }))? == 0 {
                return Poll::Ready(if self.framing == Framing::Close { Ok(None) } else { Err(Fault::Closed) });
            }
        }
    }

    /// Whether the body has ended, as far as one can tell without reading.
    pub(super) fn is_over(&self) -> bool {
        self.framing.is_over()
    }

    /// What is left of the body, where that is known.
    pub(super) fn left(&self) -> Option<u64> {
        self.framing.left()
    }

    /// Whether another request may follow. What came unasked spoils it.
    pub(super) fn is_free(&self) -> bool {
        self.keeps && self.framing.is_over() && self.sending.is_over() && self.read.is_empty()
    }

    /// Lets go of what it does not need at rest.
    pub(super) fn rest(&mut self) {
        if self.roomy {
            (self.read, self.roomy) = (BytesMut::new(), false);
        }
        self.sending.rest(KEPT);
    }

    /// What is held, for tests.
    #[cfg(test)]
    pub(super) fn kept(&mut self) -> (&mut BytesMut, usize) {
        (&mut self.read, self.sending.kept())
    }

    /// Reads what there is, at most so much and what there is room for; 0 at the end.
    fn fill(&mut self, cx: &mut Context<'_>, room: usize) -> Poll<io::Result<usize>> {
        if self.read.capacity() - self.read.len() < room / 4 {
            self.read.reserve(room);
            self.roomy |= self.read.capacity() > KEPT;
        }
        pin!(self.stream.read_buf(&mut self.read)).poll(cx)
    }
}
