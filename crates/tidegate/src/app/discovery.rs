//! How the Gateway asks Discord over HTTP: by way of the proxy, as a bot's own call would go.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use tidegate_gateway::Discover;
use tidegate_net::Token;
use tidegate_proxy::GatewayBot;

pub(super) struct ByProxy(pub(super) GatewayBot);

impl Discover for ByProxy {
    fn gateway_bot(
        self: Arc<Self>,
        token: Token,
        authorization: HeaderValue,
    ) -> Pin<Box<dyn Future<Output = (StatusCode, Bytes)> + Send>> {
        Box::pin(async move {
            let reply = (self.0)(token, authorization).await;
            (reply.status, reply.body)
        })
    }
}
