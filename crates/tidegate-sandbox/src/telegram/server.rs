//! A [`Model`] behind a real port.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use super::model::{Model, Settings};
use super::route;
use super::script::Script;
use super::stats::Stats;

/// How a [`serve`]d platform behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits, bounds and tokens. An `epoch_unix_s` of 0 becomes the moment of the start.
    pub settings: Settings,
    /// Real seconds of one platform second, 0.001 to 1000: 0.1 makes every period a tenth as long. Numbers on the wire
    /// stay platform time.
    pub scale: f64,
    /// Real time from a call to its answer, on top of what the platform itself takes.
    pub latency: Duration,
    /// Up to this much more real time, different from call to call.
    pub latency_jitter: Duration,
    /// Longest body taken, in bytes; longer ones are answered 413.
    pub body_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            scale: 1.0,
            latency: Duration::ZERO,
            latency_jitter: Duration::ZERO,
            body_max: 60 << 20,
        }
    }
}

/// What all connections of a server share.
pub(crate) struct Shared {
    model: Mutex<Model>,
    pub(crate) options: Options,
    pub(crate) started: Instant,
    pub(crate) started_unix_ms: u64,
    /// Something happened that a waiting poll may care about.
    pub(crate) news: Notify,
    /// Calls that carried a header `X-Tidegate-…`, which is none of a platform's business.
    pub(crate) tidegate_headers: AtomicU64,
    turn: AtomicU64,
}

impl Shared {
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Platform time since the start.
    pub(crate) fn now(&self) -> Duration {
        let seconds = self.started.elapsed().as_secs_f64() / self.options.scale;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Real time that platform time takes.
    pub(crate) fn real(&self, platform: Duration) -> Duration {
        Duration::try_from_secs_f64(platform.as_secs_f64() * self.options.scale).unwrap_or(Duration::MAX)
    }

    pub(crate) fn latency(&self) -> Duration {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        // Spread over the range without a random number: steps of the golden ratio.
        let spread = u32::try_from(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48).unwrap_or(0);
        let jitter = self.options.latency_jitter.mul_f64(f64::from(spread) / 65536.0);
        self.options.latency.saturating_add(jitter)
    }
}

/// A running platform; it stops when this is dropped.
pub struct Handle {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
}

impl Handle {
    /// `http://` and the address: what a bot takes for its API root.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops listening and cuts all connections.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// All figures.
    pub fn stats(&self) -> Stats {
        self.with(|model| model.stats())
    }

    /// Forces answers; false if too many scripts wait already.
    pub fn script(&self, script: Script) -> bool {
        self.with(|model| model.script(script))
    }

    /// Looks at the model, or changes it, between two calls.
    pub fn with<T>(&self, look: impl FnOnce(&mut Model) -> T) -> T {
        let result = look(&mut self.shared.model());
        self.shared.news.notify_waiters();
        result
    }

    /// Calls so far that carried a header `X-Tidegate-…`: those are for tidegate and must not reach a platform.
    pub fn tidegate_headers(&self) -> u64 {
        self.shared.tidegate_headers.load(Ordering::Relaxed)
    }

    /// Platform time now, as the model counts it.
    pub fn now(&self) -> Duration {
        self.shared.now()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Listens on `addr` (port 0: any free one) and serves until the handle is stopped or dropped.
///
/// Must be called inside a tokio runtime; all tasks run there.
pub async fn serve(addr: SocketAddr, options: Options) -> io::Result<Handle> {
    serve_on(TcpListener::bind(addr).await?, options)
}

/// Like [`serve`], on a listener that is already bound.
pub fn serve_on(listener: TcpListener, mut options: Options) -> io::Result<Handle> {
    let addr = listener.local_addr()?;
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if options.settings.epoch_unix_s == 0 {
        options.settings.epoch_unix_s = unix.as_secs();
    }
    options.scale = if options.scale.is_finite() { options.scale.clamp(0.001, 1000.0) } else { 1.0 };
    let shared = Arc::new(Shared {
        model: Mutex::new(Model::new(options.settings.clone())),
        options,
        started: Instant::now(),
        started_unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
        news: Notify::new(),
        tidegate_headers: AtomicU64::new(0),
        turn: AtomicU64::new(0),
    });
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(accept(listener, Arc::clone(&shared), stopped));
    Ok(Handle { addr, shared, stop })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(connection(stream, Arc::clone(&shared), stopped.clone()));
            }
            // Out of descriptors, most likely: others must close first.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| route::answer(Arc::clone(&shared), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(600))
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A client that breaks off, and a connection cut on purpose, are no faults of the server.
        _ = served => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
}
