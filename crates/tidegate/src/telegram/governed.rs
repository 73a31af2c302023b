//! One governed call: before the governor, upstream when it is released, and back.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Response};
use tidegate_core::governor::{self, Answer, Governor, Input, Outcome, Output};
use tidegate_core::policy::{DropAnswer, Dry, Row};
use tidegate_core::{Span, Time};
use tidegate_tokio::{Call, Event};

use super::admit::{Errand, admit};
use super::call::Facts;
use super::judge::{Verdict, judge};
use super::reply::{Reply, WHOLE};
use super::{Surfaces, answer, message};
use crate::bots::{InUse, Leave, Place};
use crate::proxy::body::{Body, Payload};
use crate::proxy::budget::Reserved;
use crate::proxy::client;
use crate::proxy::headers::{self, Asked};
use crate::proxy::upstream::Failure;
use crate::serve::Connection;

type Ticket = Call<Governor, Reply>;

struct Governed {
    connection: Arc<Connection>,
    bot: InUse,
    surfaces: Arc<Surfaces>,
    head: Parts,
    payload: Payload,
    facts: Facts,
    arrived: Time,
    /// Given back when the call is over.
    _buffered: Reserved,
}

/// How a call left the governor.
#[derive(Clone, Copy)]
struct Tag {
    outcome: &'static str,
    held: Span,
}

/// An answer from upstream: at hand, or still coming.
enum Answered {
    Whole(Reply),
    Stream(Response<Body>),
}

/// What woke a held call.
enum Woken {
    Event(Event<Output, Reply>),
    /// The client left, and the ticket with it.
    Left,
    /// The platform no longer takes the token.
    Tripped,
    /// tidegate is going down.
    Draining,
}

/// Answers a call of a method other than a long poll.
pub(super) async fn serve(
    connection: Arc<Connection>,
    bot: InUse,
    method: &str,
    head: Parts,
    asked: &Asked,
    body: Incoming,
) -> Result<Response<Body>, Box<Reply>> {
    let shared = Arc::clone(&connection.shared);
    let surfaces = shared.telegram.surfaces();
    let mut buffered = shared.buffers.reserve();
    let (facts, payload) =
        Facts::read(&surfaces.policy, &shared.config, method, &head, asked, body, &mut buffered).await?;
    let arrived = shared.clock.now();
    let patience = facts.patience(surfaces.policy.row(facts.row));
    let admission = admit(&shared, &bot.0, Errand::Call, patience.max(Span::from_secs(4))).await?;
    let call = Governed { connection, bot, surfaces, head, payload, facts, arrived, _buffered: buffered };
    let answered = call.run().await;
    drop(admission);
    Ok(answered)
}

impl Governed {
    async fn run(mut self) -> Response<Body> {
        let mut place = self.place();
        let mut call = self.bot.0.driver.enter(|ticket| Input::Write(self.facts.write(ticket)));
        let mut tag = Tag { outcome: "admitted", held: Span::ZERO };
        let mut sent = 0;
        let mut last = None;
        loop {
            let output = match self.next(&mut call).await {
                Woken::Event(Event::Output(output)) => output,
                Woken::Event(Event::Answer(reply)) => return self.tagged(reply, Tag { outcome: "superseded", ..tag }),
                Woken::Left => return Response::new(Body::empty()),
                Woken::Tripped => return self.end(call, answer::unauthorized(), Tag { outcome: "refused", ..tag }),
                Woken::Draining => return self.end(call, answer::busy(), Tag { outcome: "refused", ..tag }),
            };
            match output {
                Output::Send { outcome, held, .. } => {
                    place = None;
                    tag = Tag { outcome: outcome_name(outcome), held };
                    sent += 1;
                    match self.attempt(call, sent, tag).await {
                        Ok(response) => return response,
                        Err(waiting) => {
                            let (again, reply) = *waiting;
                            call = again;
                            last = Some(reply);
                        }
                    }
                }
                Output::Superseded { .. } => {
                    let answered = self.follow(call, tag).await;
                    drop(place);
                    return answered;
                }
                over => return self.over(call, &over, last, tag),
            }
        }
    }

    /// A place among the calls of this address that may be held. Without one the call goes at once, or is refused with
    /// its place's time. Those that name their own limit need none.
    fn place(&mut self) -> Option<Place> {
        if self.facts.max_hold.is_some() {
            return None;
        }
        let place = self.bot.0.held.place(self.connection.client);
        if place.is_none() {
            self.facts.max_hold = Some(Span::ZERO);
        }
        place
    }

