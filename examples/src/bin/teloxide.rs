//! teloxide behind the tower layer: its requests become those of a service, and the layer governs that.
//!
//! A bot writes `governed.send(bot.send_message(chat, text))` where it wrote `bot.send_message(chat, text).await`. Any
//! request of teloxide's will do whose payload can be written as JSON.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::Serialize;
use teloxide_core::requests::{HasPayload, Output, Payload, Request, Requester};
use teloxide_core::types::{ChatId, MessageId};
use teloxide_core::{ApiError, Bot, RequestError};
use tidegate_core::Span;
use tidegate_core::governor::{Governor, RefusedScope, Write};
use tidegate_core::policy::Policy;
use tidegate_examples::{ANY, Outcome, TELEGRAM_TOKEN, end_in_time, ensure};
use tidegate_sandbox::telegram;
use tidegate_tokio::layer::{Classify, GovernError, Governed, GovernorLayer, Judge, Telegram, Verdict};
use tidegate_tokio::{Clock, Driver};
use tokio::task::JoinSet;
use tower::{Layer as _, Service, ServiceExt as _};

/// Twenty times faster than real time. A bot has 1.0.
const SCALE: f64 = 0.05;

/// Sends teloxide's requests. What Telegram refuses is an answer like any other, so that the layer sees it.
#[derive(Clone)]
struct Sender;

impl<R> Service<R> for Sender
where
    R: Request,
    R::Send: Send + 'static,
    Output<R>: 'static,
    R::Err: 'static,
{
    type Response = Result<Output<R>, R::Err>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        let sending = request.send();
        Box::pin(async move { Ok(sending.await) })
    }
}

/// A payload is a method's name and its arguments.
struct Teloxide(Telegram);

impl<R> Classify<R> for Teloxide
where
    R: HasPayload + Clone,
    R::Payload: Serialize,
{
    fn classify(&self, request: &R) -> Option<Write> {
        let arguments = serde_json::to_vec(request.payload_ref()).unwrap_or_default();
        Some(self.0.write(R::Payload::NAME, &arguments))
    }

    fn again(&self, request: &R) -> Option<R> {
        Some(request.clone())
    }
}

impl<T> Judge<Result<T, RequestError>> for Teloxide {
    fn judge(&self, answer: &Result<T, RequestError>) -> Verdict {
        match answer {
            Ok(_) => Verdict::Ok,
            Err(RequestError::RetryAfter(wait)) => {
                let retry_after = Some(Span::from_secs(wait.seconds().into()));
                Verdict::Refused { retry_after, scope: None::<RefusedScope> }
            }
            Err(RequestError::Network(_)) => Verdict::Transient,
            Err(_) => Verdict::Permanent,
        }
    }
}

/// A bot's way to Telegram.
#[derive(Clone)]
struct Way(Governed<Sender, Teloxide>);

/// What became of a call.
type Sent<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

impl Way {
    async fn send<R>(&self, request: R) -> Sent<Output<R>>
    where
        R: Request<Err = RequestError> + Clone + Send + 'static,
        R::Payload: Serialize,
        R::Send: Send + 'static,
        Output<R>: Send + 'static,
    {
        loop {
            match self.0.clone().oneshot(request.clone()).await {
                Ok(answer) => return Ok(answer?),
                Err(GovernError::Refused(refused)) => tokio::time::sleep(refused.retry_after).await,
                Err(other) => return Err(other.into()),
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    end_in_time();
    let sandbox = telegram::serve(ANY, telegram::Options { scale: SCALE, ..Default::default() }).await?;
    let bot = Bot::new(TELEGRAM_TOKEN).set_api_url(sandbox.url().parse()?);

    let policy = Arc::new(Policy::load("telegram", &[])?);
    let driver = Driver::new(Governor::new(Arc::clone(&policy), false), Clock::new(SCALE), |_note| {});
    driver.spawn_timer();
    let way = Way(GovernorLayer::new(driver, Teloxide(Telegram::new(policy))).layer(Sender));

    // A broadcast, and a group that gets more than its minute allows.
    let mut tasks = JoinSet::new();
    for chat in (1..=15).chain([-7; 22]) {
        let (way, bot) = (way.clone(), bot.clone());
        tasks.spawn(async move { way.send(bot.send_message(ChatId(chat), "hello")).await.map(|message| message.id) });
    }
    while let Some(sent) = tasks.join_next().await {
        let _: MessageId = sent??;
    }
    // What Telegram refuses for good is teloxide's own error.
    let edit = way.send(bot.edit_message_text(ChatId(-7), MessageId(1_000_000), "new")).await;
    let error = edit.expect_err("there is no such message");
    println!("an edit of no message: {error}");
    ensure(
        matches!(error.downcast_ref(), Some(RequestError::Api(ApiError::MessageToEditNotFound | ApiError::Unknown(_)))),
        "another error than teloxide's",
    )?;

    let stats = sandbox.stats();
    println!("{} accepted, {} answered 429", stats.total.accepted, stats.total.refused_429);
    ensure(stats.total.refused_429 == 0, "the platform saw too much")?;
    ensure(stats.total.accepted == 15 + 22, "a message is missing")
}
