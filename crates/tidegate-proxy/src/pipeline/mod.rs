//! The life of one governed call, the same for every platform: before the governor, upstream when it is released, back.

pub(crate) mod admit;
pub(crate) mod asking;
mod attempt;
pub(crate) mod edge;
pub(crate) mod hold;
pub(crate) mod intake;
pub(crate) mod outcome;

use std::future::Future;
use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::{HeaderMap, Response, StatusCode};
use tidegate_core::governor::{self, Answer, Governor, Input, Output, RefusedScope, Write};
use tidegate_core::policy::{DropAnswer, Policy, Row};
use tidegate_core::{Peer, Span, Time};
use tidegate_tokio::{Call, Event};

use self::admit::{Admission, Errand, admit, goes_at_once};
use self::asking::Asking;
use self::edge::{Edge, Surfaces};
use self::outcome::Tag;
use crate::body::Body;
use crate::bots::{Bot, InUse, Place};
use crate::budget::Reserved;
use crate::client_connection::Connection;
use crate::client_gone;
use crate::reply::Reply;
use crate::upstream::Payload;

type Ticket = Call<Governor, Reply>;

/// A new bot's calls wait this long for its first, whatever their own limit.
const LEAST_PATIENCE: Span = Span::from_secs(4);

/// What a platform brings to the life of a call. One value is what is known of one call before it is decided.
pub(crate) trait Platform: Sized + Send + Sync + 'static {
    /// What all calls to the platform share.
    type Edge: AsRef<Edge> + Send + Sync;

    /// An answer that tidegate gives itself, in the platform's shape.
    fn own(own: Own) -> Reply;

    fn asking(&self) -> &Asking;
    fn asking_mut(&mut self) -> &mut Asking;
    fn peer(&self) -> Option<&Peer>;
    fn write(&self, ticket: governor::Ticket, slow: Span) -> Write;

    /// Whether a good answer must be read whole, however long it is.
    fn reads(&self, row: &Row) -> bool;

    /// Whether it may be sent again though it may have arrived.
    fn is_idempotent(call: &Governed<Self>) -> bool;

    /// What stands in the way of a call at the moment, besides the governor; asked before each sending.
    fn barred(_call: &Governed<Self>) -> Option<Barred> {
        None
    }

    /// What the head of an answer teaches, before the governor is told how it ended.
    fn learn(_call: &Governed<Self>, _ticket: governor::Ticket, _status: StatusCode, _headers: &HeaderMap) {}

    /// Takes in what an answer teaches.
    fn judge(call: &Governed<Self>, reply: &Reply) -> Verdict;

    /// A good answer went by unread.
    fn worked(call: &Governed<Self>) {
        call.bot.0.standing.worked();
    }

    /// The refusal to give for the governor's.
    fn refusal(_call: &Governed<Self>, wait: Span) -> impl Future<Output = Reply> + Send {
        std::future::ready(Self::own(Own::Refusal(wait)))
    }

    /// A refusal of the platform's own as its client gets it.
    fn passed_on(_call: &Governed<Self>, reply: Reply) -> Reply {
        reply
    }

    /// The answer to a write that was dropped.
    fn dropped(call: &Governed<Self>, answer: DropAnswer) -> Reply;

    /// The answer to an edit that another one took the place of.
    fn stand_in(call: &Governed<Self>) -> Reply;
}

/// Answers that tidegate gives itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// Come back later.
    Refusal(Span),
    /// Come back soon.
    Busy,
    /// The platform no longer takes the token.
    Unauthorized,
    /// The platform cannot be reached; nothing was sent.
    Unreachable,
    /// The platform gave no answer that says what became of the call.
    Unknown,
}

/// How a call is answered that may not go.
#[derive(Debug)]
pub(crate) enum Barred {
    /// Refused for so long.
    For(Span),
    /// Like this.
    With(Reply),
}

/// What to do with an answer.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The call ended so; the answer goes to the client.
    End(Answer),
    /// Nothing changed: success, where an edit may have been delivered before.
    NotModified,
    /// Too many requests.
    Refused { retry_after: Option<Span>, scope: Option<RefusedScope> },
    /// The platform says that it failed.
    Failed,
}

/// One call under way.
pub(crate) struct Governed<P: Platform> {
    pub(crate) connection: Arc<Connection>,
    pub(crate) edge: Arc<P::Edge>,
    pub(crate) bot: InUse,
    surfaces: Arc<Surfaces>,
    pub(crate) head: Parts,
    pub(crate) payload: Payload,
    pub(crate) facts: P,
    arrived: Time,
    /// When its hold ends, as far as the governor knows.
    held_until: Time,
    /// It was sent again once though it may have arrived.
    repeats: bool,
    /// The platform's last word, or what stands for it, where the call waits to be sent again.
    last: Option<Box<Reply>>,
    /// Given back when the call is over.
    _buffered: Reserved,
}