    /// The governor ended it: answers with the platform's last word, if there was one.
    fn over(&self, call: Ticket, output: &Output, last: Option<Reply>, tag: Tag) -> Response<Body> {
        let outcome = match &last {
            Some(reply) if reply.status.is_server_error() => "unknown",
            _ => "refused",
        };
        let tag = Tag { outcome, ..tag };
        match output {
            Output::Drop { .. } => self.end(call, self.dropped(), Tag { outcome: "dropped", ..tag }),
            Output::Refuse { retry_after, .. } => {
                self.end(call, last.unwrap_or_else(|| answer::refusal(*retry_after)), tag)
            }
            _ => {
                let unknown = || answer::unavailable("Telegram did not take the call", true);
                self.end(call, last.unwrap_or_else(unknown), tag)
            }
        }
    }

    /// The next event, or what ends the wait for it.
    async fn next(&self, call: &mut Ticket) -> Woken {
        if let Some(event) = call.now() {
            return Woken::Event(event);
        }
        let mut trips = self.bot.0.standing.trips();
        let mut drain = self.connection.shared.drain.over();
        let mut attended = true;
        loop {
            tokio::select! {
                biased;
                event = call.next() => return Woken::Event(event),
                () = client::gone(), if attended => {
                    if call.leave() {
                        return Woken::Left;
                    }
                    // Others are answered with this one: it goes on without its client.
                    attended = false;
                }
                Ok(()) = trips.changed() => return Woken::Tripped,
                () = drain.wait() => return Woken::Draining,
            }
        }
    }

    /// Superseded: waits for the newer one's answer, as long as its own client can.
    async fn follow(&self, mut call: Ticket, tag: Tag) -> Response<Body> {
        let shared = &self.connection.shared;
        let patience = self.facts.patience(self.row());
        let left = shared.clock.until(self.arrived + patience);
        let mut drain = shared.drain.over();
        let reply = tokio::select! {
            biased;
            event = call.next() => match event {
                Event::Answer(reply) => Some(reply),
                Event::Output(_) => None,
            },
            () = client::gone() => None,
            () = drain.wait() => None,
            () = tokio::time::sleep(left) => None,
        };
        let held = shared.clock.now().since(self.arrived);
        self.tagged(
            reply.unwrap_or_else(|| self.as_if_edited()),
            Tag { outcome: "superseded", held: held.max(tag.held) },
        )
    }

    /// Sends the released call. The error is a ticket that waits again, and the answer to give if it is not released.
    async fn attempt(&self, call: Ticket, sent: u32, tag: Tag) -> Result<Response<Body>, Box<(Ticket, Reply)>> {
        let shared = &self.connection.shared;
        if self.bot.0.standing.ask(shared.clock.now(), shared.config.bounds.breaker.into()) == Leave::Refused {
            return Ok(self.finish(call, Answer::Permanent, answer::unauthorized(), Tag { outcome: "refused", ..tag }));
        }
        let reply = match self.upstream().await {
            Ok(Answered::Whole(reply)) => reply,
            Ok(Answered::Stream(mut response)) => {
                self.bot.0.standing.worked();
                self.tag(response.headers_mut(), tag);
                call.finish(done(Answer::Ok), answer::busy);
                return Ok(response);
            }
            Err(failure) => return self.unavailable(call, failure, tag),
        };
        match judge(shared, &self.bot.0, &self.surfaces.policy, &self.facts, &reply) {
            Verdict::End(result) => Ok(self.finish(call, result, reply, tag)),
            Verdict::NotModified if sent > 1 || call.is_followed() => {
                Ok(self.finish(call, Answer::Ok, self.as_if_edited(), tag))
            }
            Verdict::NotModified => Ok(self.finish(call, Answer::Ok, reply, tag)),
            Verdict::Refused => self.refused(call, reply, tag),
            Verdict::Failed => self.unavailable(call, Failure::Unknown, tag),
        }
    }

    /// One way upstream and back. What may be repeated is, once.
    async fn upstream(&self) -> Result<Answered, Failure> {
        let idempotent = self.row().is_free()
            && matches!(self.head.method, Method::GET | Method::HEAD | Method::PUT | Method::DELETE)
            && self.payload.is_whole();
        match self.once().await {
            Err(Failure::Unknown) if idempotent => self.once().await,
            Ok(Answered::Whole(reply)) if idempotent && reply.status.is_server_error() => self.once().await,
            answered => answered,
        }
    }

