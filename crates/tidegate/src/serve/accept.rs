//! One thread: accepts connections and serves them.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{Connection, Shared};
use crate::proxy::body::Body;
use crate::proxy::budget::Reserved;
use crate::proxy::client::Attended;
use crate::proxy::upstream::Upstream;
use crate::{discord, telegram};

/// Room for a request line and headers of the largest sizes together.
const SLACK: usize = 4 << 10;
const MOST_HEADERS: usize = 256;
/// After an error of accept itself, mostly too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until the drain has begun and all its connections are closed.
pub(super) fn thread(shared: &Arc<Shared>, upstream: &Upstream, listener: std::net::TcpListener) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "a thread cannot serve"),
    };
    runtime.block_on(async {
        match TcpListener::from_std(listener) {
            Ok(listener) => accept(shared, upstream, listener).await,
            Err(error) => tracing::error!(%error, "a thread cannot listen"),
        }
        // What goes on without its client, and the timers of bots, live on this thread.
        std::future::pending::<()>().await;
    });
}

async fn accept(shared: &Arc<Shared>, upstream: &Upstream, listener: TcpListener) {
    let mut drain = shared.drain.begun();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = drain.wait() => return,
        };
        match accepted {
            Ok((stream, client)) => match shared.connections.take(1) {
                Some(place) => {
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(serve(Arc::clone(shared), upstream.clone(), stream, client.ip(), place));
                }
                None => {
                    tokio::spawn(tokio::time::timeout(Duration::from_secs(1), turn_away(stream)));
                }
            },
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn serve(shared: Arc<Shared>, upstream: Upstream, stream: TcpStream, client: IpAddr, place: Reserved) {
    let bounds = &shared.config.bounds;
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // Counts from the end of the last answer, so it is the limit of an idle connection too.
        .header_read_timeout(bounds.idle_timeout)
        .max_headers(MOST_HEADERS)
        .max_buf_size((bounds.header_block + bounds.target_max + SLACK).max(8 << 10));
    let mut drain = shared.drain.begun();
    let connection = Connection::new(Arc::clone(&shared), upstream, client);
    let service = service_fn(move |request: Request<Incoming>| {
        let connection = Arc::clone(&connection);
        Attended::new(async move { Ok::<_, Infallible>(route(connection, request).await) })
    });
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = drain.wait() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
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
    let served = "served here: /api/… (Discord), /bot<token>/<method> and /file/bot<token>/<path> (Telegram)";
    json(StatusCode::NOT_FOUND, served)
}

fn json(status: StatusCode, message: &str) -> Response<Body> {
    let body = serde_json::json!({
        "ok": false, "error_code": status.as_u16(), "description": message, "message": message, "code": 0,
    });
    let mut response = Response::new(Body::from(bytes::Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    headers.insert(hyper::header::VIA, hyper::header::HeaderValue::from_static("1.1 tidegate"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(hyper::header::RETRY_AFTER, hyper::header::HeaderValue::from_static("5"));
    }
    response
}

/// One connection too many: an answer all the same, once something was asked.
async fn turn_away(mut stream: TcpStream) {
    const BODY: &str = r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}"#;
    let mut asked = [0; 1024];
    let _ = stream.read(&mut asked).await;
    let length = BODY.len();
    let answer = format!(
        "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         retry-after: 5\r\nvia: 1.1 tidegate\r\nx-tidegate-outcome: refused\r\nconnection: close\r\n\r\n{BODY}"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    // What is still unread would reset the connection before the answer was read.
    while stream.read(&mut asked).await.is_ok_and(|read| read > 0) {}
}
