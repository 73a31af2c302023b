//! `GET /gateway` and `GET /gateway/bot`: Discord allows two of the latter in five seconds, and a restart of many processes
//! asks for far more. One fetch serves all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::http::request::Parts;
use tidegate_core::{MethodKey, Span, Time};

use super::address::Barrier;
use super::call::Facts;
use super::response::{self, Scope};
use super::{Edge, answer, judge, kind};
use crate::bots::Bot;
use crate::client_connection::Connection;
use crate::pipeline::admit::released;
use crate::pipeline::outcome::outcome;
use crate::reply::Reply;
use crate::upstream::Failure;
use crate::upstream::Payload;

/// How long an answer serves.
const FRESH: Span = Span::from_secs(5);
/// How long where the one before it said the same.
const FRESH_UNCHANGED: Span = Span::from_secs(30);
/// Waiting for an unproven token's turn.
const PATIENCE: Span = Span::from_secs(8);
/// A fetch without an answer is given up, for others wait for it.
const LONGEST: Duration = Duration::from_secs(10);
/// Askers remembered at once.
const MOST: usize = 2048;

/// The answers, by asker.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<(u64, bool), Shelf>>);

/// Who fetches holds the lock, and all others wait for it.
type Shelf = Arc<tokio::sync::Mutex<Slot>>;

/// One asker's answers.
#[derive(Debug, Default)]
struct Slot {
    good: Option<Good>,
    /// The last answer of any kind, and when it came.
    last: Option<(Time, Reply)>,
    /// Discord said not to come back before this.
    not_before: Time,
}

#[derive(Debug)]
struct Good {
    reply: Reply,
    until: Time,
}

impl Cache {
    fn slot(&self, bot: &Bot, own: bool) -> Shelf {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (bot.token.hash(), own);
        if slots.len() >= MOST && !slots.contains_key(&key) {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        Arc::clone(slots.entry(key).or_default())
    }
}

/// Answers one. `own`: the bot's own, with its session starts.
pub(super) async fn serve(connection: &Connection, edge: &Edge, bot: &Bot, head: &Parts, own: bool) -> Reply {
    let shared = &connection.shared;
    let asked = shared.clock.now();
    let slot = edge.gateway.slot(bot, own);
    let mut slot = slot.lock().await;
    let now = shared.clock.now();
    if let Some(good) = slot.good.as_ref().filter(|good| now < good.until) {
        return good.reply.clone();
    }
    // Who asked while it was fetched shares it, whatever it says.
    if let Some((_, reply)) = slot.last.as_ref().filter(|(at, _)| *at >= asked) {
        return reply.clone();
    }
    let mut reply = match waits(edge, bot, own, slot.not_before, now) {
        Some(wait) => slot.known().unwrap_or_else(|| answer::refused(wait)),
        None => fetch((connection, edge), bot, head, own, &mut slot).await,
    };
    outcome(&mut reply.headers, "bypass");
    reply
}

fn method(own: bool) -> MethodKey {
    MethodKey::of(if own { "GET /gateway/bot" } else { "GET /gateway" })
}

/// How long Discord must not be asked.
fn waits(edge: &Edge, bot: &Bot, own: bool, not_before: Time, now: Time) -> Option<Span> {
    let barred = match edge.address.barrier(now, kind(bot, method(own)), None) {
        Some(Barrier::Ban(wait) | Barrier::Invalid(wait)) => now + wait,
        Some(Barrier::DeadWebhook) | None => Time::ZERO,
    };
    let until = not_before.max(barred).max(bot.memory.bot_cools_until());
    (until > now).then(|| until.since(now))
}

async fn fetch((connection, edge): (&Connection, &Edge), bot: &Bot, head: &Parts, own: bool, slot: &mut Slot) -> Reply {
    let shared = &connection.shared;
    let admission = match released::<Facts>(shared, &edge.common, bot, PATIENCE).await {
        Ok(admission) => admission,
        Err(reply) => return *reply,
    };
    let mut reply = ask(connection, edge, head).await;
    if reply.as_ref().map_or_else(|failure| *failure == Failure::Unknown, |reply| reply.status.is_server_error()) {
        reply = ask(connection, edge, head).await;
    }
    let now = shared.clock.now();
    let Ok(reply) = reply else {
        return slot.ended(now, answer::unavailable("Discord cannot be reached", false));
    };
    let refused = response::refusal(&reply);
    if let Some(refused) = refused {
        slot.not_before = now + refused.retry_after.unwrap_or(FRESH);
        if refused.scope == Scope::Ban {
            slot.not_before = now + edge.banned(now, refused.retry_after);
        } else if refused.scope == Scope::Global {
            bot.memory.cool_bot(slot.not_before);
        }
    }
    if !reply.status.is_server_error() && refused.is_none_or(|refused| refused.scope != Scope::Ban) {
        let invalid = matches!(reply.status.as_u16(), 401 | 403 | 429)
            && refused.is_none_or(|refused| refused.scope != Scope::Shared);
        edge.address.answered(now, kind(bot, method(own)), invalid);
        judge::standing(shared, edge, bot, reply.status);
    }
    drop(admission);
    slot.take(now, reply, refused.is_some().then(|| slot.not_before.since(now)))
}

async fn ask(connection: &Connection, edge: &Edge, head: &Parts) -> Result<Reply, Failure> {
    let payload = Payload::Whole(Bytes::new());
    let base = &edge.common.base;
    let whole = async {
        let answer = connection.upstream.send(base, head, &payload).await?;
        Reply::read(answer).await.ok_or(Failure::Unknown)
    };
    tokio::time::timeout(LONGEST, whole).await.unwrap_or(Err(Failure::Unknown))
}

impl Slot {
    /// The last good answer, for when there is no better one.
    fn known(&self) -> Option<Reply> {
        self.good.as_ref().map(|good| good.reply.clone())
    }

    /// Takes a fetched answer in; what to answer. `refused`: how long Discord must not be asked again.
    fn take(&mut self, now: Time, reply: Reply, refused: Option<Span>) -> Reply {
        if reply.status == StatusCode::OK {
            let same = self.good.as_ref().is_some_and(|good| good.reply.body == reply.body);
            let mut kept = reply.clone();
            for name in [answer::LIMIT, answer::REMAINING, answer::RESET, answer::RESET_AFTER, answer::BUCKET] {
                // They were true when it was fetched.
                kept.headers.remove(name);
            }
            self.good = Some(Good { reply: kept, until: now + if same { FRESH_UNCHANGED } else { FRESH } });
            return self.ended(now, reply);
        }
        if let Some(wait) = refused {
            return self.ended(now, answer::refused(wait));
        }
        if reply.status.is_server_error() {
            return self.ended(now, reply);
        }
        self.last = Some((now, reply.clone()));
        reply
    }

    /// The answer for all who asked before `now`: the last good one where this is none.
    fn ended(&mut self, now: Time, reply: Reply) -> Reply {
        let reply = if reply.status == StatusCode::OK { reply } else { self.known().unwrap_or(reply) };
        self.last = Some((now, reply.clone()));
        reply
    }
}
