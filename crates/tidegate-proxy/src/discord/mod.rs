//! The Discord edge: `/api/…`, any version, any route.

mod address;
pub mod answer;
mod call;
mod gateway;
mod gateway_response;
mod hold;
mod judge;
mod message;
mod names;
mod path;
mod platform;
mod repeats;
mod response;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, USER_AGENT};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri};
use tidegate_core::discord::{Route, RouteKind};
use tidegate_core::governor::Input;
use tidegate_core::policy::Policy;
use tidegate_core::{MethodKey, Time};

use self::address::Address;
pub use self::address::Figures;
use self::call::Facts;
use crate::body::Body;
use crate::bots::{Bot, InUse};
use crate::client_connection::Connection;
use crate::context::Context;
use crate::gateway_side::{GatewayBot, GatewaySide};
use crate::pipeline::edge::Edge as Common;
use crate::pipeline::intake::{Wrong, vet};
use crate::reply::Reply;
use crate::request_body::RequestBody;
use crate::settings::Settings;
use crate::target::plain;
use tidegate_net::{Token, keyed};

const NO_HOST: Wrong = Wrong::Request(StatusCode::BAD_REQUEST, "Host names no authority");

/// What all calls to Discord share.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) common: Common,
    /// Stands for all calls that no bot's token authorises.
    tokenless: OnceLock<Arc<Bot>>,
    pub(crate) address: Address,
    gateway: gateway::Cache,
    names: names::Names,
    repeats: repeats::Repeats,
    /// The time of day at the clock's zero.
    epoch_unix_ms: u64,
}

impl AsRef<Common> for Edge {
    fn as_ref(&self) -> &Common {
        &self.common
    }
}

impl Edge {
    /// `None` where the address names no host.
    pub(crate) fn new(config: &Settings, clock: tidegate_tokio::Clock) -> Option<Self> {
        let settings = &config.discord;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_micros() / 1000).unwrap_or(0);
        Some(Self {
            common: Common::new(&settings.api, &settings.policy, clock, &config.bounds)?,
            tokenless: OnceLock::new(),
            address: Address::default(),
            gateway: gateway::Cache::default(),
            names: names::Names::default(),
            repeats: repeats::Repeats::default(),
            epoch_unix_ms: now.saturating_sub(clock.now().as_micros() / 1000),
        })
    }

    /// Another policy from now on.
    pub(crate) fn set_policy(&self, policy: Arc<Policy>) {
        if let Some(bot) = self.tokenless.get() {
            bot.driver.tell(Input::Policy(Arc::clone(&policy)));
        }
        self.common.set_policy(policy);
    }

    /// All bots, and what stands for calls without one.
    pub(crate) fn bots(&self) -> Vec<Arc<Bot>> {
        let mut bots = self.common.bots.list();
        bots.extend(self.tokenless.get().cloned());
        bots
    }

    fn tokenless(&self) -> InUse {
        let bot = self.tokenless.get_or_init(|| {
            let bot = self.common.bots.lone(Token::none());
            // There is no token that could be wrong.
            bot.standing.worked();
            bot
        });
        InUse::new(Arc::clone(bot))
    }

    fn is_tokenless(&self, bot: &Bot) -> bool {
        self.tokenless.get().is_some_and(|tokenless| std::ptr::eq(tokenless.as_ref(), bot))
    }

    /// The time of day, as platform time passes.
    fn unix_ms(&self, now: Time) -> u64 {
        self.epoch_unix_ms.saturating_add(now.as_micros() / 1000)
    }
}

/// A kind of request, as invalid ones are told apart.
fn kind(bot: &Bot, method: MethodKey) -> u64 {
    // The token's hash is keyed already.
    bot.token.hash() ^ method.0.rotate_left(32)
}

/// Whether a path is one of Discord's.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with("/api/")
}

