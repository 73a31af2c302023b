//! `GET /identify?shard=N`: a place in the identify line for bots that keep their own Gateway connection. The answer comes
//! when it is this shard's turn. `DELETE` gives it back.

use std::sync::Arc;

use hyper::header::{ALLOW, AUTHORIZATION, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use tidegate_core::identify_queue::{GrantId, Shard};
use tidegate_gateway::{Discover, Fleets, Given, Identity, identity};
use tidegate_net::Token;
use tidegate_proxy::{Body, Connection, Reply, RequestBody, discord_answer as answer, gone, outcome};

const GRANT: HeaderName = HeaderName::from_static("x-tidegate-grant");
const HELD_MS: HeaderName = HeaderName::from_static("x-tidegate-held-ms");
/// Far more than any bot has.
const SHARD_MAX: Shard = 1 << 20;

/// Whether a path is this one.
pub(super) fn is_ours(path: &str) -> bool {
    path == "/identify"
}

/// Answers one request.
pub(super) async fn serve(
    gateway: Arc<Fleets>,
    discover: Arc<dyn Discover>,
    connection: Arc<Connection>,
    request: Request<RequestBody>,
) -> Response<Body> {
    let (head, _) = request.into_parts();
    let reply = take((&gateway, &discover), &connection, &head).await.unwrap_or_else(|refused| *refused);
    reply.into_response()
}

async fn take(
    (gateway, discover): (&Fleets, &Arc<dyn Discover>),
    connection: &Connection,
    head: &Parts,
) -> Result<Reply, Box<Reply>> {
    if head.method != Method::GET && head.method != Method::DELETE {
        let mut reply =
            answer::error(StatusCode::METHOD_NOT_ALLOWED, 0, "405: GET asks for a place, DELETE returns it");
        reply.headers.insert(ALLOW, HeaderValue::from_static("GET, DELETE"));
        return Err(Box::new(reply));
    }
    let shard = shard(head.uri.query().unwrap_or_default())?;
    let (token, identity) = whose(gateway, connection, head)?;
    if head.method == Method::DELETE {
        let given_back = gateway.give_back(&token, shard, grant(head)?);
        return if given_back { Ok(answer::no_content()) } else { Err(Box::new(answer::busy())) };
    }
    let clock = connection.shared.clock;
    let asked = clock.now();
    let mut place = gateway.ask(&token, discover, identity, shard).ok_or_else(|| Box::new(answer::busy()))?;
    let mut drain = connection.shared.drain.begun();
    let given = tokio::select! {
        biased;
        // Nobody is there to hear it: the place is given up with the request.
        () = gone() => return Err(Box::new(answer::unavailable("the client has left", false))),
        given = place.given() => given,
        () = drain.wait() => return Err(Box::new(answer::unavailable("tidegate is going down", false))),
    };
    match given {
        Given::Granted(id) => Ok(granted(shard, id, clock.now().since(asked).as_millis_ceil())),
        Given::Denied(wait) => Err(Box::new(answer::refused(wait))),
        Given::Unauthorized => Err(Box::new(answer::unauthorized())),
        Given::Replaced => Err(conflict("409: a newer request for this shard has its place")),
        Given::Released => Err(conflict("409: this place was given back (DELETE) before its turn came")),
    }
}

fn granted(shard: Shard, grant: GrantId, held_ms: u64) -> Reply {
    let mut reply = answer::success(json!({"shard": shard, "grant": grant.0}).to_string().into());
    reply.headers.insert(GRANT, HeaderValue::from(grant.0));
    reply.headers.insert(HELD_MS, HeaderValue::from(held_ms));
    outcome(&mut reply.headers, if held_ms == 0 { "admitted" } else { "held" });
    reply
}

fn conflict(message: &str) -> Box<Reply> {
    Box::new(answer::error(StatusCode::CONFLICT, 0, message))
}

fn wrong(message: &str) -> Box<Reply> {
    Box::new(answer::error(StatusCode::BAD_REQUEST, 0, message))
}

/// `shard=N`; what else existing clients put there (`max_concurrency`) is known better here.
fn shard(query: &str) -> Result<Shard, Box<Reply>> {
    let named = query.split('&').find_map(|pair| pair.strip_prefix("shard="));
    let shard = named.and_then(|written| written.parse().ok()).filter(|shard| (0..SHARD_MAX).contains(shard));
    shard.ok_or_else(|| wrong("400: shard=N is needed, a shard's id from 0"))
}

/// The grant that is given back, where one is named.
fn grant(head: &Parts) -> Result<Option<GrantId>, Box<Reply>> {
    let Some(value) = head.headers.get(GRANT) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|written| written.parse().ok());
    number.map(|number| Some(GrantId(number))).ok_or_else(|| wrong("400: X-Tidegate-Grant is a number"))
}

/// Whose line it is.
fn whose(gateway: &Fleets, connection: &Connection, head: &Parts) -> Result<(Token, Option<Identity>), Box<Reply>> {
    let shared = &connection.shared;
    let unauthorized = || Box::new(answer::unauthorized());
    let (token, identity) = match head.headers.get(AUTHORIZATION) {
        Some(value) => {
            let written = value.to_str().map_err(|_| unauthorized())?;
            let (token, identity) = identity(written).ok_or_else(unauthorized)?;
            (token, Some(identity))
        }
        None => (only_bot(gateway, connection).ok_or_else(unauthorized)?, None),
    };
    if shared.config.bots.as_ref().is_some_and(|allowed| !allowed.contains(token.id())) {
        let message = "403: this bot is not served here";
        return Err(Box::new(answer::error(StatusCode::FORBIDDEN, 0, message)));
    }
    Ok((token, identity))
}

/// The one bot that is served, where the configuration names just one: existing clients send no `Authorization`. Its token
/// is known once it has used it here.
fn only_bot(gateway: &Fleets, connection: &Connection) -> Option<Token> {
    let shared = &connection.shared;
    let allowed = shared.config.bots.as_ref().filter(|allowed| allowed.len() == 1)?;
    let id = allowed.iter().next()?;
    let known =
        gateway.tokens().into_iter().filter(|token| token.id() == id.as_str()).max_by_key(|token| !token.is_nameless());
    Some(known.unwrap_or_else(|| Token::nameless(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_number_from_0() {
        let read = |query| shard(query).map_err(|reply| reply.status.as_u16());
        assert_eq!(read("shard=3"), Ok(3));
        assert_eq!(read("max_concurrency=16&shard=15"), Ok(15));
        for query in ["", "shard=", "shard=-1", "shard=x", "shard=99999999999", "shards=1"] {
            assert_eq!(read(query), Err(400), "{query}");
        }
    }
}