    async fn once(&self) -> Result<Answered, Failure> {
        let base = &self.connection.shared.telegram.base;
        let response = self.connection.upstream.send(base, &self.head, &self.payload).await?;
        let (mut parts, incoming) = response.into_parts();
        headers::backward(&mut parts.headers);
        let named = matches!(self.facts.args.peer(), Some(tidegate_core::Peer::Name(_)));
        let small = hyper::body::Body::size_hint(&incoming).exact().is_some_and(|length| length <= WHOLE);
        if small || named || !parts.status.is_success() || self.row().merges() {
            let reply = Reply::read(parts.status, parts.headers, incoming).await;
            return reply.map(Answered::Whole).ok_or(Failure::Unknown);
        }
        Ok(Answered::Stream(Response::from_parts(parts, Body::Stream(incoming))))
    }

    /// The platform said 429: its scope cools, and the call waits again if it is at hand.
    fn refused(&self, mut call: Ticket, reply: Reply, tag: Tag) -> Result<Response<Body>, Box<(Ticket, Reply)>> {
        let retry_after = reply.retry_after();
        let policy = &self.surfaces.policy;
        let until = self.connection.shared.clock.now() + retry_after.unwrap_or(policy.default_retry) + policy.margin;
        self.bot.0.memory.refused(&self.row().name, self.facts.args.peer(), until);
        let ticket = call.ticket();
        call.again(Input::Refused { ticket, retry_after, scope: None });
        if self.payload.is_whole() {
            return Err(Box::new((call, reply)));
        }
        Ok(self.end(call, reply, tag))
    }

    /// No answer, or one that says that the platform failed. Merged edits may be tried again.
    fn unavailable(
        &self,
        mut call: Ticket,
        failure: Failure,
        tag: Tag,
    ) -> Result<Response<Body>, Box<(Ticket, Reply)>> {
        let unknown = failure == Failure::Unknown;
        let description = if unknown {
            "Telegram gave no answer; the call may have taken effect"
        } else {
            "Telegram cannot be reached"
        };
        let reply = answer::unavailable(description, unknown);
        let outcome = if unknown { "unknown" } else { "refused" };
        if self.facts.cell(self.row()).dry == Dry::Merge && self.payload.is_whole() {
            let ticket = call.ticket();
            call.again(done(Answer::Transient)(ticket));
            return Err(Box::new((call, reply)));
        }
        Ok(self.finish(call, Answer::Transient, reply, Tag { outcome, ..tag }))
    }

    /// Tells the governor how it ended, and all who wait for it.
    fn finish(&self, call: Ticket, result: Answer, reply: Reply, tag: Tag) -> Response<Body> {
        call.finish(done(result), || reply.clone());
        self.tagged(reply, tag)
    }

    /// The governor ended it, or it is given up.
    fn end(&self, call: Ticket, reply: Reply, tag: Tag) -> Response<Body> {
        call.close(|| reply.clone());
        self.tagged(reply, tag)
    }

    fn row(&self) -> &Row {
        self.surfaces.policy.row(self.facts.row)
    }

    fn dropped(&self) -> Reply {
        match self.facts.cell(self.row()).answer {
            DropAnswer::Message => self.as_if_edited(),
            DropAnswer::True | DropAnswer::NoContent => answer::success("true"),
        }
    }

    fn as_if_edited(&self) -> Reply {
        let kept = match (self.facts.args.peer(), self.facts.args.message) {
            (Some(peer), Some(message)) => self.bot.0.memory.message(peer, message),
            _ => None,
        };
        let query = self.head.uri.query().unwrap_or_default();
        answer::success(&message::result(&self.facts, query, &self.payload, kept.as_deref()))
    }

    fn tagged(&self, reply: Reply, tag: Tag) -> Response<Body> {
        let mut response = reply.into_response();
        self.tag(response.headers_mut(), tag);
        response
    }

    fn tag(&self, headers: &mut hyper::HeaderMap, tag: Tag) {
        answer::outcome(headers, tag.outcome);
        headers.insert(answer::HELD_MS, HeaderValue::from(tag.held.as_millis_ceil()));
        headers.insert(answer::GATE, self.surfaces.gate(self.facts.row));
    }
}

fn done(result: Answer) -> impl FnOnce(governor::Ticket) -> Input {
    move |ticket| Input::Done { ticket, result }
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Admitted => "admitted",
        Outcome::Held => "held",
        Outcome::Passed => "passed",
        Outcome::FailedOpen => "failed_open",
        Outcome::Bypass => "bypass",
    }
}
