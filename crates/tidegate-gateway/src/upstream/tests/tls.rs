use tidegate_net::tls::localhost::{acceptor, trusting};

use super::*;

fn dial_tls(listener: &TcpListener, tls: rustls::ClientConfig) -> Client {
    let url = format!("wss://localhost:{}", listener.local_addr().unwrap().port());
    let dialer = Dialer::new(tls, Vec::new(), Compression::Zlib, bounds());
    let (sender, log) = unbounded_channel();
    Client { handle: Some(dialer.dial(&url, &url, Log(sender))), log }
}

#[tokio::test]
async fn a_gateway_behind_tls() {
    let listener = listen().await;
    let mut client = dial_tls(&listener, trusting());
    let (stream, _) = listener.accept().await.unwrap();
    let stream = acceptor().accept(stream).await.unwrap();
    // A WebSocket is not opened over HTTP/2.
    assert_ne!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (request, mut socket) = ServerBuilder::new().accept(stream).await.unwrap();
    assert_eq!(
        request.headers()["host"].to_str().unwrap(),
        format!("localhost:{}", listener.local_addr().unwrap().port())
    );
    assert_eq!(client.next().await, "Opened");
    let ack = Deflate::new(Compression::Zlib).unwrap().message(&r#"{"op":11}"#.into()).unwrap();
    socket.send(Message::binary(ack)).await.unwrap();
    assert_eq!(client.next().await, "Ack");
    client.handle().send(1, "{}".into()).unwrap();
    let heard = futures_util::StreamExt::next(&mut socket).await.unwrap().unwrap();
    assert_eq!(heard.as_text(), Some("{}"));
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for() {
    let listener = listen().await;
    let mut client = dial_tls(&listener, tidegate_net::tls::client().unwrap());
    let (stream, _) = listener.accept().await.unwrap();
    assert!(acceptor().accept(stream).await.is_err());
    let told = client.next().await;
    assert!(told.starts_with("Failed(Connect(") && told.contains("UnknownIssuer"), "{told}");
}
