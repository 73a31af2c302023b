//! Which connection a call goes out on, and what becomes of it.

use hyper::body::Body as _;

use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// Asks on a connection that is open already.
async fn again(stub: &Stub, upstream: &Upstream, stream: &mut TcpStream, bytes: &[u8]) -> Got {
    let (parts, payload) = (get(), whole(""));
    let (got, ()) = tokio::join!(ask(upstream, &stub.base, &parts, &payload), async {
        head(stream).await;
        drip(stream, [bytes]).await;
    });
    got.unwrap()
}

#[tokio::test]
async fn a_connection_is_used_again_behind_every_answer_that_ends() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let (_, mut stream) = exchange(&stub, &upstream, "GET", OK).await;
    for bytes in [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 204 No\r\ncontent-length: 7\r\n\r\n",
        "HTTP/1.1 304 No\r\n\r\n",
        "HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nconnection: x-foo\r\ncontent-length: 2\r\n\r\nok",
    ] {
        again(&stub, &upstream, &mut stream, bytes.as_bytes()).await;
    }
    again(&stub, &upstream, &mut stream, OK).await;
    assert!(stub.is_left_alone().await);
}

#[tokio::test]
async fn a_connection_is_closed_behind_every_other() {
    for bytes in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nconnection: close, keep-alive\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        // Unasked: whoever asked next would be given it.
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nH",
        "HTTP/1.1 204 No\r\ncontent-length: 3\r\n\r\nbad",
    ] {
        let (stub, upstream) = (Stub::new().await, upstream());
        let (got, mut stream) = exchange(&stub, &upstream, "GET", bytes.as_bytes()).await;
        assert!(["ok", ""].contains(&got.unwrap().text()));
        ends(&mut stream).await;
        let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
        assert_eq!(got.unwrap().text(), "ok", "{bytes:?}");
    }
}

#[tokio::test]
async fn what_comes_unasked_at_rest_is_never_an_answer() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let (_, mut stream) = exchange(&stub, &upstream, "GET", OK).await;
    drip(&mut stream, [&b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad"[..]]).await;
    let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
    ends(&mut stream).await;
}

#[tokio::test]
async fn the_one_used_last_is_used_first() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let (_, _, (mut first, mut second)) = tokio::join!(
        ask(&upstream, &stub.base, &parts, &payload),
        ask(&upstream, &stub.base, &parts, &payload),
        async {
            let (mut first, mut second) = (stub.accept().await, stub.accept().await);
            head(&mut first).await;
            head(&mut second).await;
            drip(&mut first, [OK]).await;
            drip(&mut second, [OK]).await;
            (first, second)
        }
    );
    for _ in 0..3 {
        again(&stub, &upstream, &mut second, OK).await;
    }
    // The other is still there for two at once.
    let (one, two, ()) = tokio::join!(
        ask(&upstream, &stub.base, &parts, &payload),
        ask(&upstream, &stub.base, &parts, &payload),
        async {
            head(&mut first).await;
            head(&mut second).await;
            drip(&mut second, [OK]).await;
            drip(&mut first, [OK]).await;
        }
    );
    assert_eq!((one.unwrap().text(), two.unwrap().text()), ("ok", "ok"));
    again(&stub, &upstream, &mut first, OK).await;
    assert!(stub.is_left_alone().await);
}

#[tokio::test]
async fn platforms_share_no_connection() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let (_, _first) = exchange(&stub, &upstream, "GET", OK).await;
    let api = format!("http://{}", stub.listener.local_addr().unwrap()).parse().unwrap();
    let other = Base::new(Platform::Discord, &api).unwrap();
    let other = Stub { listener: stub.listener, base: Arc::new(other) };
    let (got, _second) = exchange(&other, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn one_that_was_closed_at_rest_is_replaced_and_nobody_sees_it() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    for _ in 0..3 {
        let (_, stream) = exchange(&stub, &upstream, "GET", OK).await;
        drop(stream);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        assert_eq!(stub.base.reach.is_reachable(), Some(true));
        drip(&mut stream, [OK]).await;
    });
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn several_that_were_closed_at_rest_cost_no_call() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let asks = || ask(&upstream, &stub.base, &parts, &payload);
    let (_, _, _, streams) = tokio::join!(asks(), asks(), asks(), async {
        let mut streams = [stub.accept().await, stub.accept().await, stub.accept().await];
        for stream in &mut streams {
            head(stream).await;
            drip(stream, [OK]).await;
        }
        streams
    });
    drop(streams);
    tokio::time::sleep(Duration::from_millis(5)).await;
    let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn one_that_breaks_under_a_call_is_not_tried_again() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let (_, mut stream) = exchange(&stub, &upstream, "GET", OK).await;
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        head(&mut stream).await;
        drop(stream);
    });
    assert_eq!((got.err(), stub.base.reach.is_reachable()), (Some(Failure::Unknown), Some(false)));
    assert!(stub.is_left_alone().await);
}