/// Answers one request.
pub(crate) async fn serve(
    edge: &Arc<Edge>,
    gateway: &dyn GatewaySide,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Response<Body> {
    let shared = Arc::clone(&connection.shared);
    let answered = shared.drain.unless_over(pin!(answer((edge, gateway), connection, request))).await;
    answered.map_or_else(busy, |answered| answered.unwrap_or_else(|reply| reply.into_response()))
}

/// Come back soon. Nothing was sent.
pub(crate) fn busy() -> Response<Body> {
    answer::busy().into_response()
}

async fn answer(
    (edge, gateway_side): (&Arc<Edge>, &dyn GatewaySide),
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Box<Reply>> {
    let shared = Arc::clone(&connection.shared);
    let (mut head, body) = request.into_parts();
    let body = RequestBody::new(body, &head.headers, &connection.unread);
    // The Host goes no further.
    let tells_address =
        path::behind_api(head.uri.path()).is_some_and(|path| path.trim_start_matches('/').starts_with("gateway"));
    let address = tells_address.then(|| gateway_side.address(&head.headers)).flatten();
    let asked = vet(&shared.config.bounds, &mut head).map_err(answer::wrong)?;
    let path = plain(head.uri.path());
    let path = path::behind_api(&path).unwrap_or_default();
    let now = shared.clock.now();
    let route = Route::parse(head.method.as_str(), path, edge.unix_ms(now), |token| keyed(token));
    if matches!(route.kind, RouteKind::Interaction | RouteKind::TokenWebhook) {
        // With it Discord counts the call against the bot: discord-api-docs#4142.
        head.headers.remove(AUTHORIZATION);
    }
    let bot = find(edge, &connection, &head)?;
    if bot.0.standing.is_open(|| now) {
        return Err(Box::new(answer::unauthorized()));
    }
    if let RouteKind::Gateway { bot: own } = route.kind {
        let address = address.ok_or_else(|| answer::wrong(NO_HOST))?;
        // It is read here.
        head.headers.remove(ACCEPT_ENCODING);
        let reply = Box::pin(gateway::serve(&connection, edge, &bot.0, &head, own)).await;
        let starts_left = gateway_side.starts_left(&bot.0.token);
        return Ok(gateway_response::told(reply, &address, starts_left).into_response());
    }
    let surfaces = edge.common.surfaces();
    let mut buffered = shared.buffers.reserve();
    let known = (surfaces.policy.as_ref(), &shared.config);
    let (facts, payload) = Facts::read(known, route, &head, &asked, body, &mut buffered).await?;
    Ok(crate::pipeline::serve(connection, Arc::clone(edge), bot, surfaces, head, facts, (payload, buffered)).await)
}

/// Asks by way of that connection's upstream.
pub(crate) fn gateway_bot_by(edge: &Arc<Edge>, connection: &Arc<Connection>) -> GatewayBot {
    let (edge, connection) = (Arc::clone(edge), Arc::clone(connection));
    Arc::new(move |token, authorization| {
        let (edge, connection) = (Arc::clone(&edge), Arc::clone(&connection));
        Box::pin(async move { gateway_bot(&edge, &connection, &token, authorization).await })
    })
}

/// `GET /gateway/bot` for tidegate itself, as Discord answers it.
async fn gateway_bot(edge: &Edge, connection: &Connection, token: &Token, authorization: HeaderValue) -> Reply {
    const AGENT: &str = concat!("DiscordBot (https://github.com/tidegate/tidegate, ", env!("CARGO_PKG_VERSION"), ")");
    let shared = &connection.shared;
    let Some(bot) = edge.common.bots.find(token) else { return answer::busy() };
    if bot.0.standing.is_open(|| shared.clock.now()) {
        return answer::unauthorized();
    }
    let (mut head, ()) = Request::new(()).into_parts();
    head.uri = Uri::from_static("/api/v10/gateway/bot");
    head.headers.insert(AUTHORIZATION, authorization);
    head.headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    gateway::serve(connection, edge, &bot.0, &head, true).await
}

/// Whose call it is. Malformed tokens and bots that are not served never leave.
fn find(edge: &Edge, connection: &Connection, head: &Parts) -> Result<InUse, Box<Reply>> {
    let shared: &Context = &connection.shared;
    let mut values = head.headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(edge.tokenless()) };
    if values.next().is_some() {
        let reason = "there is more than one Authorization";
        return Err(answer::wrong(Wrong::Request(StatusCode::BAD_REQUEST, reason)));
    }
    let written = value.to_str().unwrap_or_default().trim();
    let served = |token: &Token| shared.config.bots.as_ref().is_none_or(|allowed| allowed.contains(token.id()));
    if let Some(bot) = edge.common.bots.known(written, false).filter(|bot| served(&bot.0.token)) {
        return Ok(bot);
    }
    let token = Token::discord(written).ok_or_else(|| Box::new(answer::unauthorized()))?;
    if !served(&token) {
        let message = "403: this bot is not served here";
        return Err(Box::new(answer::error(StatusCode::FORBIDDEN, 0, message)));
    }
    edge.common.bots.find(&token).ok_or_else(|| Box::new(answer::busy()))
}
