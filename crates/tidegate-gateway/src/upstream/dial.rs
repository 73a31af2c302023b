//! From an address to an open WebSocket.

use std::sync::Arc;
use std::time::Duration;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Config, Error, Limits, WebSocketStream, upgrade};
use tower_service::Service as _;

use super::address::Address;
use super::bounded::Bounded;
use super::connection::{self, Handle};
use super::event::{Events, Failure};
use crate::wire::codec::{Compression, LARGEST_MESSAGE};

/// Bytes of the answer to the handshake, with what comes with it.
const LARGEST_ANSWER: usize = 64 << 10;
/// What a compressed message may be larger than what is in it.
const SLACK: usize = 64 << 10;

pub(super) type Socket = WebSocketStream<Bounded<TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>>>;

/// How long parts of a connection may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// From the dial to the connected socket, at each of a host's addresses.
    pub(crate) connect: Duration,
    /// From the dial to the open WebSocket.
    pub(crate) open: Duration,
    /// From our close to the peer's.
    pub(crate) close: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), open: Duration::from_secs(10), close: Duration::from_secs(2) }
    }
}

/// Dials the Gateway.
#[derive(Clone)]
pub(crate) struct Dialer {
    connector: HttpsConnector<HttpConnector>,
    hosts: Arc<[String]>,
    compression: Compression,
    bounds: Bounds,
}

impl Dialer {
    /// `hosts`: those under which a resume address may lie, besides the main address's siblings.
    pub(crate) fn new(
        tls: rustls::ClientConfig,
        hosts: impl Into<Arc<[String]>>,
        compression: Compression,
        bounds: Bounds,
    ) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(bounds.connect));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
        Self { connector, hosts: hosts.into(), compression, bounds }
    }

    /// Dials an address in a task of its own, on this thread's runtime, and tells `events` all that comes of it.
    ///
    /// `url` is where to, `main` the main Gateway address of whoever dials; see [`Address::allowed`].
    pub(crate) fn dial(&self, main: &str, url: &str, events: impl Events) -> Handle {
        let target = Address::new(main).and_then(|main| {
            let address = Address::new(url)?;
            address.allowed(&main, &self.hosts)?;
            Ok(address)
        });
        let dialer = self.clone();
        let open = async move {
            let address = target?;
            let opened = tokio::time::timeout(dialer.bounds.open, dialer.open(&address)).await;
            opened.unwrap_or(Err(Failure::Timeout(dialer.bounds.open)))
        };
        connection::spawn(open, self.compression, self.bounds.close, events)
    }

    async fn open(&self, address: &Address) -> Result<Socket, Failure> {
        let (Some(http), Some(uri)) = (address.as_http(), address.dialled(self.compression)) else {
            return Err(Failure::Address(super::Refused::NotWebSocket));
        };
        let mut connector = self.connector.clone();
        std::future::poll_fn(|cx| connector.poll_ready(cx)).await.map_err(|error| Failure::Connect(causes(&*error)))?;
        let stream = connector.call(http).await.map_err(|error| Failure::Connect(causes(&*error)))?;
        let builder = ClientBuilder::from_uri(uri)
            .config(Config::default())
            .limits(Limits::default().max_payload_len(Some(LARGEST_MESSAGE + SLACK)));
        let stream = Bounded::new(TokioIo::new(stream), LARGEST_ANSWER);
        let (mut socket, _) = builder.connect_on(stream).await.map_err(refused)?;
        socket.get_mut().lift();
        Ok(socket)
    }
}

fn refused(error: Error) -> Failure {
    match error {
        Error::Upgrade(upgrade::Error::DidNotSwitchProtocols(status)) => Failure::Status(status),
        error => Failure::Handshake(error.to_string()),
    }
}

/// An error with its causes. Nothing that was sent is among them.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let each = std::iter::successors(Some(error), |error| error.source());
    each.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
