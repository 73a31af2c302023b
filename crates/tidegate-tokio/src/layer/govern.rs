//! The layer and its service.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tidegate_core::governor::{Answer, Governor, Input, Output, Ticket, Write};
use tower_layer::Layer;
use tower_service::Service;

use super::classify::{Classify, Judge, Verdict};
use super::error::{GovernError, Refused};
use crate::driver::Driver;
use crate::driver::{Call, Event};

/// The driver of one bot's governor, as the layer takes it. All clients that use one bot token share one.
pub type GovernorDriver = Driver<Governor, ()>;

/// Governs the requests of one bot. The driver's timer must run ([`Driver::spawn_timer`]).
pub struct GovernorLayer<C> {
    driver: Arc<GovernorDriver>,
    rules: Arc<C>,
}

impl<C> GovernorLayer<C> {
    /// `rules` is the platform's [`Classify`] and [`Judge`].
    pub fn new(driver: Arc<GovernorDriver>, rules: C) -> Self {
        Self { driver, rules: Arc::new(rules) }
    }
}

impl<C> Clone for GovernorLayer<C> {
    fn clone(&self) -> Self {
        Self { driver: Arc::clone(&self.driver), rules: Arc::clone(&self.rules) }
    }
}

impl<S, C> Layer<S> for GovernorLayer<C> {
    type Service = Governed<S, C>;

    fn layer(&self, inner: S) -> Governed<S, C> {
        Governed { inner, driver: Arc::clone(&self.driver), rules: Arc::clone(&self.rules) }
    }
}

/// A client whose requests are governed.
///
/// Requests meet the governor in the order of [`Service::call`], and one that is released is taken for sent: poll its future
/// without delay. A future that is dropped while its request is held cancels
/// it: nothing is sent. Dropped later, the platform may have the request, and the governor counts it as sent.
///
/// It is always ready: the inner service is asked when a request is released, not while it waits, so that a held request
/// keeps no permit or connection of a layer below.
pub struct Governed<S, C> {
    inner: S,
    driver: Arc<GovernorDriver>,
    rules: Arc<C>,
}

impl<S: Clone, C> Clone for Governed<S, C> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), driver: Arc::clone(&self.driver), rules: Arc::clone(&self.rules) }
    }
}

impl<S, C, Req> Service<Req> for Governed<S, C>
where
    S: Service<Req> + Clone + Send + 'static,
    S::Response: Send,
    S::Error: Send,
    S::Future: Send,
    C: Classify<Req> + Judge<S::Response> + Send + Sync + 'static,
    Req: Send + 'static,
{
    type Response = S::Response;
    type Error = GovernError<S::Error>;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let mut inner = self.inner.clone();
        let Some(write) = self.rules.classify(&request) else {
            return Box::pin(async move { send(&mut inner, request).await.map_err(GovernError::Service) });
        };
        // Entered now, not when the future is first polled: the order of calls is the order in which they leave.
        let call = self.driver.enter(|ticket| Input::Write(Write { ticket, ..write }));
        let (driver, rules) = (Arc::clone(&self.driver), Arc::clone(&self.rules));
        Box::pin(async move { govern(&driver, &*rules, inner, call, request).await })
    }
}

/// One request's way, once or as often as the governor releases it.
async fn govern<S, C, Req>(
    driver: &GovernorDriver,
    rules: &C,
    mut inner: S,
    mut call: Call<Governor, ()>,
    request: Req,
) -> Result<S::Response, GovernError<S::Error>>
where
    S: Service<Req>,
    C: Classify<Req> + Judge<S::Response>,
{
    let mut request = request;
    // What the platform answered last, where the request waits to be sent again.
    let mut last = None;
    loop {
        if let Err(error) = released(driver, &mut call).await {
            // A caller is better served by what the platform said than by our word on it.
            return last.ok_or(error);
        }
        let ticket = call.ticket();
        let again = rules.again(&request);
        let response = match send(&mut inner, request).await {
            Ok(response) => response,
            Err(error) => {
                call.finish(done(Answer::Permanent), || ());
                return Err(GovernError::Service(error));
            }
        };
        if let Some(headers) = rules.learn(&response) {
            driver.tell(Input::Learned { ticket, headers });
        }
        match rules.judge(&response) {
            Verdict::Ok => {
                call.finish(done(Answer::Ok), || ());
                return Ok(response);
            }
            Verdict::Permanent => {
                call.finish(done(Answer::Permanent), || ());
                return Ok(response);
            }
            Verdict::Refused { retry_after, scope } => call.again(Input::Refused { ticket, retry_after, scope }),
            Verdict::Transient => call.again(done(Answer::Transient)(ticket)),
        }
        // Without a copy the call ends here. Dropped, its ticket is cancelled; the cooldown stays.
        let Some(copy) = again else { return Ok(response) };
        request = copy;
        last = Some(response);
    }
}

/// Waits until the governor releases a call; the error says why it does not.
async fn released<E>(driver: &GovernorDriver, call: &mut Call<Governor, ()>) -> Result<(), GovernError<E>> {
    loop {
        return match call.next().await {
            Event::Output(Output::Send { .. }) => Ok(()),
            Event::Output(Output::Refuse { retry_after, reason, .. }) => {
                Err(GovernError::Refused(Refused::new(driver.clock().real(retry_after), reason)))
            }
            Event::Output(Output::Drop { reason, .. }) => Err(GovernError::Dropped(reason)),
            Event::Output(Output::Superseded { .. }) | Event::Answer(()) => Err(GovernError::Superseded),
            Event::Output(Output::Failed { .. }) => Err(GovernError::Failed),
            // These concern no ticket and never come here.
            Event::Output(Output::Note(_) | Output::Peers(_) | Output::Counters(_)) => continue,
        };
    }
}

async fn send<S: Service<Req>, Req>(inner: &mut S, request: Req) -> Result<S::Response, S::Error> {
    poll_fn(|cx| inner.poll_ready(cx)).await?;
    inner.call(request).await
}

fn done(result: Answer) -> impl FnOnce(Ticket) -> Input {
    move |ticket| Input::Done { ticket, result }
}

impl<C> fmt::Debug for GovernorLayer<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GovernorLayer").field("driver", &self.driver).finish_non_exhaustive()
    }
}

impl<S, C> fmt::Debug for Governed<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Governed").field("driver", &self.driver).finish_non_exhaustive()
    }
}
