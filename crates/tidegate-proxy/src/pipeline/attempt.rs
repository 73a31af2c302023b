//! A released call on its way upstream and back.

use std::pin::pin;

use hyper::{Response, StatusCode};
use tidegate_core::Span;
use tidegate_core::governor::{Answer, Input, RefusedScope};
use tidegate_core::policy::Dry;

use super::outcome::Tag;
use super::{Governed, Own, Platform, Ticket, Verdict, done};
use crate::body::Body;
use crate::bots::Leave;
use crate::client_gone;
use crate::reply::{Answered, Reply};
use crate::upstream::Failure;

/// An answer, or a ticket that waits again.
type Attempted = Result<Response<Body>, Ticket>;

/// A call whose client left meanwhile is not sent again: the governor knows before it hears of the failure.
fn tell_if_gone(call: &mut Ticket) {
    if client_gone::is_gone() {
        call.leave();
    }
}

impl<P: Platform> Governed<P> {
    /// Sends the released call: for the first time, or again, at once or after it has waited.
    pub(super) async fn attempt(&mut self, call: Ticket, (sent, waited): (u32, bool), tag: Tag) -> Attempted {
        if waited && client_gone::is_gone() && !call.is_followed() {
            return Ok(self.end(call, P::own(Own::Busy), tag.with("refused")));
        }
        let pause = self.connection.shared.config.bounds.breaker.into();
        if self.bot().standing.ask(|| self.now(), pause) == Leave::Refused {
            return Ok(self.finish(call, Answer::Permanent, P::own(Own::Unauthorized), tag.with("refused")));
        }
        if waited && let Some(reply) = self.barred().await {
            return Ok(self.finish(call, Answer::Permanent, reply, tag.with("refused")));
        }
        let reply = match self.once(&call, waited).await {
            Ok(Answered::Whole(reply)) => reply,
            Ok(Answered::Stream(response)) => return Ok(self.passing(call, response, tag)),
            Err(failure) => return self.unanswered(call, failure, tag),
        };
        match P::judge(self, &reply) {
            Verdict::End(result) => Ok(self.finish(call, result, reply, tag)),
            Verdict::NotModified if sent > 1 || call.is_followed() => {
                let reply = P::stand_in(self);
                Ok(self.finish(call, Answer::Ok, reply, tag))
            }
            Verdict::NotModified => Ok(self.finish(call, Answer::Ok, reply, tag)),
            Verdict::Refused { retry_after, scope } => self.refused(call, reply, retry_after, scope, tag),
            Verdict::Failed => self.failed(call, reply, tag),
        }
    }

    /// Sends it once. `waited`: it did not come this moment.
    async fn once(&self, call: &Ticket, waited: bool) -> Result<Answered, Failure> {
        let shared = &self.connection.shared;
        let base = &self.common().base;
        let sent = if waited { self.now() } else { self.arrived };
        let asked = pin!(async {
            let answer = self.connection.upstream.send(base, &self.head, &self.payload).await?;
            P::learn(self, call.ticket(), answer.status, &answer.headers);
            let answered = if !answer.status.is_success() || self.facts.reads(self.row()) {
                Answered::read_long(answer).await
            } else {
                Answered::read(answer).await
            };
            answered.ok_or(Failure::Unknown)
        });
        let answered = shared.drain.unless_over(asked).await.unwrap_or(Err(Failure::Unknown))?;
        // How long an upload takes is its client's matter. A refusal is quick because nothing was done.
        if self.payload.is_whole() && answered.status() != StatusCode::TOO_MANY_REQUESTS {
            let now = self.now();
            if self.common().times.answered(now, now.since(sent)) {
                self.common().ring();
            }
        }
        Ok(answered)
    }

    /// A long answer goes by unread; only its head is judged.
    fn passing(&mut self, call: Ticket, mut response: Response<Body>, tag: Tag) -> Response<Body> {
        let status = response.status();
        let (mut result, mut tag) = (Answer::Ok, tag);
        if status.is_success() {
            P::worked(self);
        } else {
            let head = Reply { status, headers: response.headers().clone(), body: bytes::Bytes::new() };
            result = match P::judge(self, &head) {
                Verdict::End(result) => result,
                Verdict::Failed => {
                    tag = self.in_doubt(tag);
                    Answer::Transient
                }
                Verdict::NotModified | Verdict::Refused { .. } => Answer::Permanent,
            };
        }
        Answered::early(&mut response, &self.payload);
        self.tag(response.headers_mut(), tag);
        call.finish(done(result), || P::own(if status.is_success() { Own::Busy } else { Own::Unknown }));
        response
    }

    /// The platform said 429: its scope cools, and the call waits again if it is at hand.
    fn refused(
        &mut self,
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
        tell_if_gone(&mut call);
        call.again(Input::Refused { ticket, retry_after, scope });
        if self.payload.is_whole() && !self.is_late() {
            self.last = Some(Box::new(reply));
            return Err(call);
        }
        let reply = P::passed_on(self, reply);
        Ok(self.end(call, reply, tag))
    }

    /// The platform answered that it failed. What may be repeated is; else its answer is the call's.
    fn failed(&mut self, call: Ticket, reply: Reply, tag: Tag) -> Attempted {
        self.last = Some(Box::new(reply));
        let call = self.repeated(call, true)?;
        let (tag, reply) = (self.in_doubt(tag), self.last.take());
        let reply = reply.map_or_else(|| P::own(Own::Unknown), |reply| *reply);
        Ok(self.finish(call, Answer::Transient, reply, tag))
    }

    /// There is no answer. What may be repeated is. An earlier failure that the platform told says more than silence.
    fn unanswered(&mut self, call: Ticket, failure: Failure, tag: Tag) -> Attempted {
        let unknown = failure == Failure::Unknown;
        let told = self.last.take().filter(|last| last.status.is_server_error());
        let tag = tag.with(if unknown || told.is_some() { "unknown" } else { "refused" });
        self.last =
            Some(told.unwrap_or_else(|| Box::new(P::own(if unknown { Own::Unknown } else { Own::Unreachable }))));
        let call = self.repeated(call, unknown)?;
        let reply = self.last.take().map_or_else(|| P::own(Own::Unknown), |reply| *reply);
        Ok(self.finish(call, Answer::Transient, reply, tag))
    }

    /// A failed call is to go again: an edit when the governor says so, another at once, and once; or it is at its end,
    /// and is given back. `may_have_arrived`: something of it was sent.
    fn repeated(&mut self, mut call: Ticket, may_have_arrived: bool) -> Result<Ticket, Ticket> {
        if !self.payload.is_whole() || self.is_late() {
            return Ok(call);
        }
        if self.facts.asking().cell(self.row()).dry == Dry::Merge {
            let ticket = call.ticket();
            tell_if_gone(&mut call);
            call.again(done(Answer::Transient)(ticket));
            return Err(call);
        }
        if may_have_arrived && !self.repeats && !client_gone::is_gone() && P::is_idempotent(self) {
            self.repeats = true;
            call.finish(done(Answer::Transient), || P::own(Own::Unknown));
            // The platform counts it anew, and so does the governor.
            return Err(self.enter(false));
        }
        Ok(call)
    }

    /// The outcome of a call that the platform says has failed.
    fn in_doubt(&self, tag: Tag) -> Tag {
        if P::is_idempotent(self) { tag } else { tag.with("unknown") }
    }

    /// The program goes down, and what is sent now would not be answered in time.
    pub(super) fn is_late(&self) -> bool {
        self.connection.shared.drain.is_late()
    }
}
