//! A [`Model`] behind a real port.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpListener;

use super::model::{Model, Settings};
use super::route;
use super::script::Script;
use super::stats::Stats;
use crate::server::{self, Platform, Shared, Wire};

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

/// A running Telegram; [`Handle::url`](crate::Handle::url) is what a bot takes for its API root.
pub type Handle = crate::Handle<Model>;

impl Handle {
    /// All figures.
    pub fn stats(&self) -> Stats {
        self.with(|model| model.stats())
    }

    /// Forces answers; false if too many scripts wait already.
    pub fn script(&self, script: Script) -> bool {
        self.with(|model| model.script(script))
    }
}

impl Platform for Model {
    type Content = Either<Full<bytes::Bytes>, route::Made>;
    type Side = ();

    async fn answer(
        shared: Arc<Shared<Self>>,
        _: Arc<()>,
        _: IpAddr,
        request: Request<Incoming>,
    ) -> io::Result<Response<Self::Content>> {
        route::answer(shared, request).await
    }
}

/// Listens on `addr` (port 0: any free one) and serves until the handle is stopped or dropped.
///
/// Must be called inside a tokio runtime; all tasks run there.
pub async fn serve(addr: SocketAddr, options: Options) -> io::Result<Handle> {
    serve_on(TcpListener::bind(addr).await?, options)
}

/// Like [`serve`], on a listener that is already bound.
pub fn serve_on(listener: TcpListener, options: Options) -> io::Result<Handle> {
    let Options { mut settings, scale, latency, latency_jitter, body_max } = options;
    let wire = Wire { scale, latency, latency_jitter, out_of_order: false, body_max };
    server::serve_on(listener, wire, |unix, _| {
        if settings.epoch_unix_s == 0 {
            settings.epoch_unix_s = unix.as_secs();
        }
        Model::new(settings)
    })
}
