//! TLS towards the platforms.

use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt as _;

#[cfg(feature = "test-certificate")]
pub mod localhost;

/// The TLS settings of all threads.
pub fn client() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_webpki_roots().with_no_client_auth())
}
