//! What an answer of Discord's means for the call, the bot, its budgets and the address.

use hyper::StatusCode;
use tidegate_core::governor::{Answer, RefusedScope};
use tidegate_core::{Span, Time};

use super::call::Facts;
use super::response::{self, Scope};
use super::{Edge, kind};
use crate::bots::Bot;
use crate::context::Context;
use crate::pipeline::{Governed, Verdict};
use crate::reply::Reply;

/// Takes in what an answer teaches.
pub(super) fn judge(call: &Governed<Facts>, reply: &Reply) -> Verdict {
    let shared = &call.connection.shared;
    let (edge, now, route) = (&call.edge, call.now(), &call.facts.route);
    if reply.status.is_server_error() {
        return Verdict::Failed;
    }
    if let Some(refused) = response::refusal(reply) {
        if refused.scope == Scope::Ban {
            let left = edge.banned(now, refused.retry_after);
            return Verdict::Refused { retry_after: Some(left), scope: Some(RefusedScope::Bot) };
        }
        edge.address.answered(now, kind(call.bot(), route.method), refused.scope != Scope::Shared);
        standing(shared, edge, call.bot(), reply.status);
        return Verdict::Refused { retry_after: refused.retry_after, scope: scope(call, refused.scope) };
    }
    let invalid = matches!(reply.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    edge.address.answered(now, kind(call.bot(), route.method), invalid);
    standing(shared, edge, call.bot(), reply.status);
    if let Some(webhook) = route.peer.as_ref().filter(|_| route.webhook.is_some() && response::is_dead_webhook(reply)) {
        edge.address.bury(now, webhook);
    }
    if !reply.status.is_success() {
        return Verdict::End(Answer::Permanent);
    }
    if let (true, Some(peer), Some(message)) = (call.row().partial, &call.facts.peer, route.message)
        && reply.body.starts_with(b"{")
    {
        call.bot().memory.keep(peer, message, &reply.body);
    }
    Verdict::End(Answer::Ok)
}

/// What a 429 cools.
fn scope(call: &Governed<Facts>, said: Scope) -> Option<RefusedScope> {
    match said {
        // Interactions are not bound to what the bot may do over all routes.
        Scope::Global if call.row().is_free() => None,
        Scope::Global | Scope::Ban => Some(RefusedScope::Bot),
        Scope::Shared if call.facts.route.webhook.is_some() => Some(RefusedScope::Wider),
        Scope::Shared | Scope::User => Some(RefusedScope::PeerMethod),
        Scope::Unnamed => None,
    }
}

/// Whether the platform still takes the token.
pub(super) fn standing(shared: &Context, edge: &Edge, bot: &Bot, status: StatusCode) {
    if edge.is_tokenless(bot) {
        return;
    }
    if status != StatusCode::UNAUTHORIZED {
        bot.standing.worked();
        return;
    }
    let now = shared.clock.now();
    if !bot.standing.is_proven() {
        edge.common.unproven.failed(now);
    }
    if bot.standing.refused(now, shared.config.bounds.breaker.into()) {
        tracing::warn!(bot = %bot.token, "Discord does not take this bot's token");
    }
}

impl Edge {
    /// An answer of a ban came. All held calls look whether they may still wait.
    pub(super) fn banned(&self, now: Time, retry_after: Option<Span>) -> Span {
        let left = self.address.struck(now, retry_after);
        self.common.ring();
        left
    }
}
