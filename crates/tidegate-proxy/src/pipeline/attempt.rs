//! A released call on its way upstream and back.

use hyper::Response;
use tidegate_core::Span;
use tidegate_core::governor::{Answer, Input, RefusedScope};
use tidegate_core::policy::Dry;

use super::outcome::Tag;
use super::{Governed, Own, Platform, Ticket, Verdict, done};
use crate::body::Body;
use crate::bots::Leave;
use crate::reply::{Answered, Reply};
use crate::upstream::Failure;

/// An answer, or a ticket that waits again and the answer to give if it is not released.
type Attempted = Result<Response<Body>, Box<(Ticket, Reply)>>;

impl<P: Platform> Governed<P> {
    /// Sends the released call: for the first time, or again, at once or after it has waited.
    pub(super) async fn attempt(&mut self, call: Ticket, (sent, waited): (u32, bool), tag: Tag) -> Attempted {
        let pause = self.connection.shared.config.bounds.breaker.into();
        if self.bot().standing.ask(|| self.now(), pause) == Leave::Refused {
            return Ok(self.finish(call, Answer::Permanent, P::own(Own::Unauthorized), tag.with("refused")));
        }
        if waited && let Some(reply) = self.barred().await {
            return Ok(self.finish(call, Answer::Permanent, reply, tag.with("refused")));
        }
        let reply = match self.once(&call).await {
            Ok(Answered::Whole(reply)) => reply,
            Ok(Answered::Stream(mut response)) => {
                P::worked(self);
                self.tag(response.headers_mut(), tag);
                call.finish(done(Answer::Ok), || P::own(Own::Busy));
                return Ok(response);
            }
            Err(failure) => return self.unavailable(call, failure, tag),
        };
        match P::judge(self, &reply) {
            Verdict::End(result) => Ok(self.finish(call, result, reply, tag)),
            Verdict::NotModified if sent > 1 || call.is_followed() => {
                let reply = P::stand_in(self);
                Ok(self.finish(call, Answer::Ok, reply, tag))
            }
            Verdict::NotModified => Ok(self.finish(call, Answer::Ok, reply, tag)),
            Verdict::Refused { retry_after, scope } => self.refused(call, reply, retry_after, scope, tag),
            Verdict::Failed => self.unavailable(call, Failure::Unknown, tag),
        }
    }

    async fn once(&self, call: &Ticket) -> Result<Answered, Failure> {
        let base = &self.common().base;
        let answer = self.connection.upstream.send(base, &self.head, &self.payload).await?;
        P::learn(self, call.ticket(), answer.status, &answer.headers);
        let answered = if !answer.status.is_success() || self.facts.reads(self.row()) {
            Reply::read(answer).await.map(Answered::Whole)
        } else {
            Answered::read(answer).await
        };
        answered.ok_or(Failure::Unknown)
    }

    /// The platform said 429: its scope cools, and the call waits again if it is at hand.
    fn refused(
        &self,
        mut call: Ticket,
        reply: Reply,
        retry_after: Option<Span>,
        scope: Option<RefusedScope>,
        tag: Tag,
    ) -> Attempted {
        let policy = self.policy();
        let until = self.now() + retry_after.unwrap_or(policy.default_retry) + policy.margin;
        let peer = self.facts.peer().filter(|_| scope != Some(RefusedScope::Bot));
        self.bot().memory.refused(&self.row().name, peer, until);
        if scope == Some(RefusedScope::Bot) {
            self.bot().memory.cool_bot(until);
        }
        let ticket = call.ticket();
        call.again(Input::Refused { ticket, retry_after, scope });
        if self.payload.is_whole() {
            return Err(Box::new((call, reply)));
        }
        let reply = P::passed_on(self, reply);
        Ok(self.end(call, reply, tag))
    }

    /// No answer, or one that says that the platform failed. What may be repeated is.
    fn unavailable(&mut self, mut call: Ticket, failure: Failure, tag: Tag) -> Attempted {
        let unknown = failure == Failure::Unknown;
        let reply = P::own(if unknown { Own::Unknown } else { Own::Unreachable });
        if self.facts.asking().cell(self.row()).dry == Dry::Merge && self.payload.is_whole() {
            let ticket = call.ticket();
            call.again(done(Answer::Transient)(ticket));
            return Err(Box::new((call, reply)));
        }
        if unknown && !self.repeated && self.payload.is_whole() && P::is_idempotent(self) {
            self.repeated = true;
            call.finish(done(Answer::Transient), || reply.clone());
            // The platform counts it anew, and so does the governor.
            return Err(Box::new((self.enter(), reply)));
        }
        let outcome = if unknown { "unknown" } else { "refused" };
        Ok(self.finish(call, Answer::Transient, reply, tag.with(outcome)))
    }
}
