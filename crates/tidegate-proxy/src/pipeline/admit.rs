//! Before a call meets the governor: is its token worth trying, and is it its turn?

use tidegate_core::Span;

use super::edge::Edge;
use super::{Own, Platform};
use crate::bots::{Bot, First, Leave, Room};
use crate::client_gone;
use crate::context::Context;
use crate::reply::Reply;

/// What a call holds that came while its token was unproven. Dropped, the next may go.
#[derive(Debug)]
pub(crate) struct Admission {
    _first: First,
    /// Room for one more failure, while the token is unproven still.
    pub(crate) room: Option<Room>,
}

/// Which of the two that an unproven token may have out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    Call,
    /// May take a minute, so it has a place of its own.
    Poll,
}

/// Whether a call need not wait for its turn. A proven token's need not, but behind those that came before it and still
/// stand in line: the governor is to meet them in their order.
pub(crate) fn goes_at_once(bot: &Bot, errand: Errand) -> bool {
    bot.is_clear() || errand == Errand::Poll && bot.standing.is_proven()
}

/// Waits until a call of this bot may go; the error is its answer.
pub(crate) async fn admit<P: Platform>(
    shared: &Context,
    edge: &Edge,
    bot: &Bot,
    errand: Errand,
    patience: Span,
) -> Result<Option<Admission>, Box<Reply>> {
    if goes_at_once(bot, errand) {
        return Ok(None);
    }
    let line = match errand {
        Errand::Call => &bot.line,
        Errand::Poll => &bot.polls,
    };
    let waiting = async {
        let first = line.first().await.ok_or(Own::Busy)?;
        room(shared, edge, bot).await.map(|room| Some(Admission { _first: first, room }))
    };
    let admitted = tokio::select! {
        biased;
        () = client_gone::gone() => Err(Own::Busy),
        // Polls have no order to keep, and the one before may last a minute.
        () = bot.standing.proven(), if errand == Errand::Poll => Ok(None),
        admitted = tokio::time::timeout(shared.clock.real(patience), waiting) => admitted.unwrap_or(Err(Own::Busy)),
    };
    admitted.map_err(|own| Box::new(P::own(own)))
}

/// The same for a call that no governor holds: it goes at once where its token is taken.
pub(crate) async fn released<P: Platform>(
    shared: &Context,
    edge: &Edge,
    bot: &Bot,
    patience: Span,
) -> Result<Option<Admission>, Box<Reply>> {
    match bot.standing.ask(|| shared.clock.now(), shared.config.bounds.breaker.into()) {
        Leave::Refused => Err(Box::new(P::own(Own::Unauthorized))),
        Leave::Go => Ok(None),
        Leave::Alone => admit::<P>(shared, edge, bot, Errand::Call, patience).await,
    }
}

async fn room(shared: &Context, edge: &Edge, bot: &Bot) -> Result<Option<Room>, Own> {
    if bot.standing.is_proven() {
        return Ok(None);
    }
    if bot.standing.is_open(|| shared.clock.now()) {
        return Err(Own::Unauthorized);
    }
    let room = edge.unproven.room(|| shared.clock.now()).await.map_err(Own::Refusal)?;
    Ok(Some(room).filter(|_| !bot.standing.is_proven()))
}
