//! What the proxy asks of the Gateway's side of the program, which it does not know.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Request, Response};
use tidegate_net::Token;

use super::body::Body;
use super::client_connection::Connection;
use super::reply::Reply;
use super::request_body::RequestBody;

/// An answer that is still to come.
pub type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// Asks Discord `GET /gateway/bot` for tidegate itself, on behalf of the bot of that token, with that `Authorization`.
pub type GatewayBot = Arc<dyn Fn(Token, HeaderValue) -> Pin<Box<dyn Future<Output = Reply> + Send>> + Send + Sync>;

/// The Gateway's side of the program. Whoever owns both implements it.
pub trait GatewaySide: Send + Sync {
    /// The Gateway address that a bot is told whose request has these headers; `None` where they name no host.
    fn address(&self, headers: &HeaderMap) -> Option<Arc<str>>;

    /// Session starts that tidegate still lets a bot have; `None` where that is not known.
    fn starts_left(&self, token: &Token) -> Option<u64>;

    /// Answers a request that is for no platform's HTTP API; `None` where it means nothing here either.
    fn serve(
        &self,
        connection: &Arc<Connection>,
        request: Request<RequestBody>,
        gateway_bot: GatewayBot,
    ) -> Option<Answering>;
}
