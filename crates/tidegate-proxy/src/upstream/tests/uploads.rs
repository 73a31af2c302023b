//! Bodies of requests on their way out, mostly with a client that is still sending them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::super::sending::Sending;
use super::*;
use crate::body::Body;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A client whose one request is passed on as it comes.
struct Passing {
    client: TcpStream,
    fates: UnboundedReceiver<Result<StatusCode, Failure>>,
}

impl Passing {
    async fn new(stub: &Stub, upstream: &Upstream) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        let (upstream, base, (sender, fates)) = (upstream.clone(), Arc::clone(&stub.base), unbounded_channel());
        let service = service_fn(move |request: Request<Incoming>| {
            let (upstream, base, sender) = (upstream.clone(), Arc::clone(&base), sender.clone());
            async move {
                let (parts, body) = request.into_parts();
                let answer = upstream.send(&base, &parts, &Payload::part(VecDeque::new(), body.into())).await;
                let _ = sender.send(answer.as_ref().map(|answer| answer.status).map_err(|failure| *failure));
                let mut response = Response::new(Body::empty());
                match answer {
                    Ok(answer) => {
                        (*response.status_mut(), *response.headers_mut()) = (answer.status, answer.headers);
                        *response.body_mut() = Body::stream(VecDeque::new(), answer.body);
                    }
                    Err(_) => *response.status_mut() = StatusCode::BAD_GATEWAY,
                }
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(accepted), service));
        Self { client, fates }
    }

    async fn send(&mut self, text: &str) {
        self.client.write_all(text.as_bytes()).await.unwrap();
    }

    async fn fate(&mut self) -> Result<StatusCode, Failure> {
        within(self.fates.recv()).await.unwrap()
    }
}

async fn read(stream: &mut TcpStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    within(stream.read_exact(&mut bytes)).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn requests_as_they_are_written() {
    let large: &'static str = "0123456789abcdef".repeat(20 << 10).leak();
    for (method, target, body, end) in [
        ("GET", "/bot1:a/getMe", "", "\r\n"),
        ("POST", "/bot1:a/getMe", "", "content-length: 0\r\n\r\n"),
        ("POST", "/a?b=c&d=%20", "hello", "content-length: 5\r\n\r\n"),
        ("DELETE", "/a", "x", "content-length: 1\r\n\r\n"),
        // Just what goes out with the head, one more, and far more.
        ("POST", "/a", &large[..16 << 10], "content-length: 16384\r\n\r\n"),
        ("POST", "/a", &large[..=16 << 10], "content-length: 16385\r\n\r\n"),
        ("PUT", "/a", large, "content-length: 327680\r\n\r\n"),
    ] {
        let (stub, upstream) = (Stub::with("http", "/pre/fix/").await, upstream());
        let (parts, payload) = (parts(method, target, &[("x-a", "b")]), whole(body));
        let host = stub.listener.local_addr().unwrap();
        let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
            let mut stream = stub.accept().await;
            let wanted = format!("{method} /pre/fix{target} HTTP/1.1\r\nhost: {host}\r\nx-a: b\r\n{end}");
            assert_eq!(head(&mut stream).await, wanted);
            assert!(read(&mut stream, body.len()).await == body);
            drip(&mut stream, [OK]).await;
        });
        assert_eq!(got.unwrap().text(), "ok");
    }
    let (got, _) = exchange(&Stub::new().await, &upstream(), "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn chunks_are_framed_anew() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let host = stub.listener.local_addr().unwrap();
    let mut passing = Passing::new(&stub, &upstream).await;
    let chunked = format!("POST /a HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked\r\n\r\n");
    passing.send(&chunked).await;
    let mut stream = stub.accept().await;
    assert_eq!(head(&mut stream).await, chunked);
    passing.send("005;ext=1\r\nhello\r\n").await;
    assert_eq!(read(&mut stream, 8).await, "5\r\nhello");
    passing.send("c\r\n, wide world\r\n").await;
    assert_eq!(read(&mut stream, 17).await, "\r\nc\r\n, wide world");
    passing.send("0\r\nx-trailer: 1\r\n\r\n").await;
    assert_eq!(read(&mut stream, 7).await, "\r\n0\r\n\r\n");
    drip(&mut stream, [OK]).await;
    assert_eq!(passing.fate().await, Ok(StatusCode::OK));
    // Nothing at all, on the same connection.
    passing = Passing::new(&stub, &upstream).await;
    passing.send(&format!("{chunked}0\r\n\r\n")).await;
    assert_eq!(head(&mut stream).await, chunked);
    assert_eq!(read(&mut stream, 5).await, "0\r\n\r\n");
    drip(&mut stream, [OK]).await;
    assert_eq!(passing.fate().await, Ok(StatusCode::OK));
    // With a length it has none.
    passing = Passing::new(&stub, &upstream).await;
    passing.send("POST /a HTTP/1.1\r\ncontent-length: 5\r\n\r\nhel").await;
    assert_eq!(head(&mut stream).await, format!("POST /a HTTP/1.1\r\nhost: {host}\r\ncontent-length: 5\r\n\r\n"));
    assert_eq!(read(&mut stream, 3).await, "hel");
    passing.send("lo").await;
    assert_eq!(read(&mut stream, 2).await, "lo");
    drip(&mut stream, [OK]).await;
    assert_eq!(passing.fate().await, Ok(StatusCode::OK));
    let mut rest = [0; 100];
    assert!(tokio::time::timeout(Duration::from_millis(20), stream.read(&mut rest)).await.is_err());
}

