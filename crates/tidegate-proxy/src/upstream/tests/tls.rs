use tidegate_net::tls::localhost::{acceptor, trusting as trusting_settings};

use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// One that trusts the certificate.
fn trusting() -> Upstream {
    Upstream::new(trusting_settings(), Duration::from_secs(5), Arc::default())
}

#[tokio::test]
async fn a_platform_behind_tls() {
    let (stub, upstream, parts, payload) =
        (Stub::with("https", "/x").await, trusting(), parts("POST", "/a", &[]), whole("hello"));
    let (got, mut stream) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = acceptor().accept(stub.accept().await).await.unwrap();
        assert_ne!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let asked = head(&mut stream).await;
        let address = stub.listener.local_addr().unwrap();
        assert_eq!(asked, format!("POST /x/a HTTP/1.1\r\nhost: {address}\r\ncontent-length: 5\r\n\r\n"));
        stream.read_exact(&mut [0; 5]).await.unwrap();
        drip(&mut stream, OK.chunks(7)).await;
        stream
    });
    assert_eq!(got.unwrap().text(), "ok");
    // Used again, then closed at rest by the platform, and replaced.
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        head(&mut stream).await;
        stream.read_exact(&mut [0; 5]).await.unwrap();
        drip(&mut stream, [OK]).await;
        stream.shutdown().await.unwrap();
    });
    assert_eq!(got.unwrap().text(), "ok");
    tokio::time::sleep(Duration::from_millis(20)).await;
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        let mut stream = acceptor().accept(stub.accept().await).await.unwrap();
        assert_eq!(stub.base.reach.is_reachable(), Some(true));
        head(&mut stream).await;
        stream.read_exact(&mut [0; 5]).await.unwrap();
        // An end that is not said is none: somebody between may have cut it.
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhal").await.unwrap();
        stream.flush().await.unwrap();
    });
    assert!(matches!(got.unwrap().body, Err(Fault::Io(_))));
}

#[tokio::test]
async fn an_upload_behind_tls_is_written_to_its_last_byte() {
    let (stub, upstream, parts) = (Stub::with("https", "").await, trusting(), parts("POST", "/", &[]));
    let body: Vec<u8> = (0..=250).cycle().take(12 << 20).collect();
    let payload = Payload::Whole(Bytes::from(body.clone()));
    // Wherever the last piece falls among what TLS and the sockets hold.
    for cut in [0, 1_000, 40_000, 65_536, 100_000] {
        let Payload::Whole(all) = &payload else { unreachable!() };
        let payload = Payload::Whole(all.slice(cut..));
        let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
            let mut stream = acceptor().accept(stub.accept().await).await.unwrap();
            head(&mut stream).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            let mut got = vec![0; body.len() - cut];
            within(stream.read_exact(&mut got)).await.unwrap();
            assert!(got == body[cut..]);
            drip(&mut stream, [&b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"[..]]).await;
            stream.shutdown().await.unwrap();
        });
        assert_eq!(got.unwrap().text(), "ok");
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for() {
    let (stub, upstream, parts, payload) = (Stub::with("https", "").await, upstream(), get(), whole(""));
    let (got, ()) = tokio::join!(ask(&upstream, &stub.base, &parts, &payload), async {
        for _ in 0..2 {
            assert!(acceptor().accept(stub.accept().await).await.is_err());
        }
    });
    assert_eq!((got.err(), stub.base.reach.is_reachable()), (Some(Failure::NotSent), Some(false)));
}

#[tokio::test]
async fn whoever_says_nothing_to_tls_is_not_waited_for() {
    let (stub, parts, payload) = (Stub::with("https", "").await, get(), whole(""));
    let upstream = Upstream::new(trusting_settings(), Duration::from_millis(50), Arc::default());
    let got = within(ask(&upstream, &stub.base, &parts, &payload)).await;
    assert_eq!((got.err(), stub.base.reach.is_reachable()), (Some(Failure::NotSent), Some(false)));
}
