//! The Telegram edge: `/bot<token>/<method>` and `/file/bot<token>/<path>`.

mod answer;
mod args;
mod call;
mod hold;
mod judge;
mod message;
mod passed;
mod path;
mod platform;
mod reply;

#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};

use self::path::{Target, What};
use self::reply::Reply;
use crate::body::Body;
use crate::bots::InUse;
use crate::client_connection::Connection;
use crate::pipeline::edge::Edge;
use crate::pipeline::intake::vet;
use crate::request_body::RequestBody;
use crate::target::plain;
use tidegate_net::Token;

/// Whether a path is one of the Bot API's.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with("/bot") || path.starts_with("/file/bot")
}

/// Answers one request.
pub(crate) async fn serve(edge: &Arc<Edge>, connection: Arc<Connection>, request: Request<Incoming>) -> Response<Body> {
    let shared = Arc::clone(&connection.shared);
    let answered = shared.drain.unless_over(pin!(answer(edge, connection, request))).await;
    answered.map_or_else(busy, |answered| answered.unwrap_or_else(|reply| reply.into_response()))
}

/// Come back soon. Nothing was sent.
pub(crate) fn busy() -> Response<Body> {
    answer::busy().into_response()
}

async fn answer(
    edge: &Arc<Edge>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Box<Reply>> {
    let shared = &connection.shared;
    let (mut head, body) = request.into_parts();
    let body = RequestBody::new(body, &head.headers, &connection.unread);
    let asked = vet(&shared.config.bounds, &mut head).map_err(answer::wrong)?;
    // The head goes on.
    let uri = head.uri.clone();
    let path = plain(uri.path());
    let Some(target) = path::parse(&path) else {
        return Err(Box::new(answer::error(StatusCode::NOT_FOUND, "Not Found: write it like /bot<token>/<method>")));
    };
    let bot = find(edge, &connection, &target)?;
    if bot.0.standing.is_open(|| shared.clock.now()) {
        return Err(Box::new(answer::unauthorized()));
    }
    match target.what {
        What::File => Box::pin(passed::file(edge, connection, bot, head, body)).await,
        What::Method(name) if name.eq_ignore_ascii_case("getUpdates") => {
            Box::pin(passed::poll(edge, connection, bot, head, body)).await
        }
        What::Method(name) => platform::serve(edge, connection, bot, name, head, &asked, body).await,
    }
}

/// The bot of a target. Malformed tokens and bots that are not served never leave.
fn find(edge: &Edge, connection: &Connection, target: &Target<'_>) -> Result<InUse, Box<Reply>> {
    let shared = &connection.shared;
    let served = |token: &Token| shared.config.bots.as_ref().is_none_or(|allowed| allowed.contains(token.id()));
    if let Some(bot) = edge.bots.known(target.token, target.test).filter(|bot| served(&bot.0.token)) {
        return Ok(bot);
    }
    let token = Token::telegram(target.token, target.test)
        .ok_or_else(|| Box::new(answer::error(StatusCode::NOT_FOUND, "Not Found: that is no token of a bot")))?;
    if !served(&token) {
        return Err(Box::new(answer::error(StatusCode::FORBIDDEN, "Forbidden: this bot is not served here")));
    }
    edge.bots.find(&token).ok_or_else(|| Box::new(answer::busy()))
}