#[tokio::test]
async fn a_slow_platform_slows_the_client() {
    const MANY: usize = 1024;
    let (stub, upstream) = (Stub::new().await, upstream());
    let mut passing = Passing::new(&stub, &upstream).await;
    let piece: Vec<u8> = (0..=250).cycle().take(64 << 10).collect();
    passing.send(&format!("POST / HTTP/1.1\r\ncontent-length: {}\r\n\r\n", MANY * piece.len())).await;
    let mut stream = stub.accept().await;
    head(&mut stream).await;
    let (sent, out) = tokio::sync::watch::channel(0);
    let from = piece.clone();
    let client = tokio::spawn(async move {
        for turn in 1..=MANY {
            passing.client.write_all(&from).await.unwrap();
            sent.send_replace(turn);
        }
        passing
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    // Four sockets hold something each.
    assert!(*out.borrow() < MANY * 3 / 4, "{}", *out.borrow());
    let mut got = vec![0; piece.len()];
    for turn in 0..MANY {
        within(stream.read_exact(&mut got)).await.unwrap();
        assert!(got == piece, "{turn}");
    }
    drip(&mut stream, [OK]).await;
    let mut passing = client.await.unwrap();
    assert_eq!(passing.fate().await, Ok(StatusCode::OK));
    assert!(head(&mut passing.client).await.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[tokio::test]
async fn an_answer_that_comes_early_is_delivered() {
    for closes_then in [false, true] {
        let (stub, upstream) = (Stub::new().await, upstream());
        let mut passing = Passing::new(&stub, &upstream).await;
        passing.send("POST / HTTP/1.1\r\ncontent-length: 50000000\r\n\r\nbegin").await;
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, [&b"HTTP/1.1 413 Too Large\r\ncontent-length: 9\r\n\r\ntoo "[..]]).await;
        assert_eq!(passing.fate().await, Ok(StatusCode::PAYLOAD_TOO_LARGE));
        drip(&mut stream, [&b"large"[..]]).await;
        if closes_then {
            // With what nobody read: that resets the connection.
            passing.send(&"x".repeat(100_000)).await;
            drop(stream);
        } else {
            // What is left of the upload would be taken for another request.
            ends(&mut stream).await;
        }
        assert!(head(&mut passing.client).await.starts_with("HTTP/1.1 413 "));
        assert_eq!(read(&mut passing.client, 9).await, "too large");
        let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
        assert_eq!(got.unwrap().text(), "ok");
    }
}

#[tokio::test]
async fn an_answer_is_read_though_its_request_cannot_be_written() {
    let (stub, upstream, parts) = (Stub::new().await, upstream(), parts("POST", "/", &[]));
    let payload = Payload::Whole(Bytes::from(vec![b'x'; 32 << 20]));
    let (got, mut other) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, [&b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno"[..]]).await;
        drop(stream);
        stub.is_left_alone().await
    });
    assert_eq!((got.unwrap().status, std::mem::take(&mut other)), (413, true));
    // And that connection is used for nothing else.
    assert!(upstream.pool.take(Platform::Telegram).is_none());
    let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn a_client_that_breaks_off_says_nothing_of_the_platform() {
    for framing in ["content-length: 100\r\n\r\n0123456789", "transfer-encoding: chunked\r\n\r\na\r\n0123456789\r\n5"] {
        let (stub, upstream) = (Stub::new().await, upstream());
        let mut passing = Passing::new(&stub, &upstream).await;
        passing.send(&format!("POST / HTTP/1.1\r\n{framing}")).await;
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        let length = if framing.starts_with('c') { 10 } else { 13 };
        assert!(read(&mut stream, length).await.ends_with("0123456789"));
        let Passing { client, mut fates } = passing;
        drop(client);
        assert_eq!(within(fates.recv()).await.unwrap_or(Err(Failure::Unknown)), Err(Failure::Unknown));
        assert_eq!(stub.base.reach.is_reachable(), None);
        // Nothing that the platform would take for the rest of it.
        let mut rest = Vec::new();
        let _ = within(stream.read_to_end(&mut rest)).await;
        assert!(rest.is_empty(), "{rest:?}");
    }
    // A malformed chunk breaks it off too, and the client is still there.
    let (stub, upstream) = (Stub::new().await, upstream());
    let mut passing = Passing::new(&stub, &upstream).await;
    passing.send("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n").await;
    let mut stream = stub.accept().await;
    head(&mut stream).await;
    ends(&mut stream).await;
    assert_eq!((passing.fate().await, stub.base.reach.is_reachable()), (Err(Failure::Unknown), None));
}

#[tokio::test]
async fn a_stream_of_which_nothing_left_goes_out_on_another_connection() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let (_, stream) = exchange(&stub, &upstream, "GET", OK).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let mut passing = Passing::new(&stub, &upstream).await;
    passing.send("POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello").await;
    let mut stream = stub.accept().await;
    head(&mut stream).await;
    assert_eq!(read(&mut stream, 5).await, "hello");
    drip(&mut stream, [OK]).await;
    assert_eq!(passing.fate().await, Ok(StatusCode::OK));
}

/// Takes all and keeps it until it is told to write it, as TLS may.
#[derive(Default)]
struct Holding {
    held: Vec<u8>,
    out: Vec<u8>,
}

impl AsyncWrite for Holding {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.held.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let held = std::mem::take(&mut self.held);
        self.out.extend(held);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_client_that_pauses_leaves_nothing_behind() {
    // The body that is sent on is the answer of somebody else.
    let stub = Stub::new().await;
    let stream = TcpStream::connect(stub.listener.local_addr().unwrap()).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut from = stub.accept().await;
    let empty = http_body_util::Empty::<Bytes>::new();
    let (answer, ()) = tokio::join!(sender.send_request(Request::new(empty)), async {
        head(&mut from).await;
        drip(&mut from, [&b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"[..]]).await;
    });
    let (mut sending, mut to) = (Sending::default(), Holding::default());
    let payload = Payload::part(VecDeque::new(), answer.unwrap().into_body().into());
    sending.begin(&stub.base, &parts("POST", "/", &[]), &payload);
    let mut polls = async |is_out: fn(&Holding) -> bool| {
        for _ in 0..100 {
            let _ = poll_fn(|cx| Poll::Ready(sending.poll(Pin::new(&mut to), cx))).await;
            if is_out(&to) {
                return sending.is_over();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        unreachable!("it stays behind");
    };
    assert!(!polls(|to| to.out.ends_with(b"\r\n\r\nhello")).await);
    drip(&mut from, [&b"last"[..]]).await;
    assert!(polls(|to| to.out.ends_with(b"\r\n\r\nhellolast")).await);
}
