//! What the proxy asks of the Gateway.

use std::future::ready;
use std::sync::Arc;

use hyper::header::HeaderMap;
use hyper::{Request, Response, StatusCode};
use tidegate_gateway::{Client, Discover, Fleets, Upgrade, is_asked_for};
use tidegate_net::Token;
use tidegate_proxy::{Answering, Body, Connection, GatewayBot, GatewaySide, RequestBody, json};

use super::discovery::ByProxy;
use super::identify;

pub(super) struct Joined {
    pub(super) gateway: Arc<Fleets>,
}

impl GatewaySide for Joined {
    fn address(&self, headers: &HeaderMap) -> Option<Arc<str>> {
        self.gateway.address(headers).ok()
    }

    fn starts_left(&self, token: &Token) -> Option<u64> {
        self.gateway.starts_left(token)
    }

    fn serve(
        &self,
        connection: &Arc<Connection>,
        request: Request<RequestBody>,
        gateway_bot: GatewayBot,
    ) -> Option<Answering> {
        let discover: Arc<dyn Discover> = Arc::new(ByProxy(gateway_bot));
        if identify::is_ours(request.uri().path()) {
            let (gateway, connection) = (Arc::clone(&self.gateway), Arc::clone(connection));
            return Some(Box::pin(identify::serve(gateway, discover, connection, request)));
        }
        is_asked_for(&request).then(|| -> Answering {
            let refused = |status| json(status, "no WebSocket: a handshake as RFC 6455 has it is needed");
            Box::pin(ready(self.upgrade(connection, request, discover).unwrap_or_else(refused)))
        })
    }
}

impl Joined {
    fn upgrade(
        &self,
        connection: &Arc<Connection>,
        mut request: Request<RequestBody>,
        discover: Arc<dyn Discover>,
    ) -> Result<Response<Body>, StatusCode> {
        let upgrade = Upgrade::new(&self.gateway, &request)?;
        let response = upgrade.response();
        let (gateway, address) = (Arc::clone(&self.gateway), connection.client);
        let mut begun = connection.shared.drain.begun();
        let served = connection.upgrade(&mut request, move |socket, early| {
            let drain = Box::pin(async move { begun.wait().await });
            upgrade.serve(gateway, Client { io: Box::new(socket), early, address, discover, drain })
        });
        served.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
        Ok(response.map(|()| Body::empty()))
    }
}
