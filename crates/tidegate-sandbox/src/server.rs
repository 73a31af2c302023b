//! A model behind a real port: what is the same for every platform.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

/// A model that can stand behind a port.
pub(crate) trait Platform: Send + Sized + 'static {
    /// What answers are made of.
    type Content: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;

    /// What its connections share besides the model.
    type Side: Default + Send + Sync + 'static;

    /// The port is open.
    fn started(_shared: &Arc<Shared<Self>>, _side: &Arc<Self::Side>, _stopped: &watch::Receiver<bool>) {}

    /// Answers one request; an error cuts the connection.
    fn answer(
        shared: Arc<Shared<Self>>,
        side: Arc<Self::Side>,
        peer: IpAddr,
        request: Request<Incoming>,
    ) -> impl Future<Output = io::Result<Response<Self::Content>>> + Send;
}

/// How a port behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    pub(crate) scale: f64,
    pub(crate) latency: Duration,
    pub(crate) latency_jitter: Duration,
    /// Every other answer is held so long that the next one overtakes it.
    pub(crate) out_of_order: bool,
    pub(crate) body_max: u64,
}

impl Wire {
    /// Real seconds of one platform second.
    pub(crate) fn scale(&self) -> f64 {
        if self.scale.is_finite() { self.scale.clamp(0.001, 1000.0) } else { 1.0 }
    }
}

/// How long an answer is held that is to be overtaken, at least (real time).
const OVERTAKEN_MIN: Duration = Duration::from_millis(40);

/// What all connections of a server share.
pub(crate) struct Shared<M> {
    model: Mutex<M>,
    pub(crate) scale: f64,
    pub(crate) body_max: u64,
    pub(crate) started: Instant,
    pub(crate) started_unix_ms: u64,
    /// Something happened that a waiting call may care about.
    pub(crate) news: Notify,
    /// Calls that carried a header `X-Tidegate-…`, which is none of a platform's business.
    pub(crate) tidegate_headers: AtomicU64,
    latency_us: AtomicU64,
    jitter_us: AtomicU64,
    out_of_order: AtomicBool,
    turn: AtomicU64,
}

impl<M> Shared<M> {
    pub(crate) fn model(&self) -> MutexGuard<'_, M> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Platform time since the start.
    pub(crate) fn now(&self) -> Duration {
        self.platform(self.started.elapsed())
    }

    /// Platform time that passes in real time.
    pub(crate) fn platform(&self, real: Duration) -> Duration {
        Duration::try_from_secs_f64(real.as_secs_f64() / self.scale).unwrap_or(Duration::MAX)
    }

    /// Real time that platform time takes.
    pub(crate) fn real(&self, platform: Duration) -> Duration {
        Duration::try_from_secs_f64(platform.as_secs_f64() * self.scale).unwrap_or(Duration::MAX)
    }

    /// Real time that the next answer is on its way.
    pub(crate) fn latency(&self) -> Duration {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        // Spread over the range without a random number: steps of the golden ratio.
        let spread = u32::try_from(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48).unwrap_or(0);
        let micros = |part: &AtomicU64| Duration::from_micros(part.load(Ordering::Relaxed));
        let jitter = micros(&self.jitter_us).mul_f64(f64::from(spread) / 65536.0);
        let latency = micros(&self.latency_us).saturating_add(jitter);
        if turn.is_multiple_of(2) && self.out_of_order.load(Ordering::Relaxed) {
            return latency.saturating_mul(3).max(OVERTAKEN_MIN);
        }
        latency
    }

    /// Changes how long answers take from now on; what is `None` stays.
    pub(crate) fn set_latency(&self, latency: Option<u64>, jitter: Option<u64>, out_of_order: Option<bool>) {
        const HOUR_MS: u64 = 3_600_000;
        let set = |part: &AtomicU64, ms: Option<u64>| {
            if let Some(ms) = ms {
                part.store(ms.min(HOUR_MS) * 1000, Ordering::Relaxed);
            }
        };
        set(&self.latency_us, latency);
        set(&self.jitter_us, jitter);
        if let Some(out_of_order) = out_of_order {
            self.out_of_order.store(out_of_order, Ordering::Relaxed);
        }
    }

    /// Counts a call that carries a header meant for tidegate.
    pub(crate) fn notice(&self, headers: &HeaderMap) {
        if headers.keys().any(|name| name.as_str().starts_with("x-tidegate-")) {
            self.tidegate_headers.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A running platform; it stops when this is dropped.
pub struct Handle<M> {
    /// Where it listens.
    pub addr: SocketAddr,
    shared: Arc<Shared<M>>,
    stop: watch::Sender<bool>,
}

impl<M> Handle<M> {
    /// `http://` and the address.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops listening and cuts all connections.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Looks at the model, or changes it, between two calls.
    pub fn with<T>(&self, look: impl FnOnce(&mut M) -> T) -> T {
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

impl<M> Drop for Handle<M> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Serves the model that `make` builds; it is given the Unix time of the start, and where it listens.
pub(crate) fn serve_on<M: Platform>(
    listener: TcpListener,
    wire: Wire,
    make: impl FnOnce(Duration, SocketAddr) -> M,
) -> io::Result<Handle<M>> {
    let addr = listener.local_addr()?;
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = |part: Duration| AtomicU64::new(u64::try_from(part.as_micros()).unwrap_or(u64::MAX));
    let shared = Arc::new(Shared {
        model: Mutex::new(make(unix, addr)),
        scale: wire.scale(),
        body_max: wire.body_max,
        started: Instant::now(),
        started_unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
        news: Notify::new(),
        tidegate_headers: AtomicU64::new(0),
        latency_us: micros(wire.latency),
        jitter_us: micros(wire.latency_jitter),
        out_of_order: AtomicBool::new(wire.out_of_order),
        turn: AtomicU64::new(0),
    });
    let (stop, stopped) = watch::channel(false);
    let side = Arc::default();
    M::started(&shared, &side, &stopped);
    tokio::spawn(accept(listener, Arc::clone(&shared), side, stopped));
    Ok(Handle { addr, shared, stop })
}

async fn accept<M: Platform>(
    listener: TcpListener,
    shared: Arc<Shared<M>>,
    side: Arc<M::Side>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        match accepted {
            Ok((stream, peer)) => {
                let side = Arc::clone(&side);
                tokio::spawn(connection(stream, peer.ip(), Arc::clone(&shared), side, stopped.clone()));
            }
            // Out of descriptors, most likely: others must close first.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn connection<M: Platform>(
    stream: TcpStream,
    peer: IpAddr,
    shared: Arc<Shared<M>>,
    side: Arc<M::Side>,
    mut stopped: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| M::answer(Arc::clone(&shared), Arc::clone(&side), peer, request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(600))
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        // A client that breaks off, and a connection cut on purpose, are no faults of the server.
        _ = served => {}
        _ = stopped.wait_for(|stop| *stop) => {}
    }
}