/// What woke a held call.
enum Woken {
    Event(Event<Output, Reply>),
    /// The client left, and the ticket with it.
    Left,
    /// The platform no longer takes the token.
    Tripped,
    /// Something may stand in the way of all calls.
    Rung,
    /// The program goes down, and nothing is sent any more.
    Late,
}

/// Answers one governed call.
pub(crate) async fn serve<P: Platform>(
    connection: Arc<Connection>,
    edge: Arc<P::Edge>,
    bot: InUse,
    surfaces: Arc<Surfaces>,
    head: Parts,
    facts: P,
    (payload, buffered): (Payload, Reserved),
) -> Response<Body> {
    let (arrived, held_until) = (connection.shared.clock.now(), Time::NEVER);
    let (repeats, last) = (false, None);
    let mut call = Governed {
        connection,
        edge,
        bot,
        surfaces,
        head,
        payload,
        facts,
        arrived,
        held_until,
        repeats,
        last,
        _buffered: buffered,
    };
    if let Some(reply) = call.barred().await {
        return call.tagged(reply, Tag::REFUSED);
    }
    if goes_at_once(call.bot(), Errand::Call) {
        return call.run(None).await;
    }
    let patience = call.patience().max(LEAST_PATIENCE);
    // What most calls do not need has a place of its own, here and below: a call's state is moved about a few times.
    match Box::pin(admit::<P>(&call.connection.shared, call.common(), call.bot(), Errand::Call, patience)).await {
        Ok(admission) => call.run(admission).await,
        Err(reply) => call.tagged(*reply, Tag::REFUSED),
    }
}

impl<P: Platform> Governed<P> {
    async fn run(&mut self, mut admission: Option<Admission>) -> Response<Body> {
        if self.is_late() {
            return self.tagged(P::own(Own::Busy), Tag::REFUSED);
        }
        self.look_for_room();
        let mut place = None;
        let mut call = self.enter(admission.is_none());
        self.let_others_in(&mut admission);
        let mut tag = Tag::ADMITTED;
        // It may have waited for its turn in the line.
        let (mut sent, mut waited) = (0, admission.is_some());
        loop {
            let woken = if let Some(event) = call.now() {
                Woken::Event(event)
            } else {
                if sent == 0 {
                    place = place.or_else(|| self.place());
                }
                waited = true;
                Box::pin(self.wait(&mut call)).await
            };
            let output = match woken {
                Woken::Event(Event::Output(output)) => output,
                Woken::Event(Event::Answer(reply)) => return self.tagged(reply, tag.with("superseded")),
                Woken::Left => return Response::new(Body::empty()),
                Woken::Tripped => return self.end(call, P::own(Own::Unauthorized), tag.with("refused")),
                Woken::Late => continue,
                Woken::Rung => match self.barred().await {
                    Some(reply) => return self.end(call, reply, tag.with("refused")),
                    None => continue,
                },
            };
            match output {
                Output::Send { outcome, held, .. } => {
                    place = None;
                    tag = Tag::sent(outcome, held);
                    sent += 1;
                    match self.attempt(call, (sent, waited), tag).await {
                        Ok(response) => return response,
                        Err(again) => {
                            self.let_others_in(&mut admission);
                            call = again;
                        }
                    }
                }
                Output::Superseded { .. } => {
                    let _place = place.or_else(|| self.place());
                    return Box::pin(self.follow(call, tag)).await;
                }
                over => return Box::pin(self.over(call, &over, tag)).await,
            }
        }
    }

    /// A token that is proven lets the next of the line before the governor.
    fn let_others_in(&self, admission: &mut Option<Admission>) {
        if self.bot().standing.is_proven() {
            *admission = None;
        }
    }

    /// The answer to a call that may not go at the moment.
    async fn barred(&self) -> Option<Reply> {
        match P::barred(self)? {
            Barred::For(wait) => Some(Box::pin(P::refusal(self, wait)).await),
            Barred::With(reply) => Some(reply),
        }
    }

    /// Brings it before the governor. `fresh`: its client has not waited yet, neither in line nor for an answer.
    fn enter(&mut self, fresh: bool) -> Ticket {
        let slow = self.slow();
        let hold = self.facts.asking().hold(self.row(), slow).filter(|_| fresh);
        self.held_until = hold.map_or(Time::NEVER, |hold| self.arrived + hold);
        self.bot.0.driver.enter(|ticket| Input::Write(self.facts.write(ticket, slow)))
    }

