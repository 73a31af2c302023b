//! What the Gateway asks of Discord over HTTP.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use tidegate_net::Token;

/// Asks Discord over HTTP, on behalf of a bot. Whoever owns both the Gateway and a way to Discord's API implements it.
pub trait Discover: Send + Sync {
    /// `GET /gateway/bot` with this `Authorization`: the status and the body of the response.
    fn gateway_bot(
        self: Arc<Self>,
        token: Token,
        authorization: HeaderValue,
    ) -> Pin<Box<dyn Future<Output = (StatusCode, Bytes)> + Send>>;
}
