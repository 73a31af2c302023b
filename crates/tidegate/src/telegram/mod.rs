//! The Telegram edge: `/bot<token>/<method>` and `/file/bot<token>/<path>`.

mod admit;
mod answer;
mod args;
mod call;
mod governed;
mod hold;
mod judge;
pub(crate) mod memory;
mod message;
mod passed;
mod path;
pub(crate) mod reply;

#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock};

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Request, Response, StatusCode};
use tidegate_core::policy::{Policy, RowId};

use self::path::{Target, What};
use self::reply::Reply;
use crate::bots::{Bots, InUse, Token};
use crate::config::Config;
use crate::proxy::body::Body;
use crate::proxy::upstream::Base;
use crate::proxy::{headers, target};
use crate::serve::Connection;

/// What all calls to Telegram share.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) base: Base,
    pub(crate) bots: Bots,
    pub(crate) unproven: Arc<crate::bots::Unproven>,
    surfaces: RwLock<Arc<Surfaces>>,
}

/// A policy, and the names of its rows as header values.
#[derive(Debug)]
pub(crate) struct Surfaces {
    pub(crate) policy: Arc<Policy>,
    gates: Vec<HeaderValue>,
}

impl Surfaces {
    fn new(policy: Arc<Policy>) -> Self {
        let name = |row: &tidegate_core::policy::Row| HeaderValue::from_str(&format!("{}/{}", policy.name, row.gate));
        let gates = policy.rows.iter().map(|row| name(row).unwrap_or(HeaderValue::from_static("telegram")));
        Self { gates: gates.collect(), policy }
    }

    fn gate(&self, row: RowId) -> HeaderValue {
        self.gates.get(usize::from(row.0)).cloned().unwrap_or(HeaderValue::from_static("telegram"))
    }
}

impl Edge {
    pub(crate) fn new(config: &Config, clock: tidegate_tokio::Clock) -> Option<Self> {
        let policy = Arc::clone(&config.telegram.policy);
        Some(Self {
            base: Base::new(&config.telegram.api)?,
            bots: Bots::new(Arc::clone(&policy), clock, &config.bounds),
            unproven: crate::bots::Unproven::new(config.bounds.unproven_failures),
            surfaces: RwLock::new(Arc::new(Surfaces::new(policy))),
        })
    }

    pub(crate) fn surfaces(&self) -> Arc<Surfaces> {
        Arc::clone(&self.surfaces.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another policy from now on.
    pub(crate) fn set_policy(&self, policy: Arc<Policy>) {
        self.bots.set_policy(&policy);
        *self.surfaces.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Surfaces::new(policy));
    }
}

/// Whether a path is one of the Bot API's.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with("/bot") || path.starts_with("/file/bot")
}

/// Answers one request.
pub(crate) async fn serve(connection: Arc<Connection>, request: Request<Incoming>) -> Response<Body> {
    let answered = answer(connection, request).await;
    answered.unwrap_or_else(|reply| reply.into_response())
}

async fn answer(connection: Arc<Connection>, request: Request<Incoming>) -> Result<Response<Body>, Box<Reply>> {
    let shared = &connection.shared;
    let bounds = &shared.config.bounds;
    let (mut head, body) = request.into_parts();
    if head.uri.path_and_query().map_or(0, |target| target.as_str().len()) > bounds.target_max {
        return Err(Box::new(answer::error(StatusCode::URI_TOO_LONG, "URI Too Long")));
    }
    let block: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    if block > bounds.header_block {
        let description = "Request Header Fields Too Large";
        return Err(Box::new(answer::error(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, description)));
    }
    target::check(&head.uri).map_err(|reason| Box::new(answer::bad(reason)))?;
    let asked = headers::forward(&mut head.headers).map_err(|reason| Box::new(answer::bad(reason)))?;
    let path = head.uri.path().to_owned();
    let Some(target) = path::parse(&path) else {
        return Err(Box::new(answer::error(StatusCode::NOT_FOUND, "Not Found: write it like /bot<token>/<method>")));
    };
    let bot = find(&connection, &target)?;
    if bot.0.standing.is_open(shared.clock.now()) {
        return Err(Box::new(answer::unauthorized()));
    }
    match target.what {
        What::File => passed::file(connection, bot, head, body).await,
        What::Method(name) if name.eq_ignore_ascii_case("getUpdates") => {
            passed::poll(connection, bot, head, body).await
        }
        What::Method(name) => governed::serve(connection, bot, name, head, &asked, body).await,
    }
}

/// The bot of a target. Malformed tokens and bots that are not served never leave.
fn find(connection: &Connection, target: &Target<'_>) -> Result<InUse, Box<Reply>> {
    let shared = &connection.shared;
    let token = match connection.known(&target.token, target.test) {
        Some(token) => token,
        None => Token::telegram(&target.token, target.test)
            .ok_or_else(|| Box::new(answer::error(StatusCode::NOT_FOUND, "Not Found: that is no token of a bot")))?,
    };
    if shared.config.bots.as_ref().is_some_and(|allowed| !allowed.contains(token.id())) {
        return Err(Box::new(answer::error(StatusCode::FORBIDDEN, "Forbidden: this bot is not served here")));
    }
    let bot = shared.telegram.bots.find(&token).ok_or_else(|| Box::new(answer::busy()))?;
    connection.remember(token);
    Ok(bot)
}