    /// Where a held call's client can wait no longer than until before the hold that the governor knows of ends, the
    /// governor is told: the platform has become slower, or a part of the hold is over, or the program goes down.
    fn shorten(&mut self, call: &Ticket) {
        let until = if self.is_late() {
            Time::ZERO
        } else {
            let hold = self.facts.asking().hold(self.row(), self.slow());
            hold.map_or(Time::NEVER, |hold| self.arrived + hold)
        };
        if until < self.held_until {
            self.held_until = until;
            self.bot.0.driver.tell(Input::HoldUntil { ticket: call.ticket(), until });
        }
    }

    /// What the platform's slow answers take lately.
    fn slow(&self) -> Span {
        self.common().times.slow()
    }

    /// Where no more calls of this address may be held, this one goes at once, or is refused with its place's time. Those
    /// that name their own limit need no room.
    fn look_for_room(&mut self) {
        if self.facts.asking().max_hold.is_none() && !self.bot.0.held.has_room(self.connection.client) {
            self.facts.asking_mut().max_hold = Some(Span::ZERO);
        }
    }

    /// Its place among the calls of this address that are held.
    fn place(&self) -> Option<Place> {
        self.facts.asking().max_hold.is_none().then(|| Place::new(&self.bot.0, self.connection.client))
    }

    /// The governor ended it: answers with the platform's last word, if there was one.
    async fn over(&mut self, call: Ticket, output: &Output, tag: Tag) -> Response<Body> {
        let last = self.last.take().map(|last| *last);
        let unknown = last.as_ref().is_some_and(|reply| reply.status.is_server_error());
        let tag = tag.with(if unknown { "unknown" } else { "refused" });
        let last = last.map(|reply| P::passed_on(self, reply));
        match output {
            Output::Drop { .. } => {
                let answer = self.facts.asking().cell(self.row()).answer;
                self.end(call, P::dropped(self, answer), tag.with("dropped"))
            }
            Output::Refuse { retry_after, .. } => {
                let reply = match last {
                    Some(reply) => reply,
                    None => P::refusal(self, *retry_after).await,
                };
                self.end(call, reply, tag)
            }
            _ => self.end(call, last.unwrap_or_else(|| P::own(Own::Unknown)), tag),
        }
    }

    /// The next event, or what ends the wait for it.
    async fn wait(&mut self, call: &mut Ticket) -> Woken {
        let late = self.is_late();
        self.shorten(call);
        let mut trips = self.bot.0.standing.trips();
        let mut bell = self.common().bell();
        let mut drain = self.connection.shared.drain.late();
        let mut attended = true;
        loop {
            tokio::select! {
                biased;
                event = call.next() => return Woken::Event(event),
                () = client_gone::gone(), if attended => {
                    if call.leave() {
                        return Woken::Left;
                    }
                    // Others are answered with this one: it goes on without its client.
                    attended = false;
                }
                Ok(()) = trips.changed() => return Woken::Tripped,
                Ok(()) = bell.changed() => return Woken::Rung,
                () = drain.wait(), if !late => return Woken::Late,
            }
        }
    }

    /// Superseded: waits for the newer one's answer, as long as its own client can.
    async fn follow(&self, mut call: Ticket, tag: Tag) -> Response<Body> {
        let shared = &self.connection.shared;
        let left = shared.clock.until(self.arrived + self.patience());
        let mut drain = shared.drain.over();
        let reply = tokio::select! {
            biased;
            event = call.next() => match event {
                Event::Answer(reply) => Some(reply),
                Event::Output(_) => None,
            },
            () = client_gone::gone() => None,
            // Nobody knows what becomes of the newer one.
            () = drain.wait() => Some(P::own(Own::Unknown)),
            () = tokio::time::sleep(left) => None,
        };
        let held = shared.clock.now().since(self.arrived).max(tag.held);
        self.tagged(reply.unwrap_or_else(|| P::stand_in(self)), Tag { outcome: "superseded", held })
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.surfaces.policy
    }

    pub(crate) fn row(&self) -> &Row {
        self.surfaces.policy.row(self.facts.asking().row)
    }

    pub(crate) fn bot(&self) -> &Bot {
        &self.bot.0
    }

    fn common(&self) -> &Edge {
        (*self.edge).as_ref()
    }

    pub(crate) fn now(&self) -> Time {
        self.connection.shared.clock.now()
    }

    fn patience(&self) -> Span {
        self.facts.asking().patience(self.row(), self.slow())
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

    fn tagged(&self, reply: Reply, tag: Tag) -> Response<Body> {
        let mut response = reply.into_response();
        self.tag(response.headers_mut(), tag);
        response
    }

    fn tag(&self, headers: &mut HeaderMap, tag: Tag) {
        tag.write(headers);
        if let Some(gate) = self.surfaces.gate(self.facts.asking().row) {
            headers.insert(outcome::GATE, gate);
        }
    }
}

fn done(result: Answer) -> impl FnOnce(governor::Ticket) -> Input {
    move |ticket| Input::Done { ticket, result }
}
