//! The way to a platform: pooled connections of one thread, and what may be tried twice.

use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::body::{Outgoing, Payload};
use super::reach::Reach;

/// Shorter than servers keep idle connections, so that a call seldom meets one that is being closed.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// Of an answer; as many as a request may have.
const MOST_HEADERS: usize = 256;

/// Where a platform's API is.
#[derive(Debug)]
pub(crate) struct Base {
    /// The platform's name, for people.
    name: &'static str,
    pub(crate) reach: Reach,
    scheme: Scheme,
    authority: Authority,
    /// A path before the platform's own, without its last slash; mostly empty.
    prefix: String,
}

impl Base {
    pub(crate) fn new(name: &'static str, api: &Uri) -> Option<Self> {
        let prefix = api.path().trim_end_matches('/').to_owned();
        let (scheme, authority) = (api.scheme()?.clone(), api.authority()?.clone());
        Some(Self { name, reach: Reach::default(), scheme, authority, prefix })
    }

    fn uri(&self, target: Option<PathAndQuery>) -> Option<Uri> {
        let target = match target {
            Some(target) if self.prefix.is_empty() => target,
            Some(target) => format!("{}{target}", self.prefix).parse().ok()?,
            None => PathAndQuery::from_static("/"),
        };
        let builder = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        builder.path_and_query(target).build().ok()
    }
}

impl Base {
    fn failed(&self, error: &dyn std::fmt::Display) {
        if let Some(failures) = self.reach.failed(Instant::now()) {
            let (platform, host) = (self.name, &self.authority);
            tracing::warn!(platform, %host, failures, %error, "no answer from upstream: bots get 503");
        }
    }

    fn answered(&self) {
        if self.reach.answered() {
            tracing::info!(platform = self.name, host = %self.authority, "upstream answers again");
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

/// One thread's connections to the platforms.
#[derive(Clone)]
pub(crate) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Outgoing>,
}

impl Upstream {
    pub(crate) fn new(tls: rustls::ClientConfig, connect_timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .http1_max_headers(MOST_HEADERS)
            .build(connector);
        Self { client }
    }

    /// Sends one call. Where nothing of it could be sent it is tried once more at once.
    pub(crate) async fn send(
        &self,
        base: &Base,
        head: &Parts,
        payload: &Payload,
    ) -> Result<Response<Incoming>, Failure> {
        match self.once(base, head, payload).await {
            Err(Failure::NotSent) if payload.is_fresh() => self.once(base, head, payload).await,
            answered => answered,
        }
    }

    async fn once(&self, base: &Base, head: &Parts, payload: &Payload) -> Result<Response<Incoming>, Failure> {
        let request = request(base, head, payload).ok_or(Failure::NotSent)?;
        let response = self.client.request(request).await.map_err(|error| {
            tracing::debug!(error = %Causes(&error), "no answer from upstream");
            if !is_of_client(&error) {
                base.failed(&Causes(&error));
            }
            if error.is_connect() { Failure::NotSent } else { Failure::Unknown }
        })?;
        // Nothing was asked that would end the client's HTTP; passed on, it would.
        if response.status().is_informational() {
            tracing::debug!(status = %response.status(), "no answer from upstream");
            return Err(Failure::Unknown);
        }
        base.answered();
        Ok(response)
    }
}

/// Whether a call broke off because its client did.
fn is_of_client(error: &(dyn std::error::Error + 'static)) -> bool {
    let cause = error.source().and_then(<dyn std::error::Error>::downcast_ref::<hyper::Error>);
    cause.is_some_and(hyper::Error::is_user)
}

fn request(base: &Base, head: &Parts, payload: &Payload) -> Option<Request<Outgoing>> {
    let mut request = Request::new(payload.outgoing());
    *request.method_mut() = head.method.clone();
    *request.uri_mut() = base.uri(head.uri.path_and_query().cloned())?;
    *request.headers_mut() = head.headers.clone();
    // Without it a GET of unknown length would be sent without its body.
    if payload.length().is_none() {
        request.headers_mut().insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    Some(request)
}

/// The TLS settings of all threads.
pub(crate) fn tls() -> anyhow::Result<rustls::ClientConfig> {
    use hyper_rustls::ConfigBuilderExt as _;
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_webpki_roots().with_no_client_auth())
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
