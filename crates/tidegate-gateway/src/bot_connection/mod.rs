//! One bot's socket: a thin task around the attachment's protocol.
//!
//! It reads what the bot says while what it is sent goes out, hands on what is in its shard's ring, and tells the fleet
//! when it is gone. What it has packed and not written is at most [`FULL`], one message more, and a minute of answers to
//! heartbeats and pings.

mod input;
mod output;

use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tidegate_core::bot::ShardKey;
use tokio::io::AsyncWriteExt as _;
use tokio::time::{Instant, Sleep, sleep};

use self::output::Following;
use super::attachment::Attachment;
use super::bot_gateway::Fleet;
use super::client::{Client, Stream};
use super::close::Close;
use super::discover::Discover;
use super::gateway::Fleets;
use super::mailbox::Link;
use super::websocket::{Reader, Writer};
use super::wire::codec::{Compression, Deflate};

/// Packed bytes at which no more dispatches are packed.
const FULL: usize = 64 << 10;
/// Times that it reads, packs and writes before others of this thread have their turn.
const ROUNDS: usize = 8;
/// Until a bot that is told goodbye has taken it.
const GOODBYE: Duration = Duration::from_secs(5);
/// A sleeping timer looks again at least this often: a suspended machine's timers stand still while its clock does not.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How it ends.
#[derive(Clone, Debug)]
enum End {
    Ours(Close),
    /// The bot closes, with its code.
    Theirs(Option<u16>),
    Gone,
}

impl From<Close> for End {
    fn from(close: Close) -> Self {
        Self::Ours(close)
    }
}

/// One bot's socket.
pub(super) struct Guest {
    fleets: Arc<Fleets>,
    discover: Arc<dyn Discover>,
    /// Where it comes from.
    client: IpAddr,
    io: Box<dyn Stream>,
    reader: Reader,
    writer: Writer,
    deflate: Option<Deflate>,
    attachment: Attachment,
    link: Arc<Link>,
    address: Arc<str>,
    /// Where it has asked for a session last.
    seat: Option<(Arc<Fleet>, ShardKey)>,
    following: Option<Following>,
    timer: Pin<Box<Sleep>>,
    drain: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// It asked for something that is not served.
    refused: Option<Close>,
}

impl Guest {
    pub(super) fn new(
        fleets: Arc<Fleets>,
        client: Client,
        address: Arc<str>,
        opening: Result<Compression, Close>,
    ) -> Self {
        let Client { io, early, address: client, discover, drain } = client;
        let settings = &fleets.depot.settings;
        let interval = settings.heartbeat_interval.into();
        let deflate = opening.as_ref().ok().and_then(|compression| Deflate::new(*compression).ok());
        Self {
            io,
            reader: Reader::new(settings.send_queue.max_payload, &early),
            writer: Writer::default(),
            deflate,
            attachment: Attachment::new(fleets.depot.clock.now(), interval),
            link: Link::new(fleets.number()),
            address,
            seat: None,
            following: None,
            timer: Box::pin(sleep(LOOK_AGAIN)),
            drain,
            refused: opening.err(),
            discover,
            client,
            fleets,
        }
    }

    pub(super) async fn run(mut self) {
        let end = match self.refused.take() {
            Some(close) => End::Ours(close),
            None => match self.hello() {
                Ok(()) => poll_fn(|cx| self.poll(cx)).await,
                Err(end) => end,
            },
        };
        let code = if let End::Theirs(code) = &end { *code } else { None };
        self.leave(code);
        self.following = None;
        match &end {
            End::Ours(Close { code, reason }) => {
                tracing::debug!(client = %self.client, code, %reason, "a bot is closed");
                self.writer.close(Some(*code), reason);
            }
            End::Theirs(code) => self.writer.close(*code, ""),
            End::Gone => return,
        }
        let goodbye = async {
            while !self.writer.is_empty() {
                let written = self.io.write(&self.writer.slice()).await?;
                self.writer.advance(written);
            }
            // Hears the bot out, so that what it is sending does not reset the connection before it has read all.
            self.io.shutdown().await
        };
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        self.link.register(cx.waker());
        for _ in 0..ROUNDS {
            match self.round(cx) {
                Ok(true) => {}
                Ok(false) => return Poll::Pending,
                Err(end) => return Poll::Ready(end),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Does what can be done now; whether that was something.
    fn round(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        if self.drain.as_mut().poll(cx).is_ready() {
            return Err(Close::DRAINING.into());
        }
        let told = self.take_in()?;
        let read = self.read(cx)?;
        let packed = self.pack()?;
        let written = self.write(cx)?;
        Ok(self.watch(cx)? || told || read || packed || written)
    }

    /// Looks at the time; whether to look again.
    fn watch(&mut self, cx: &mut Context<'_>) -> Result<bool, End> {
        let clock = self.fleets.depot.clock;
        self.attachment.tick(clock.now())?;
        let wake = Instant::now() + clock.until(self.attachment.due()).min(LOOK_AGAIN);
        // Most of the time it only moves out, and one early look costs less than a timer that is moved all the time.
        if wake < self.timer.deadline() || self.timer.is_elapsed() {
            self.timer.as_mut().reset(wake);
        }
        Ok(self.timer.as_mut().poll(cx).is_ready())
    }

    /// Its session goes on without it.
    fn leave(&mut self, code: Option<u16>) {
        if let Some((fleet, key)) = self.seat.take() {
            fleet.left(key, self.link.number, code);
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.leave(None);
    }
}
