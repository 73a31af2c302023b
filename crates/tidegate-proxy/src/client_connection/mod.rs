//! A client's connection: HTTP/1.1 as hyper has it, with a body behind each error, an end that loses no answer, and a
//! place among those that there may be.

mod alarm;
mod socket;
mod unread;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http1::{self, UpgradeableConnection};
use hyper::service::{HttpService, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use self::alarm::Alarm;
pub use self::socket::Socket;
use super::body::Body;
use super::budget::Reserved;
use super::client_gone::Attended;
use super::context::Context;
use super::drain::Waiting;
use super::request_body::{RequestBody, Unread};
use super::upstream::Upstream;

/// Room for what stands beside a request line and headers of the largest sizes.
const SLACK: usize = 4 << 10;
const MOST_HEADERS: usize = 256;
/// A connection on which nothing came for so long is at rest.
pub const REST: Duration = Duration::from_millis(200);

/// One client's connection.
pub struct Connection {
    /// What all calls share.
    pub shared: Arc<Context>,
    pub(crate) upstream: Upstream,
    /// Where the client is.
    pub client: IpAddr,
    /// What its call leaves unread of the body.
    pub(crate) unread: Arc<Unread>,
    /// Its place among the connections that there may be.
    place: Weak<Reserved>,
}

impl Connection {
    fn new(shared: Arc<Context>, upstream: Upstream, client: IpAddr, place: &Arc<Reserved>) -> Arc<Self> {
        Arc::new(Self { shared, upstream, client, unread: Arc::default(), place: Arc::downgrade(place) })
    }

    /// Gives the connection to `then` once the answer to this request, a 101, is written. It keeps its place until `then` is
    /// done. `None` where the connection has ended.
    pub fn upgrade<F: Future<Output = ()> + Send + 'static>(
        &self,
        request: &mut Request<RequestBody>,
        then: impl FnOnce(Socket, Bytes) -> F + Send + 'static,
    ) -> Option<()> {
        let place = self.place.upgrade()?;
        let upgraded = hyper::upgrade::on(request);
        tokio::spawn(async move {
            let Ok(upgraded) = upgraded.await else { return };
            let Ok(parts) = upgraded.downcast::<TokioIo<Socket>>() else { return };
            then(parts.io.into_inner(), parts.read_buf).await;
            drop(place);
        });
        Some(())
    }
}

/// Serves one to its end; `route` answers its requests.
pub(crate) async fn serve<F: Future<Output = Response<Body>> + Send + 'static>(
    shared: Arc<Context>,
    upstream: Upstream,
    (stream, client): (TcpStream, IpAddr),
    place: Reserved,
    route: impl FnOnce(Arc<Connection>, Request<Incoming>) -> F + Clone + Send + 'static,
) {
    let bounds = &shared.config.bounds;
    let mut builder = http1::Builder::new();
    builder
        .timer(Alarm::default())
        // Counts from the end of the last answer, so it is the limit of an idle connection too.
        .header_read_timeout(bounds.idle_timeout)
        .max_headers(MOST_HEADERS)
        .max_buf_size((bounds.header_block + bounds.target_max + SLACK).max(8 << 10));
    let (mut drain, mut over) = (shared.drain.begun(), shared.drain.over());
    let place = Arc::new(place);
    let connection = Connection::new(Arc::clone(&shared), upstream, client, &place);
    let service = service_fn(move |request: Request<Incoming>| {
        let (route, connection) = (route.clone(), Arc::clone(&connection));
        // The call's future is large: it is made where it stays.
        Attended::new(async move {
            let kept = Arc::clone(&connection);
            let mut response = route(connection, request).await;
            if kept.unread.is_any() {
                let may_stay = !kept.shared.drain.has_begun();
                Box::pin(kept.unread.clear(response.headers_mut(), may_stay)).await;
            }
            Ok::<_, Infallible>(response)
        })
    });
    let io = TokioIo::new(Socket::new(stream, Arc::clone(&shared)));
    let mut serving = pin!(builder.serve_connection(io, service).with_upgrades());
    let mut begun = pin!(drain.wait());
    let mut asked = false;
    let served = poll_fn(|cx| {
        if let Poll::Ready(ended) = serving.as_mut().poll(cx) {
            return Poll::Ready(Some(ended));
        }
        // Asked once it wakes this task; to look whether it has takes far less than to ask again.
        if asked && !shared.drain.has_begun() {
            return Poll::Pending;
        }
        asked = true;
        begun.as_mut().poll(cx).map(|()| None)
    });
    let ended = match served.await {
        Some(ended) => ended,
        None => Box::pin(last(serving, &mut over, shared.config.drain_timeout)).await,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
    drop(place);
}

/// A connection while the program goes down. It is not closed the moment that begins: a request may be on its way, and is
/// answered. At rest for a while it is closed; when the drain is over, its call is told so by being polled.
async fn last<S: Serving>(mut serving: Pin<&mut S>, over: &mut Waiting, timeout: Duration) -> hyper::Result<()> {
    if let Ok(ended) = tokio::time::timeout(REST.min(timeout / 10), serving.as_mut()).await {
        return ended;
    }
    serving.as_mut().shut_down();
    tokio::select! {
        biased;
        ended = serving.as_mut() => return ended,
        () = over.wait() => {}
    }
    serving.await
}

/// The HTTP server at work on one connection.
trait Serving: Future<Output = hyper::Result<()>> {
    /// The answer that is under way is the last.
    fn shut_down(self: Pin<&mut Self>);
}

impl<I, S> Serving for UpgradeableConnection<I, S>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    S: HttpService<Incoming, ResBody = Body>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}
