//! One connection's task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Sink as _, Stream as _};
use tokio::sync::{mpsc, oneshot};
use tokio_websockets::{CloseCode, Message};

use super::dial::Socket;
use super::event::{Event, Events, Failure};
use super::large::Large;
use super::read;
use crate::wire::codec::{Compression, Inflate};

/// Frames that may wait for the socket: two minutes of them, as Discord counts. A socket that takes none for so long is
/// found dead by its heartbeats before.
const FRAMES: usize = 256;
/// Messages and bytes that are read before others of this thread have their turn.
const BUDGET: (usize, usize) = (64, 256 << 10);
/// Pongs that may wait for the socket.
const PONGS: usize = 256;
/// With which a connection is closed that nobody holds any more: its session can be resumed.
const FORGOTTEN: u16 = 4000;

/// A frame's place in the queue was not free, or the connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// One connection, as its owner holds it. Dropped, the connection is closed with 4000.
#[derive(Debug)]
pub(crate) struct Handle {
    frames: mpsc::Sender<Frame>,
    close: oneshot::Sender<u16>,
}

struct Frame {
    op: u8,
    payload: Bytes,
}

impl Handle {
    /// Writes a frame, in the order of the calls. At most 256 wait for the socket.
    pub(crate) fn send(&self, op: u8, payload: Bytes) -> Result<(), Full> {
        self.frames.try_send(Frame { op, payload }).map_err(|_| Full)
    }

    /// Closes the connection, or gives the dial up. Frames that wait are dropped.
    pub(crate) fn close(self, code: u16) {
        let _ = self.close.send(code);
    }
}

/// Runs a connection in a task of its own.
pub(super) fn spawn(
    open: impl Future<Output = Result<Socket, Failure>> + Send + 'static,
    compression: Compression,
    close_timeout: Duration,
    mut events: impl Events,
) -> Handle {
    let (frames, queued) = mpsc::channel(FRAMES);
    let (close, closing) = oneshot::channel();
    let life = Life { compression, close_timeout, queued, closing };
    tokio::spawn(async move {
        if let Err(failure) = life.run(open, &mut events).await {
            events.event(Event::Failed(&failure));
            events.pause();
        }
    });
    Handle { frames, close }
}

/// The peer's code and reason.
type Closed = (Option<u16>, String);

struct Life {
    compression: Compression,
    close_timeout: Duration,
    queued: mpsc::Receiver<Frame>,
    closing: oneshot::Receiver<u16>,
}

impl Life {
    async fn run(
        mut self,
        open: impl Future<Output = Result<Socket, Failure>>,
        events: &mut impl Events,
    ) -> Result<(), Failure> {
        let socket = tokio::select! {
            socket = open => socket?,
            _ = &mut self.closing => {
                tell_closed(events, None, "");
                return Ok(());
            }
        };
        let inflate = Inflate::new(self.compression)?;
        events.event(Event::Opened);
        let (frames, closing) = (self.queued, self.closing);
        let mut connection = Connection { socket, inflate, frames, closing, pongs: 0, large: Large::default(), events };
        let end = poll_fn(|cx| connection.poll(cx)).await?;
        let Connection { mut socket, events, .. } = connection;
        if let End::Theirs((code, reason)) = &end {
            tell_closed(events, *code, reason);
        }
        // It is dropped then, however far it came.
        let last = tokio::time::timeout(self.close_timeout, close(&mut socket, &end)).await;
        if !matches!(end, End::Theirs(_)) {
            let (code, reason) = last.ok().flatten().unwrap_or_default();
            tell_closed(events, code, &reason);
        }
        Ok(())
    }
}

fn tell_closed(events: &mut impl Events, code: Option<u16>, reason: &str) {
    events.event(Event::Closed { code, reason });
    events.pause();
}

/// How a connection comes to its end.
enum End {
    Ours(u16),
    Theirs(Closed),
    Lost,
}

/// Says goodbye, and waits for the peer's.
async fn close(socket: &mut Socket, end: &End) -> Option<Closed> {
    if let End::Ours(code) = end {
        let code = CloseCode::try_from(*code).ok().filter(|code| !code.is_reserved());
        Pin::new(&mut *socket).start_send(Message::close(code, "")).ok()?;
        poll_fn(|cx| Pin::new(&mut *socket).poll_flush(cx)).await.ok()?;
    }
    loop {
        // Once theirs has come, this writes our answer to it and ends.
        let message = poll_fn(|cx| Pin::new(&mut *socket).poll_next(cx)).await?.ok()?;
        if let Some(closed) = closed(&message) {
            return Some(closed);
        }
    }
}

fn closed(message: &Message) -> Option<Closed> {
    let (code, reason) = message.as_close()?;
    let code = (code != CloseCode::NO_STATUS_RECEIVED).then(|| u16::from(code));
    Some((code, reason.to_owned()))
}

struct Connection<'a, E> {
    socket: Socket,
    inflate: Inflate,
    frames: mpsc::Receiver<Frame>,
    closing: oneshot::Receiver<u16>,
    /// Since all was written last.
    pongs: usize,
    large: Large,
    events: &'a mut E,
}

impl<E: Events> Connection<'_, E> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<End, Failure>> {
        if let Poll::Ready(code) = Pin::new(&mut self.closing).poll(cx) {
            return Poll::Ready(Ok(End::Ours(code.unwrap_or(FORGOTTEN))));
        }
        self.write(cx)?;
        let ended = self.read(cx);
        if ended.is_pending() {
            self.events.pause();
        }
        ended
    }

    /// Writes what the socket takes. What it does not take waits, and holds up no reading.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        loop {
            let mut socket = Pin::new(&mut self.socket);
            let Poll::Ready(ready) = socket.as_mut().poll_ready(cx) else { return Ok(()) };
            ready?;
            let Poll::Ready(Some(frame)) = self.frames.poll_recv(cx) else { break };
            // What Discord takes is text; what cannot be is refused before it comes here.
            socket.start_send(Message::text(frame.payload))?;
            self.events.event(Event::Sent { op: frame.op });
        }
        if let Poll::Ready(flushed) = Pin::new(&mut self.socket).poll_flush(cx) {
            flushed?;
            self.pongs = 0;
        }
        Ok(())
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Poll<Result<End, Failure>> {
        let (mut messages, mut bytes) = (0, 0);
        while messages < BUDGET.0 && bytes < BUDGET.1 {
            let Some(message) = ready!(Pin::new(&mut self.socket).poll_next(cx)) else {
                return Poll::Ready(Ok(End::Lost));
            };
            let message = message?;
            messages += 1;
            self.large.came(&message);
            if message.is_text() || message.is_binary() {
                bytes += read::message(&mut self.inflate, message.as_payload(), self.events)?;
            } else if let Some(closed) = closed(&message) {
                return Poll::Ready(Ok(End::Theirs(closed)));
            } else if message.is_ping() {
                self.pongs += 1;
                if self.pongs > PONGS {
                    return Poll::Ready(Err(Failure::Pings));
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
