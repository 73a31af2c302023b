use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{Method, Request};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

mod answers;
mod connections;
mod framing;
mod heads;
mod random;
mod rest;
mod tls;
mod uploads;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// A platform that says what it is told to.
struct Stub {
    listener: TcpListener,
    base: Arc<Base>,
}

impl Stub {
    async fn new() -> Self {
        Self::with("http", "").await
    }

    async fn with(scheme: &str, prefix: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = base(&format!("{scheme}://{}{prefix}", listener.local_addr().unwrap()));
        Self { listener, base: Arc::new(base) }
    }

    async fn accept(&self) -> TcpStream {
        let (stream, _) = within(self.listener.accept()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Nobody else has connected.
    async fn is_left_alone(&self) -> bool {
        tokio::time::timeout(Duration::from_millis(20), self.listener.accept()).await.is_err()
    }
}

fn base(api: &str) -> Base {
    Base::new(Platform::Telegram, &api.parse().unwrap()).unwrap()
}

fn upstream() -> Upstream {
    Upstream::new(tidegate_net::tls::client().unwrap(), Duration::from_secs(5), Arc::default())
}

fn parts(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn get() -> Parts {
    parts("GET", "/", &[])
}

fn whole(body: &'static str) -> Payload {
    Payload::Whole(Bytes::from_static(body.as_bytes()))
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, what).await.unwrap()
}

/// A request's head; its body stays.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(stream.read_u8()).await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Writes the pieces, each on a turn of its own.
async fn drip(stream: &mut (impl AsyncWrite + Unpin), pieces: impl IntoIterator<Item = &[u8]>) {
    for piece in pieces {
        stream.write_all(piece).await.unwrap();
        stream.flush().await.unwrap();
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
    }
}

/// Waits for the other side to close, in either way.
async fn ends(stream: &mut (impl AsyncRead + Unpin)) {
    let mut rest = Vec::new();
    let _ = within(stream.read_to_end(&mut rest)).await;
}

/// An answer, read to its end.
#[derive(Debug)]
struct Got {
    status: u16,
    headers: HeaderMap,
    body: Result<Bytes, Fault>,
}

impl Got {
    fn text(&self) -> &str {
        str::from_utf8(self.body.as_ref().unwrap()).unwrap()
    }
}

async fn ask(upstream: &Upstream, base: &Base, head: &Parts, payload: &Payload) -> Result<Got, Failure> {
    let answer = within(upstream.send(base, head, payload)).await?;
    let (status, headers) = (answer.status.as_u16(), answer.headers);
    let body = within(answer.body.collect()).await.map(http_body_util::Collected::to_bytes);
    Ok(Got { status, headers, body })
}

/// Asks, and answers with these bytes on that connection. The connection is left as it is.
async fn exchange(stub: &Stub, upstream: &Upstream, method: &str, bytes: &[u8]) -> (Result<Got, Failure>, TcpStream) {
    let parts = parts(method, "/", &[]);
    let payload = whole("");
    tokio::join!(ask(upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, [bytes]).await;
        stream
    })
}

/// What becomes of an answer with these bytes, behind which the platform closes.
async fn answered(method: &str, bytes: &[u8]) -> Result<Got, Failure> {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), parts(method, "/", &[]), whole(""));
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, [bytes]).await;
    });
    got
}
