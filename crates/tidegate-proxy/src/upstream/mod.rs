//! The way to a platform: pooled connections of one thread, and what may be tried twice.

mod download;
mod fault;
mod framing;
mod head;
mod payload;
mod pool;
mod reach;
mod sending;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::http::request::Parts;
use hyper::http::uri::Scheme;
use hyper::{HeaderMap, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tidegate_core::policy::Platform;
use tower_service::Service as _;

pub(crate) use self::download::Download;
pub use self::fault::Fault;
pub(crate) use self::payload::{Payload, with_head};
use self::pool::Pool;
use self::reach::Reach;
use self::wire::{Broken, Wire};
use crate::drain::Drain;

/// Where a platform's API is.
#[derive(Debug)]
pub(crate) struct Base {
    platform: Platform,
    pub(crate) reach: Reach,
    /// What is connected to.
    root: Uri,
    host: String,
    /// A path before the platform's own, without its last slash; mostly empty.
    prefix: String,
}

impl Base {
    /// `None` where the address names no host.
    pub(crate) fn new(platform: Platform, api: &Uri) -> Option<Self> {
        let prefix = api.path().trim_end_matches('/').to_owned();
        let (scheme, authority) = (api.scheme()?.clone(), api.authority()?.clone());
        let common = if scheme == Scheme::HTTPS { 443 } else { 80 };
        let host = match authority.port_u16() {
            Some(port) if port != common => format!("{}:{port}", authority.host()),
            _ => authority.host().to_owned(),
        };
        let root = Uri::builder().scheme(scheme).authority(authority).path_and_query("/").build().ok()?;
        Some(Self { platform, reach: Reach::default(), root, host, prefix })
    }

    fn host(&self) -> &str {
        &self.host
    }

    fn prefix(&self) -> &str {
        &self.prefix
    }

    /// For people.
    fn name(&self) -> &'static str {
        match self.platform {
            Platform::Telegram => "Telegram",
            Platform::Discord => "Discord",
        }
    }
}

impl Base {
    fn failed(&self, error: &dyn std::fmt::Display) {
        if let Some(failures) = self.reach.failed(Instant::now()) {
            let (platform, host) = (self.name(), self.root.authority().map(tracing::field::display));
            tracing::warn!(platform, host, failures, %error, "no answer from upstream: bots get 503");
        }
    }

    fn answered(&self) {
        if self.reach.answered() {
            let (platform, host) = (self.name(), self.root.authority().map(tracing::field::display));
            tracing::info!(platform, host, "upstream answers again");
        }
    }
}

/// How a call fared that got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Nothing of it was sent.
    NotSent,
    /// It may have arrived.
    Unknown,
}

/// An answer whose body is still to come. Its headers are fit for a client.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Download,
}

/// One thread's connections to the platforms.
#[derive(Clone)]
pub struct Upstream {
    connector: HttpsConnector<HttpConnector>,
    connect_timeout: Duration,
    pool: Pool,
    drain: Arc<Drain>,
}

impl Upstream {
    /// With no connection yet. `connect_timeout` holds for TCP and TLS together.
    pub fn new(tls: rustls::ClientConfig, connect_timeout: Duration, drain: Arc<Drain>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        Self { connector, connect_timeout, pool: Pool::default(), drain }
    }

    /// Closes connections that have been at rest for long, for as long as the thread lives.
    pub async fn reap(self) {
        loop {
            tokio::time::sleep(pool::TURN).await;
            self.pool.reap();
        }
    }

    /// Sends one call. Where nothing of it could be sent it is tried once more at once. When the drain is over it is given
    /// up.
    pub(crate) async fn send(&self, base: &Base, head: &Parts, payload: &Payload) -> Result<Answer, Failure> {
        let mut again = true;
        loop {
            match self.once(base, head, payload).await {
                Err(Failure::NotSent) if again && payload.is_fresh() && !self.drain.is_over() => again = false,
                answered => return answered,
            }
        }
    }

    async fn once(&self, base: &Base, head: &Parts, payload: &Payload) -> Result<Answer, Failure> {
        loop {
            let rested = self.pool.take(base.platform);
            let was_at_rest = rested.is_some();
            let mut wire = match rested {
                Some(wire) => wire,
                None => {
                    self.drain.unless_over(Box::pin(self.connect(base)).as_mut()).await.ok_or(Failure::NotSent)??
                }
            };
            let asked = self.drain.unless_over(pin!(wire.ask(base, head, payload))).await;
            let Some(asked) = asked else {
                return Err(if wire.has_begun() { Failure::Unknown } else { Failure::NotSent });
            };
            match asked {
                Ok(head) => {
                    base.answered();
                    let body = Download::new(wire, base.platform, self.pool.clone());
                    return Ok(Answer { status: head.status, headers: head.headers, body });
                }
                // The platform closed it while it was at rest. That says nothing of the platform.
                Err(Broken { unwritten: true, .. }) if was_at_rest && payload.is_fresh() => {}
                Err(Broken { fault, unwritten }) => {
                    tracing::debug!(error = %Causes(&fault), "no answer from upstream");
                    if !matches!(fault, Fault::Client(_)) {
                        base.failed(&Causes(&fault));
                    }
                    return Err(if unwritten { Failure::NotSent } else { Failure::Unknown });
                }
            }
        }
    }

    async fn connect(&self, base: &Base) -> Result<Box<Wire>, Failure> {
        let connected = tokio::time::timeout(self.connect_timeout, self.connector.clone().call(base.root.clone()));
        let connected = connected.await.unwrap_or_else(|_| Err("it takes too long to connect".into()));
        connected.map(|stream| Box::new(Wire::new(stream))).map_err(|error| {
            tracing::debug!(error = %Causes(&*error), "no connection to upstream");
            base.failed(&Causes(&*error));
            Failure::NotSent
        })
    }
}

/// An error with its causes. Addresses of requests, and so tokens, are never among them.
struct Causes<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
