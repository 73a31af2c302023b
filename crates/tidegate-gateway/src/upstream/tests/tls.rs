use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::*;

/// Of `localhost` and `127.0.0.1`, signed by itself, good until the year 2126.
const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.der");
const KEY: &[u8] = include_bytes!("tls/key.der");

/// Of a server with that certificate, whatever it speaks.
pub(crate) fn acceptor() -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(KEY).unwrap();
    let mut config =
        builder.with_no_client_auth().with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// The client's settings, where the certificate is one that it trusts.
pub(crate) fn trusting() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    builder.with_root_certificates(roots).with_no_client_auth()
}

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
    let mut client = dial_tls(&listener, crate::proxy::upstream::tls().unwrap());
    let (stream, _) = listener.accept().await.unwrap();
    assert!(acceptor().accept(stream).await.is_err());
    let told = client.next().await;
    assert!(told.starts_with("Failed(Connect(") && told.contains("UnknownIssuer"), "{told}");
}
