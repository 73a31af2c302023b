//! One thread that serves: its connections, its upstream pool, its bots' timers.

use std::convert::Infallible;
use std::future::{Future as _, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, VIA};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

use super::accept::Arrived;
use super::alarm::Alarm;
use super::socket::Socket;
use super::{Connection, Shared};
use crate::proxy::body::Body;
use crate::proxy::client::Attended;
use crate::proxy::upstream::Upstream;
use crate::{discord, gateway, telegram};

/// Room for what stands beside a request line and headers of the largest sizes.
const SLACK: usize = 4 << 10;
const MOST_HEADERS: usize = 256;

/// Serves what it is given, for as long as the process lives: what goes on without its client, and the timers of bots,
/// are on this thread too.
pub(super) fn thread(shared: &Arc<Shared>, upstream: &Upstream, mut arrivals: UnboundedReceiver<Arrived>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "a thread cannot serve"),
    };
    runtime.block_on(async {
        tokio::spawn(upstream.clone().reap());
        while let Some(arrived) = arrivals.recv().await {
            tokio::spawn(serve(Arc::clone(shared), upstream.clone(), arrived));
        }
        std::future::pending::<()>().await;
    });
}

async fn serve(shared: Arc<Shared>, upstream: Upstream, arrived: Arrived) {
    let Arrived { stream, client, place } = arrived;
    let Ok(stream) = TcpStream::from_std(stream) else { return };
    let bounds = &shared.config.bounds;
    let mut builder = http1::Builder::new();
    builder
        .timer(Alarm::default())
        // Counts from the end of the last answer, so it is the limit of an idle connection too.
        .header_read_timeout(bounds.idle_timeout)
        .max_headers(MOST_HEADERS)
        .max_buf_size((bounds.header_block + bounds.target_max + SLACK).max(8 << 10));
    let mut drain = shared.drain.begun();
    let place = Arc::new(place);
    let connection = Connection::new(Arc::clone(&shared), upstream, client, &place);
    let service = service_fn(move |request: Request<Incoming>| {
        let connection = Arc::clone(&connection);
        Attended::new(async move { Ok::<_, Infallible>(route(connection, request).await) })
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
    let ended = if let Some(ended) = served.await {
        ended
    } else {
        serving.as_mut().graceful_shutdown();
        serving.await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
    drop(place);
}

async fn route(connection: Arc<Connection>, request: Request<Incoming>) -> Response<Body> {
    if connection.shared.drain.has_begun() {
        return json(StatusCode::SERVICE_UNAVAILABLE, "tidegate is going down");
    }
    let path = request.uri().path();
    if telegram::is_ours(path) {
        return telegram::serve(connection, request).await;
    }
    if discord::is_ours(path) {
        return discord::serve(connection, request).await;
    }
    if discord::identify::is_ours(path) {
        return Box::pin(discord::identify::serve(connection, request)).await;
    }
    if gateway::is_asked_for(&request) {
        let refused = |status| json(status, "no WebSocket: a handshake as RFC 6455 has it is needed");
        return gateway::serve(&connection, request).unwrap_or_else(refused);
    }
    let served = "served here: /api/…, /identify and a WebSocket (Discord), /bot<token>/<method> and /file/bot<token>/<path> \
                  (Telegram)";
    json(StatusCode::NOT_FOUND, served)
}

fn json(status: StatusCode, message: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes::Bytes::from(shaped(status.as_u16(), message))));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(VIA, HeaderValue::from_static("1.1 tidegate"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

/// An error in the shapes of all platforms, for whom it is not known which is meant.
pub(crate) fn shaped(status: u16, message: &str) -> String {
    let body = serde_json::json!({
        "ok": false, "error_code": status, "description": message, "message": message, "code": 0,
    });
    body.to_string()
}
