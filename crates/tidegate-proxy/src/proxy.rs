//! The proxy as a whole: both platforms' edges behind one port.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use tidegate_core::Span;
use tidegate_core::governor::Counted;
use tidegate_core::policy::Policy;
use tidegate_tokio::Clock;
use tokio::net::TcpStream;

use super::body::Body;
use super::bots::Bot;
use super::budget::Reserved;
use super::client_connection::{self, Connection};
use super::context::Context;
use super::error_response::json;
use super::gateway_side::GatewaySide;
use super::pipeline::edge::Edge;
use super::request_body::{RequestBody, closes};
use super::settings::Settings;
use super::upstream::Upstream;
use super::{discord, telegram};

/// The proxy.
pub struct Proxy {
    /// What all calls share.
    pub context: Arc<Context>,
    telegram: Arc<Edge>,
    discord: Arc<discord::Edge>,
    gateway: Arc<dyn GatewaySide>,
}

/// One platform, for operators.
#[derive(Clone, Debug)]
pub struct PlatformStatus {
    /// Whether the last call was answered; `None` before the first.
    pub reachable: Option<bool>,
    /// The policy in force.
    pub policy: Arc<Policy>,
    /// Nineteen of twenty recent answers came within this time.
    pub slow_answers: Span,
}

impl Proxy {
    /// `None` where a platform's address names no host.
    pub fn new(settings: Settings, clock: Clock, gateway: Arc<dyn GatewaySide>) -> Option<Self> {
        let (telegram, discord) = (&settings.telegram, discord::Edge::new(&settings, clock)?);
        let telegram = Edge::new(&telegram.api, &telegram.policy, clock, &settings.bounds)?;
        let context = Arc::new(Context::new(settings, clock));
        Some(Self { context, telegram: Arc::new(telegram), discord: Arc::new(discord), gateway })
    }

    /// Serves a client's connection to its end.
    pub async fn serve(self: Arc<Self>, upstream: Upstream, stream: TcpStream, client: IpAddr, place: Reserved) {
        let context = Arc::clone(&self.context);
        let route = move |connection, request| route(self, connection, request);
        client_connection::serve(context, upstream, (stream, client), place, route).await;
    }

    /// The bots of all platforms.
    pub fn bots(&self) -> Vec<Arc<Bot>> {
        let mut bots = self.telegram.bots.list();
        bots.append(&mut self.discord.bots());
        bots
    }

    /// Writes that wait, over all bots.
    pub fn held(&self) -> usize {
        let counts = self.bots().into_iter().flat_map(|bot| bot.counters());
        let waiting = counts.filter(|count| count.what == Counted::Held);
        usize::try_from(waiting.map(|count| count.count).sum::<u64>()).unwrap_or(usize::MAX)
    }

    /// Calls that are held or in flight, over all bots.
    pub fn calls(&self) -> usize {
        self.bots().iter().map(|bot| bot.calls()).sum()
    }

    /// How long an answer may take of the platforms that were asked and have not answered yet.
    pub fn slow_answers(&self) -> Span {
        let asked = |bots: Vec<Arc<Bot>>| bots.iter().any(|bot| bot.calls() > 0);
        let telegram = asked(self.telegram.bots.list()).then(|| self.telegram.times.slow());
        let discord = asked(self.discord.bots()).then(|| self.discord.common.times.slow());
        telegram.max(discord).unwrap_or(Span::ZERO)
    }

    /// Other policies from now on.
    pub fn set_policies(&self, telegram: Arc<Policy>, discord: Arc<Policy>) {
        self.telegram.set_policy(telegram);
        self.discord.set_policy(discord);
    }

    /// Telegram, for operators.
    pub fn telegram(&self) -> PlatformStatus {
        status(&self.telegram)
    }

    /// Discord, for operators.
    pub fn discord(&self) -> PlatformStatus {
        status(&self.discord.common)
    }

    /// What Discord holds against the address.
    pub fn discord_address(&self) -> discord::Figures {
        self.discord.address.figures(self.context.clock.now())
    }
}

/// Whether a path is one of a platform's HTTP API.
pub fn is_proxied(path: &str) -> bool {
    telegram::is_ours(path) || discord::is_ours(path)
}

fn status(edge: &Edge) -> PlatformStatus {
    PlatformStatus {
        reachable: edge.base.reach.is_reachable(),
        policy: Arc::clone(&edge.surfaces().policy),
        slow_answers: edge.times.slow(),
    }
}

async fn route(proxy: Arc<Proxy>, connection: Arc<Connection>, request: Request<Incoming>) -> Response<Body> {
    if connection.shared.drain.has_begun() {
        return going_down(RequestBody::of(request, &connection.unread).uri().path());
    }
    let path = request.uri().path();
    if telegram::is_ours(path) {
        return telegram::serve(&proxy.telegram, connection, request).await;
    }
    if discord::is_ours(path) {
        return discord::serve(&proxy.discord, proxy.gateway.as_ref(), connection, request).await;
    }
    let gateway_bot = discord::gateway_bot_by(&proxy.discord, &connection);
    if let Some(answering) = proxy.gateway.serve(&connection, RequestBody::of(request, &connection.unread), gateway_bot)
    {
        return answering.await;
    }
    let served = "served here: /api/…, /identify and a WebSocket (Discord), /bot<token>/<method> and /file/bot<token>/<path> \
                  (Telegram)";
    json(StatusCode::NOT_FOUND, served)
}

/// The answer to what comes while the program goes down: come back soon, and on another connection.
fn going_down(path: &str) -> Response<Body> {
    let mut response = if telegram::is_ours(path) {
        telegram::busy()
    } else if discord::is_ours(path) {
        discord::busy()
    } else {
        json(StatusCode::SERVICE_UNAVAILABLE, "tidegate is going down")
    };
    closes(response.headers_mut());
    response
}
