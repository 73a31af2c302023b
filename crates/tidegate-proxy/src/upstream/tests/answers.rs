//! Answers as they come on a connection.

use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

#[tokio::test]
async fn bodies_of_every_framing() {
    for (bytes, status, body) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", 200, "hello"),
        ("HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\n\r\n", 429, ""),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, "hello"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y\r\n\r\n", 200, ""),
        ("HTTP/1.1 500 Oh\r\n\r\nuntil the end", 500, "until the end"),
        ("HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end"),
        ("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", 200, "hello"),
        ("HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\n", 204, ""),
        ("HTTP/1.1 304 No\r\ncontent-length: 5\r\n\r\n", 304, ""),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 200, "a"),
    ] {
        let got = answered("GET", bytes.as_bytes()).await.unwrap();
        assert_eq!((got.status, got.text()), (status, body), "{bytes}");
    }
    assert_eq!(answered("HEAD", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n").await.unwrap().text(), "");
}

#[tokio::test]
async fn an_answer_byte_by_byte() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n\
        3;x\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n";
    let (got, mut stream) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, text.chunks(1)).await;
        stream
    });
    let got = got.unwrap();
    assert_eq!((got.text(), got.headers["x-a"].as_bytes()), ("abcde", &b"b"[..]));
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        head(&mut stream).await;
        drip(&mut stream, [OK]).await;
    });
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn hints_come_before_an_answer() {
    let hints = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\ncontent-length: 9\r\n\r\n\
        HTTP/1.1 102 Processing\r\nconnection: close\r\n\r\n";
    let stub = Stub::new().await;
    let upstream = upstream();
    let text = format!("{hints}{}", str::from_utf8(OK).unwrap());
    let (got, mut stream) = exchange(&stub, &upstream, "GET", text.as_bytes()).await;
    let got = got.unwrap();
    assert_eq!((got.status, got.text(), got.headers.contains_key("link")), (200, "ok", false));
    // And nothing of them is left for the next.
    let (parts, payload) = (get(), whole(""));
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        head(&mut stream).await;
        drip(&mut stream, [OK]).await;
    });
    assert_eq!(got.unwrap().text(), "ok");
}

#[tokio::test]
async fn what_is_no_answer() {
    for bytes in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\n\r",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n",
        "<html>\r\n\r\n",
        "\u{15}\u{3}\u{1}\0\u{2}\u{2}P\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nok",
    ] {
        let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
        let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
            let mut stream = stub.accept().await;
            head(&mut stream).await;
            drip(&mut stream, [bytes.as_bytes()]).await;
        });
        assert_eq!(got.err(), Some(Failure::Unknown), "{bytes:?}");
        assert_eq!(stub.base.reach.is_reachable(), Some(false), "{bytes:?}");
        // It may have arrived, so it is not sent again.
        assert!(stub.is_left_alone().await, "{bytes:?}");
    }
}

/// The platform keeps the connection, so there is no end that would tell.
#[tokio::test]
async fn a_head_with_bare_line_ends_is_not_waited_for() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let (got, _stream) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        drip(&mut stream, ["HTTP/1.1 200 OK\ncontent-length: 2\n".as_bytes(), "\nok".as_bytes()]).await;
        stream
    });
    assert_eq!(got.err(), Some(Failure::Unknown));
}

#[tokio::test]
async fn answers_that_break_off() {
    for bytes in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: y\r\n",
    ] {
        let got = answered("GET", bytes.as_bytes()).await.unwrap();
        assert!(matches!(got.body, Err(Fault::Closed)), "{bytes:?}: {:?}", got.body);
    }
    let got = answered("GET", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n").await.unwrap();
    assert!(matches!(got.body, Err(Fault::Answer("a chunk has no size"))), "{:?}", got.body);
}

#[tokio::test]
async fn heads_have_a_bound() {
    let long = |length| format!("HTTP/1.1 200 OK\r\nx-a: {}\r\ncontent-length: 2\r\n\r\nok", "a".repeat(length));
    let got = answered("GET", long(127 << 10).as_bytes()).await.unwrap();
    assert_eq!((got.headers["x-a"].len(), got.text()), (127 << 10, "ok"));
    // One without an end is not waited for.
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let (got, _open) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = stub.accept().await;
        head(&mut stream).await;
        // All of it may not find a taker.
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\nx-a: {}", "a".repeat(256 << 10)).as_bytes()).await;
        stream
    });
    assert_eq!(got.err(), Some(Failure::Unknown));
}

#[tokio::test]
async fn a_download_comes_whole_and_no_faster_than_it_is_taken() {
    let (stub, parts, payload) = (Stub::new().await, get(), whole(""));
    let piece = Bytes::from((0..=255).cycle().take(256 << 10).collect::<Vec<u8>>());
    for framing in ["content-length: 67108864", "transfer-encoding: chunked", "connection: close"] {
        let upstream = upstream();
        let (mut stream, answer) = tokio::join!(
            async {
                let mut stream = stub.accept().await;
                head(&mut stream).await;
                drip(&mut stream, [format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n").as_bytes()]).await;
                stream
            },
            within(upstream.send(&stub.base, &parts, &payload))
        );
        let (sent, out) = tokio::sync::watch::channel(0);
        let (from, is_chunked) = (piece.clone(), framing.ends_with("chunked"));
        let writing = tokio::spawn(async move {
            for turn in 1..=256 {
                if is_chunked {
                    stream.write_all(format!("{:x}\r\n", from.len()).as_bytes()).await.unwrap();
                }
                stream.write_all(&from).await.unwrap();
                if is_chunked {
                    stream.write_all(b"\r\n").await.unwrap();
                }
                sent.send_replace(turn);
            }
            if is_chunked {
                stream.write_all(b"0\r\n\r\n").await.unwrap();
            }
        });
        let mut body = answer.unwrap().body;
        // What is not taken stays with the platform, but for what the sockets hold.
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(*out.borrow() < 200, "{framing}: {}", *out.borrow());
        let mut at = 0;
        while let Some(frame) = within(body.frame()).await {
            let mut data = frame.unwrap().into_data().unwrap();
            while !data.is_empty() {
                let from = at % piece.len();
                let part = data.split_to(data.len().min(piece.len() - from));
                assert!(part == piece[from..from + part.len()], "{framing}: at {at}");
                at += part.len();
            }
        }
        assert_eq!(at, 256 * piece.len(), "{framing}");
        writing.await.unwrap();
    }
}
