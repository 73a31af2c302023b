//! A client's connection, as the HTTP server reads and writes it.
//!
//! Two things stand between: what the server says by itself of a request that it cannot read gets a body, and a client
//! that still sends when its answer is out is heard to its end, so that the answer is not lost with the connection.

use std::future::Future as _;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::unread;
use crate::context;

/// Of a client that still sends, so much is thrown away at most, for so long, with pauses so long.
const LEFT_BYTES: usize = 64 << 20;
const LEFT_TIME: Duration = Duration::from_secs(30);
const LEFT_PAUSE: Duration = Duration::from_secs(5);
/// The pause where the program is going down.
const LAST_PAUSE: Duration = Duration::from_millis(500);
/// A connection that is ended so soon after it was written to was not at rest.
const AT_REST: Duration = Duration::from_secs(1);
/// Thrown away at a time, and at one turn of the thread.
const SCRAP: usize = 16 << 10;
const TURN: usize = 1 << 20;

/// Pieces that are no longer together are written as one.
const JOINED: usize = 1 << 10;

/// The connection.
pub struct Socket {
    stream: TcpStream,
    shared: Arc<context::Context>,
    /// When it was last written to.
    written: Option<Instant>,
    heard: Heard,
    /// What is written in the place of the server's own words.
    instead: Option<Bytes>,
    leaving: Option<Leaving>,
}

/// What the last look for words of the client gave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Words,
    Nothing,
    /// There will be none.
    End,
}

/// A client that was told all, and is listened to for a while.
struct Leaving {
    bytes: usize,
    until: Instant,
    pause: Duration,
    timer: Pin<Box<Sleep>>,
}

impl Socket {
    /// What is heard of it until it ends is bounded, and shorter once the program goes down.
    pub fn new(stream: TcpStream, shared: Arc<context::Context>) -> Self {
        Self { stream, shared, written: None, heard: Heard::Nothing, instead: None, leaving: None }
    }

    /// Writes what stands instead of the `length` bytes that the server wrote.
    fn write_instead(&mut self, cx: &mut Context<'_>, length: usize) -> Poll<io::Result<usize>> {
        while let Some(rest) = self.instead.as_mut().filter(|rest| !rest.is_empty()) {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let _ = rest.split_to(written);
        }
        self.instead = None;
        Poll::Ready(Ok(length))
    }

    /// Whether the client may be sending still. The server does not tell whether it read all that it was sent.
    fn may_send(&self) -> bool {
        match self.heard {
            Heard::Words => true,
            Heard::Nothing => self.written.is_some_and(|written| written.elapsed() < AT_REST),
            Heard::End => false,
        }
    }

    /// Ready when a client that was told all has closed, or is not worth more.
    fn heard_out(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let pause = if self.shared.drain.has_begun() { LAST_PAUSE } else { LEFT_PAUSE };
        let leaving = self.leaving.get_or_insert_with(|| {
            let now = Instant::now();
            Leaving { bytes: LEFT_BYTES, until: now + LEFT_TIME, pause, timer: Box::pin(sleep_until(now + pause)) }
        });
        let (mut scrap, mut turn) = ([0; SCRAP], 0);
        while leaving.bytes > 0 && turn < TURN {
            let mut read = ReadBuf::new(&mut scrap);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    leaving.bytes = leaving.bytes.saturating_sub(read.filled().len());
                    turn += read.filled().len();
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if turn == 0 => return leaving.timer.as_mut().poll(cx),
                Poll::Pending => break,
            }
        }
        let now = Instant::now();
        if leaving.bytes == 0 || now >= leaving.until {
            return Poll::Ready(());
        }
        leaving.timer.as_mut().reset((now + leaving.pause).min(leaving.until));
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Puts pieces together where there is room for all of them; how long they are.
fn join(pieces: &[IoSlice<'_>], joined: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    for piece in pieces {
        joined.get_mut(length..length + piece.len())?.copy_from_slice(piece);
        length += piece.len();
    }
    Some(length)
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.heard = match &read {
            Poll::Pending => Heard::Nothing,
            Poll::Ready(Ok(())) if buf.filled().len() > before => Heard::Words,
            Poll::Ready(_) => Heard::End,
        };
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.written = Some(Instant::now());
        if self.instead.is_none() {
            self.instead = unread::instead(buf);
        }
        if self.instead.is_some() {
            return self.write_instead(cx, buf.len());
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = bufs {
            return self.poll_write(cx, only);
        }
        // One short piece takes the system less than two.
        let mut joined = [0; JOINED];
        if let Some(length) = join(bufs, &mut joined) {
            return self.poll_write(cx, &joined[..length]);
        }
        self.written = Some(Instant::now());
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Says that no more comes. What a client sent that was not read would reset the connection, and the answer with it.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.leaving.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            if !self.may_send() {
                return Poll::Ready(Ok(()));
            }
        }
        self.heard_out(cx).map(Ok)
    }
}
