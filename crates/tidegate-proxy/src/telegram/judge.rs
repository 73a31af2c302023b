//! What an answer of Telegram's means for the call, the bot and its budgets.

use hyper::StatusCode;
use tidegate_core::Peer;
use tidegate_core::governor::{Answer, Input, Scope};
use tidegate_core::policy::{Policy, Row};

use super::call::Facts;
use super::reply::{Reply, said};
use crate::bots::Bot;
use crate::context::Context;
use crate::pipeline::edge::Edge;
use crate::pipeline::{Governed, Verdict};

/// Takes in what an answer teaches.
pub(super) fn judge(call: &Governed<Facts>, reply: &Reply) -> Verdict {
    let (bot, policy, facts) = (call.bot(), call.policy(), &call.facts);
    if reply.status.is_server_error() {
        return Verdict::Failed;
    }
    standing(&call.connection.shared, &call.edge, bot, reply);
    match reply.status {
        StatusCode::TOO_MANY_REQUESTS => Verdict::Refused { retry_after: reply.retry_after(), scope: None },
        StatusCode::BAD_REQUEST => bad_request(bot, policy, facts, reply),
        status if status.is_success() => {
            succeeded(bot, policy.row(facts.asking.row), facts, reply);
            Verdict::End(Answer::Ok)
        }
        _ => Verdict::End(Answer::Permanent),
    }
}

/// Whether the platform still takes the token.
pub(super) fn standing(shared: &Context, edge: &Edge, bot: &Bot, reply: &Reply) {
    let refused = match reply.status {
        StatusCode::UNAUTHORIZED => true,
        StatusCode::NOT_FOUND => said(&reply.body).is_bare_not_found(),
        status if status.is_server_error() => return,
        _ => false,
    };
    if !refused {
        bot.standing.worked();
        return;
    }
    let now = shared.clock.now();
    if !bot.standing.is_proven() {
        edge.unproven.failed(now);
    }
    if bot.standing.refused(now, shared.config.bounds.breaker.into()) {
        tracing::warn!(bot = %bot.token, status = reply.status.as_u16(), "Telegram does not take this bot's token");
    }
}

fn bad_request(bot: &Bot, policy: &Policy, facts: &Facts, reply: &Reply) -> Verdict {
    let said = said(&reply.body);
    if let (Some(id), Some(from)) = (said.migrated_to(), facts.args.peer()) {
        bot.driver.tell(Input::Migrate { from: from.clone(), to: Peer::Id(id) });
        return Verdict::End(Answer::Permanent);
    }
    // Part of an album may be there already, so it is not sent again; but the chat cools.
    if let (Some(wait), Some(peer)) = (said.wrapped_flood(), facts.args.peer()) {
        let duration = wait + policy.margin;
        bot.memory.refused(&policy.row(facts.asking.row).name, Some(peer), bot.driver.clock().now() + duration);
        bot.driver.tell(Input::Cooldown { scope: Scope::Peer(peer.clone()), duration });
        return Verdict::End(Answer::Permanent);
    }
    if said.is_not_modified() { Verdict::NotModified } else { Verdict::End(Answer::Permanent) }
}

/// Learns the chat behind a name, and keeps an edited message for edits that will not be sent.
fn succeeded(bot: &Bot, row: &Row, facts: &Facts, reply: &Reply) {
    let peer = facts.args.peer();
    if let Some(Peer::Name(name)) = peer
        && !bot.memory.knows(name)
        && let Some(id) = said(&reply.body).chat_id()
        && bot.memory.is_news(name)
    {
        bot.driver.tell(Input::Migrate { from: Peer::Name(name.clone()), to: Peer::Id(id) });
    }
    if let (true, Some(peer), Some(message)) = (row.merges(), peer, facts.args.message)
        && let Some(object) = said(&reply.body).result.filter(|result| result.get().starts_with('{'))
    {
        bot.memory.keep(peer, message, object.get().as_bytes());
    }
}
