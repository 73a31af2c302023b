//! A TLS server for tests, and a client that trusts it.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// Of `localhost` and `127.0.0.1`, signed by itself, good until the year 2126.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");

/// Of a server with that certificate, whatever it speaks.
///
/// # Panics
///
/// When the certificate cannot be read, which a test would show.
#[expect(clippy::unwrap_used, reason = "for tests")]
pub fn acceptor() -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = PrivateKeyDer::try_from(KEY).unwrap();
    let mut config =
        builder.with_no_client_auth().with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}

/// The client's settings, where the certificate is one that it trusts.
///
/// # Panics
///
/// When the certificate cannot be read, which a test would show.
#[expect(clippy::unwrap_used, reason = "for tests")]
pub fn trusting() -> rustls::ClientConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).unwrap();
    builder.with_root_certificates(roots).with_no_client_auth()
}