/// An address of this test's own, at which nobody listens yet.
fn bound() -> (socket2::Socket, std::net::SocketAddr) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap().into()).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    (socket, address)
}

#[tokio::test]
async fn nobody_listens() {
    let (_socket, address) = bound();
    let base = base(&format!("http://{address}"));
    let got = ask(&upstream(), &base, &get(), &whole("")).await;
    assert_eq!((got.err(), base.reach.is_reachable()), (Some(Failure::NotSent), Some(false)));
}

#[tokio::test]
async fn what_was_not_sent_is_tried_once_more() {
    // Whoever closes before there is TLS was sent nothing.
    let (stub, upstream, parts, payload) = (Stub::with("https", "").await, upstream(), get(), whole(""));
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        drop(stub.accept().await);
        drop(stub.accept().await);
    });
    assert_eq!(got.err(), Some(Failure::NotSent));
    assert!(stub.is_left_alone().await);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_connection_that_takes_too_long() {
    // Its one place is taken, so that the system answers nobody.
    let (listener, address) = bound();
    listener.listen(0).unwrap();
    let _taken = TcpStream::connect(address).await.unwrap();
    let base = base(&format!("http://{address}"));
    let upstream = Upstream::new(tidegate_net::tls::client().unwrap(), Duration::from_millis(100), Arc::default());
    let begun = Instant::now();
    let got = ask(&upstream, &base, &get(), &whole("")).await;
    assert_eq!((got.err(), base.reach.is_reachable()), (Some(Failure::NotSent), Some(false)));
    assert!((Duration::from_millis(200)..Duration::from_secs(5)).contains(&begun.elapsed()));
}

#[tokio::test]
async fn a_download_that_is_dropped_closes_its_connection() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let (mut body, mut stream) =
        tokio::join!(async { upstream.send(&stub.base, &parts, &payload).await.unwrap().body }, async {
            let mut stream = stub.accept().await;
            head(&mut stream).await;
            drip(&mut stream, [&b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"[..]]).await;
            stream
        });
    assert_eq!(&body.frame().await.unwrap().unwrap().into_data().unwrap()[..], b"half");
    drop(body);
    ends(&mut stream).await;
    let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn a_call_that_is_given_up_closes_its_connection() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let mut stream = tokio::select! {
        _ = upstream.send(&stub.base, &parts, &payload) => unreachable!(),
        stream = async {
            let mut stream = stub.accept().await;
            head(&mut stream).await;
            stream
        } => stream,
    };
    ends(&mut stream).await;
    let (got, _) = exchange(&stub, &upstream, "GET", OK).await;
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn sizes_and_ends_of_downloads_are_known() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    for (bytes, exact, over) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"[..], Some(2), false),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", Some(0), true),
        (b"HTTP/1.1 204 OK\r\n\r\n", Some(0), true),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            None,
            false,
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nok", None, false),
    ] {
        let upstream = Upstream { pool: Pool::default(), ..upstream.clone() };
        let (mut body, ()) =
            tokio::join!(async { upstream.send(&stub.base, &parts, &payload).await.unwrap().body }, async {
                let mut stream = stub.accept().await;
                head(&mut stream).await;
                drip(&mut stream, [bytes]).await;
            });
        assert_eq!((body.size_hint().exact(), body.is_end_stream()), (exact, over));
        while let Some(frame) = body.frame().await {
            frame.unwrap();
        }
        assert!(body.is_end_stream() && body.size_hint().exact() == Some(0));
    }
}
