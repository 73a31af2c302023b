//! Before a released call goes upstream: is its token worth trying?

use std::sync::Arc;

use tidegate_core::Span;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Own, Platform};
use crate::bots::{Bot, Leave, Room};
use crate::proxy::client;
use crate::proxy::reply::Reply;
use crate::serve::Shared;

/// What an unproven token's call holds while it is out.
#[derive(Debug)]
pub(crate) struct Admission {
    _alone: OwnedSemaphorePermit,
    pub(crate) room: Option<Room>,
}

/// Which of the two that an unproven token may have out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    Call,
    /// May take a minute, so it has a place of its own.
    Poll,
}

/// Whether a released call may try its token. It is asked then and not before, so that calls which wait for an unproven
/// token keep the governor's order. The error is the call's answer.
pub(crate) async fn released<P: Platform>(
    shared: &Shared,
    bot: &Bot,
    patience: Span,
) -> Result<Option<Admission>, Box<Reply>> {
    match bot.standing.ask(shared.clock.now(), shared.config.bounds.breaker.into()) {
        Leave::Go => Ok(None),
        Leave::Refused => Err(Box::new(P::own(Own::Unauthorized))),
        Leave::Alone => tokio::select! {
            biased;
            () = client::gone() => Err(Box::new(P::own(Own::Busy))),
            admitted = admit::<P>(shared, bot, Errand::Call, patience) => admitted,
        },
    }
}

/// Waits until a call of this bot may go; the error is its answer. A proven token's goes at once.
pub(crate) async fn admit<P: Platform>(
    shared: &Shared,
    bot: &Bot,
    errand: Errand,
    patience: Span,
) -> Result<Option<Admission>, Box<Reply>> {
    if bot.standing.is_proven() {
        return Ok(None);
    }
    let longest = shared.clock.real(patience);
    let admitted = tokio::time::timeout(longest, unproven::<P>(shared, bot, errand)).await;
    admitted.unwrap_or(Err(Own::Busy)).map_err(|own| Box::new(P::own(own)))
}

async fn unproven<P: Platform>(shared: &Shared, bot: &Bot, errand: Errand) -> Result<Option<Admission>, Own> {
    let places: &Arc<Semaphore> = match errand {
        Errand::Call => &bot.one_call,
        Errand::Poll => &bot.one_poll,
    };
    let alone = Arc::clone(places).acquire_owned().await.map_err(|_| Own::Busy)?;
    if bot.standing.is_proven() {
        return Ok(None);
    }
    if bot.standing.is_open(shared.clock.now()) {
        return Err(Own::Unauthorized);
    }
    let room = P::edge(shared).unproven.room(|| shared.clock.now()).await;
    match room {
        Ok(_) if bot.standing.is_proven() => Ok(None),
        Ok(room) => Ok(Some(Admission { _alone: alone, room: Some(room) })),
        Err(wait) => Err(Own::Refusal(wait)),
    }
}
