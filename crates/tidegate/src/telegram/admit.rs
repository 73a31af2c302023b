//! Before a call may go upstream: is its token worth trying?

use std::time::Duration;

use tidegate_core::Span;
use tokio::sync::OwnedSemaphorePermit;

use super::answer;
use super::reply::Reply;
use crate::bots::Bot;
use crate::serve::Shared;

/// What an unproven token's call holds while it is out.
#[derive(Debug)]
pub(super) struct Admission {
    _alone: OwnedSemaphorePermit,
    pub(super) room: Option<crate::bots::Room>,
}

/// Which of the two that an unproven token may have out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    Call,
    /// May take a minute, so it has a place of its own.
    Poll,
}

/// Waits until a call of this bot may go; the error is its answer. A proven token's goes at once.
pub(super) async fn admit(
    shared: &Shared,
    bot: &Bot,
    errand: Errand,
    patience: Span,
) -> Result<Option<Admission>, Box<Reply>> {
    if bot.standing.is_proven() {
        return Ok(None);
    }
    let longest: Duration = shared.clock.real(patience);
    tokio::time::timeout(longest, unproven(shared, bot, errand)).await.unwrap_or_else(|_| Err(Box::new(answer::busy())))
}

async fn unproven(shared: &Shared, bot: &Bot, errand: Errand) -> Result<Option<Admission>, Box<Reply>> {
    let places = match errand {
        Errand::Call => &bot.one_call,
        Errand::Poll => &bot.one_poll,
    };
    let alone = std::sync::Arc::clone(places).acquire_owned().await.map_err(|_| Box::new(answer::busy()))?;
    if bot.standing.is_proven() {
        return Ok(None);
    }
    if bot.standing.is_open(shared.clock.now()) {
        return Err(Box::new(answer::unauthorized()));
    }
    let room = shared.telegram.unproven.room(|| shared.clock.now()).await;
    match room {
        Ok(_) if bot.standing.is_proven() => Ok(None),
        Ok(room) => Ok(Some(Admission { _alone: alone, room: Some(room) })),
        Err(wait) => Err(Box::new(answer::refusal(wait))),
    }
}
