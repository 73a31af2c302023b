//! What no budget counts: long polls and files. They are never queued, limited, shortened or retried.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Body as _;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

use super::answer;
use super::call::Facts;
use super::reply::Reply;
use crate::body::Body;
use crate::bots::{InUse, Leave};
use crate::client_connection::Connection;
use crate::pipeline::admit::{Admission, Errand, admit};
use crate::pipeline::edge::Edge;
use crate::reply::Answered;
use crate::request_body::RequestBody;
use crate::upstream::Failure;
use crate::upstream::Payload;

/// A token that is not known is told so at once; a poll that is out for longer is no failure to come.
const TOLD_BY: Duration = Duration::from_secs(2);
/// Waiting for an unproven token's turn, for calls that name no patience.
const PATIENCE: tidegate_core::Span = tidegate_core::Span::from_secs(8);

/// A long poll. Its client's leaving cancels the call upstream; a drain ends it with an answer.
pub(super) async fn poll(
    edge: &Edge,
    connection: Arc<Connection>,
    bot: InUse,
    head: Parts,
    body: RequestBody,
) -> Result<Response<Body>, Box<Reply>> {
    let mut drain = connection.shared.drain.begun();
    let polled = async {
        let admission = admit::<Facts>(&connection.shared, edge, &bot.0, Errand::Poll, PATIENCE).await?;
        pass((edge, &connection), &bot, head, body, admission, true).await
    };
    tokio::select! {
        biased;
        answered = polled => answered,
        () = drain.wait() => Err(Box::new(answer::unavailable("tidegate is going down", false))),
        () = crate::client_gone::gone() => Err(Box::new(answer::busy())),
    }
}

/// A file.
pub(super) async fn file(
    edge: &Edge,
    connection: Arc<Connection>,
    bot: InUse,
    head: Parts,
    body: RequestBody,
) -> Result<Response<Body>, Box<Reply>> {
    let admission = admit::<Facts>(&connection.shared, edge, &bot.0, Errand::Call, PATIENCE).await?;
    let passed = pin!(pass((edge, &connection), &bot, head, body, admission, false));
    let passed = connection.shared.drain.unless_over(passed).await;
    passed.unwrap_or_else(|| Err(Box::new(answer::unavailable("tidegate is going down", false))))
}

async fn pass(
    (edge, connection): (&Edge, &Connection),
    bot: &InUse,
    head: Parts,
    body: RequestBody,
    mut admission: Option<Admission>,
    is_method: bool,
) -> Result<Response<Body>, Box<Reply>> {
    let shared = &connection.shared;
    if bot.0.standing.ask(|| shared.clock.now(), shared.config.bounds.breaker.into()) == Leave::Refused {
        return Err(Box::new(answer::unauthorized()));
    }
    let payload = if body.is_end_stream() {
        Payload::Whole(bytes::Bytes::new())
    } else {
        Payload::part(std::collections::VecDeque::new(), body)
    };
    let mut sending = pin!(connection.upstream.send(&edge.base, &head, &payload));
    let answered = tokio::select! {
        answered = &mut sending => answered,
        () = tokio::time::sleep(TOLD_BY), if admission.is_some() => {
            if let Some(admission) = &mut admission {
                admission.room = None;
            }
            sending.await
        }
    };
    let answered = answered.map_err(|failure| {
        let unknown = failure == Failure::Unknown;
        Box::new(answer::unavailable("Telegram cannot be reached", unknown && is_method))
    })?;
    let status = answered.status;
    if status == StatusCode::UNAUTHORIZED || (is_method && status == StatusCode::NOT_FOUND) {
        let reply = Reply::read(answered).await;
        let reply = reply.ok_or_else(|| Box::new(answer::unavailable("Telegram's answer broke off", false)))?;
        super::judge::standing(shared, edge, &bot.0, &reply);
        return Ok(reply.into_response());
    }
    let answered = Answered::read(answered).await;
    let answered = answered.ok_or_else(|| Box::new(answer::unavailable("Telegram's answer broke off", false)))?;
    if is_method && !status.is_server_error() {
        bot.0.standing.worked();
    }
    Ok(match answered {
        Answered::Whole(reply) => reply.into_response(),
        Answered::Stream(mut response) => {
            Answered::early(&mut response, &payload);
            response
        }
    })
}
