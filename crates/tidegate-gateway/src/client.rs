//! A client's connection, as the HTTP server hands it over.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};

use super::discover::Discover;

/// A connection's bytes.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A client's connection that is a WebSocket from now on.
pub struct Client {
    /// Its bytes.
    pub io: Box<dyn Stream>,
    /// What was read of it before it was a WebSocket.
    pub early: Bytes,
    /// Where it comes from.
    pub address: IpAddr,
    /// How Discord is asked over HTTP on behalf of its bot.
    pub discover: Arc<dyn Discover>,
    /// Ready when the program begins to end.
    pub drain: Pin<Box<dyn Future<Output = ()> + Send>>,
}
