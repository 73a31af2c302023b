//! Those who ask: connections that are kept, each with one request at a time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::mix::Mix;
use super::upstream::length;

/// One kept connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Whether its last answer says that the call was held.
    held: bool,
}

/// How a run went.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) calls: u64,
    pub(crate) took: Duration,
    /// How long each call took, sorted, in microseconds.
    pub(crate) micros: Vec<f64>,
}

impl Run {
    fn new(took: Duration, mut micros: Vec<f64>) -> Self {
        micros.sort_by(f64::total_cmp);
        Self { calls: micros.len() as u64, took, micros }
    }

    /// Calls of a second.
    pub(crate) fn rate(&self) -> f64 {
        self.calls as f64 / self.took.as_secs_f64()
    }

    /// The time in microseconds within which that share of the calls was answered.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
    pub(crate) fn within(&self, share: f64) -> f64 {
        let place = (self.micros.len() as f64 * share) as usize;
        self.micros.get(place.min(self.micros.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 16 << 10], held: false })
    }

    /// Sends bytes of a request.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Reads an answer to its end; its status.
    pub(crate) async fn answer(&mut self) -> Result<u16> {
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            ensure!(read > 0, "the connection ended, or an answer is too long");
            filled += read;
            let Some(end) = memmem::find(&self.buffer[..filled], b"\r\n\r\n") else { continue };
            if filled < end + 4 + length(&self.buffer[..end]).unwrap_or(0) {
                continue;
            }
            self.held = memmem::find(&self.buffer[..end], b"x-tidegate-outcome: held").is_some();
            let status = self.buffer.get(9..12).and_then(|status| str::from_utf8(status).ok());
            return status.and_then(|status| status.parse().ok()).context("that is no answer");
        }
    }

    /// One call; an error where it is not answered well.
    pub(crate) async fn call(&mut self, request: &[u8]) -> Result<()> {
        self.send(request).await?;
        let status = self.answer().await?;
        ensure!((200..300).contains(&status), "answered {status}: {}", String::from_utf8_lossy(&self.buffer[..600]));
        Ok(())
    }
}

/// When a closed loop ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Passed(Duration),
    Called(u64),
}

/// Each connection asks again as soon as it was answered.
pub(crate) async fn closed(address: SocketAddr, mix: &Arc<Mix>, connections: u64, until: Until) -> Result<Run> {
    let (start, begun) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut asking = JoinSet::new();
    for _ in 0..connections {
        let (mix, begun) = (Arc::clone(mix), Arc::clone(&begun));
        asking.spawn(async move {
            let mut client = Client::connect(address).await?;
            let (mut request, mut micros) = (Vec::new(), Vec::new());
            while match until {
                Until::Passed(span) => start.elapsed() < span,
                Until::Called(calls) => begun.fetch_add(1, Ordering::Relaxed) < calls,
            } {
                mix.next(&mut request);
                let asked = Instant::now();
                client.call(&request).await?;
                ensure!(!client.held, "a call was held, so this measures more than the way through");
                micros.push(asked.elapsed().as_secs_f64() * 1e6);
            }
            anyhow::Ok(micros)
        });
    }
    gather(asking, start).await
}

/// A call every `pause`, whether the last is answered or not, each on a connection that is free. A call counts from when
/// it was due.
pub(crate) async fn open(
    address: SocketAddr,
    connections: usize,
    pause: Duration,
    span: Duration,
    next: impl Fn(&mut Vec<u8>),
) -> Result<Run> {
    let (free, mut freed) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..connections {
        free.send((Client::connect(address).await?, Vec::new()))?;
    }
    let start = Instant::now();
    let (mut asking, mut due, mut micros) = (JoinSet::new(), start, Vec::new());
    while due < start + span {
        // Timers are too coarse for this.
        while Instant::now() < due {
            tokio::task::yield_now().await;
        }
        let (mut client, mut request) = freed.recv().await.context("no connection is left")?;
        next(&mut request);
        let (free, asked) = (free.clone(), due);
        asking.spawn(async move {
            client.call(&request).await?;
            ensure!(!client.held, "a call was held, so this measures more than the way through");
            let took = asked.elapsed().as_secs_f64() * 1e6;
            free.send((client, request)).ok();
            anyhow::Ok(vec![took])
        });
        // One that failed has taken its connection with it.
        while let Some(done) = asking.try_join_next() {
            micros.append(&mut done??);
        }
        due += pause;
    }
    let mut run = gather(asking, start).await?;
    run.micros.append(&mut micros);
    Ok(Run::new(run.took, run.micros))
}

async fn gather(mut asking: JoinSet<Result<Vec<f64>>>, start: Instant) -> Result<Run> {
    let mut micros = Vec::new();
    while let Some(asked) = asking.join_next().await {
        micros.append(&mut asked??);
    }
    Ok(Run::new(start.elapsed(), micros))
}
