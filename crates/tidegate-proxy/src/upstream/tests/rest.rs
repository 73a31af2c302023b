//! Connections at rest: for how long, and what they keep.

use super::*;

async fn is_open(stream: &mut TcpStream) -> bool {
    tokio::time::timeout(Duration::from_millis(20), stream.read_u8()).await.is_err()
}

#[tokio::test]
async fn they_are_closed_after_six_turns() {
    let (stub, upstream) = (Stub::new().await, upstream());
    let ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    // At the thread's beginning as later.
    for _ in 0..3 {
        let (_, mut stream) = exchange(&stub, &upstream, "GET", ok).await;
        for _ in 0..5 {
            upstream.pool.reap();
        }
        assert!(is_open(&mut stream).await);
        upstream.pool.reap();
        ends(&mut stream).await;
    }
    assert_eq!(super::super::pool::TURN, Duration::from_secs(5));
}

#[tokio::test]
async fn only_the_old_ones_are_closed() {
    let (stub, upstream, parts, payload) = (Stub::new().await, upstream(), get(), whole(""));
    let ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let (mut old, mut new) = {
        let asks = || ask(&upstream, &stub.base, &parts, &payload);
        let (_, _, streams) = tokio::join!(asks(), asks(), async {
            let (mut first, mut second) = (stub.accept().await, stub.accept().await);
            head(&mut first).await;
            head(&mut second).await;
            drip(&mut first, [&ok[..]]).await;
            drip(&mut second, [&ok[..]]).await;
            (first, second)
        });
        streams
    };
    for _ in 0..3 {
        upstream.pool.reap();
    }
    // One is used again meanwhile.
    let (_, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        head(&mut new).await;
        drip(&mut new, [&ok[..]]).await;
    });
    for _ in 0..3 {
        upstream.pool.reap();
    }
    assert!(is_open(&mut new).await);
    ends(&mut old).await;
    for _ in 0..3 {
        upstream.pool.reap();
    }
    ends(&mut new).await;
}

#[tokio::test]
async fn they_keep_little() {
    let text = "x".repeat(100 << 10);
    let head_of = |header: &str| format!("HTTP/1.1 200 OK\r\n{header}\r\n");
    let long_head =
        format!("{}{text}\r\ncontent-length: 0\r\n\r\n", head_of("x-b: c").trim_end().to_owned() + "\r\nx-a: ");
    let answers = [
        head_of("content-length: 102400\r\n") + &text,
        // The buffer that it ends in is mostly used up by then.
        head_of("content-length: 26000\r\n") + &text[..26_000],
        head_of("transfer-encoding: chunked\r\n") + "19000\r\n" + &text + "\r\n0\r\n\r\n",
        long_head,
    ];
    for (index, answer) in answers.iter().enumerate() {
        let (stub, upstream, parts) = (Stub::new().await, upstream(), parts("POST", "/", &[]));
        let payload = Payload::Whole(Bytes::from("y".repeat(16 << 10)));
        let (got, _stream) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
            let mut stream = stub.accept().await;
            head(&mut stream).await;
            stream.read_exact(&mut [0; 16 << 10]).await.unwrap();
            drip(&mut stream, answer.as_bytes().chunks(7_000)).await;
            stream
        });
        drop(got.unwrap());
        let mut wire = upstream.pool.take(Platform::Telegram).unwrap();
        let (read, written) = wire.kept();
        assert!(!read.try_reclaim((16 << 10) + 1) && written <= 16 << 10, "{index}: {written}");
    }
}
