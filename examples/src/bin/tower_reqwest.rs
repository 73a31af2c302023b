//! The tower layer around reqwest: a bot that sends as fast as it likes to a Telegram that keeps its limits.
//!
//! Nothing else of the bot changes. What cannot be sent in time comes back as a typed refusal, and one that is answered by
//! coming back when it says finds its place kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use serde_json::json;
use tidegate_core::governor::{Class, Governor};
use tidegate_core::policy::Policy;
use tidegate_examples::{ANY, Outcome, TELEGRAM_TOKEN, end_in_time, ensure};
use tidegate_sandbox::telegram;
use tidegate_tokio::layer::{GovernError, GovernorLayer, Telegram};
use tidegate_tokio::{Clock, Driver};
use tokio::task::JoinSet;
use tower::{Service, ServiceBuilder, ServiceExt};

/// Twenty times faster than real time, so that a minute of Telegram's takes three seconds. A bot has 1.0.
const SCALE: f64 = 0.05;
const GROUP: i64 = -100;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    end_in_time();
    let sandbox = telegram::serve(ANY, telegram::Options { scale: SCALE, ..Default::default() }).await?;
    let base = format!("{}/bot{TELEGRAM_TOKEN}", sandbox.url());

    let policy = Arc::new(Policy::load("telegram", &[])?);
    let driver = Driver::new(Governor::new(Arc::clone(&policy), false), Clock::new(SCALE), |_note| {});
    driver.spawn_timer();
    let client = ServiceBuilder::new()
        .layer(GovernorLayer::new(Arc::clone(&driver), Telegram::new(policy)))
        // reqwest's client is a service of its own requests and responses; the layer reads those of `http`.
        .map_request(|request: Request<Bytes>| reqwest::Request::try_from(request).expect("an absolute address"))
        .map_response(Response::<reqwest::Body>::from)
        .service(reqwest::Client::new());

    let mut tasks = JoinSet::new();
    // More to one group than a minute allows, beside one message to each of many chats.
    for number in 0..24 {
        tasks
            .spawn(until_sent(client.clone(), call(&base, "sendMessage", &json!({"chat_id": GROUP, "text": number}))?));
    }
    for chat in 1..=15 {
        tasks
            .spawn(until_sent(client.clone(), call(&base, "sendMessage", &json!({"chat_id": chat, "text": "hello"}))?));
    }
    // And an answer that an agent streams by editing one message.
    tasks.spawn(stream(client.clone(), base.clone()));
    let mut refusals = 0;
    while let Some(done) = tasks.join_next().await {
        refusals += done??;
    }

    let stats = sandbox.stats();
    println!("{} accepted, {} answered 429", stats.total.accepted, stats.total.refused_429);
    println!("{refusals} times a call was refused by the layer, and came back when it was told to");
    println!("{} of 30 edits reached the platform, the last among them", stats.by_method["editMessageText"].accepted);
    ensure(stats.total.refused_429 == 0, "the platform saw too much")?;
    ensure(stats.by_method["sendMessage"].accepted == 24 + 15 + 1, "a message is missing")?;
    ensure(refusals > 0, "24 messages to a group were never refused: what does the hold limit do?")?;
    ensure(stats.by_method["editMessageText"].accepted < 30, "no edit was spared")
}

fn call(base: &str, method: &str, arguments: &serde_json::Value) -> http::Result<Request<Bytes>> {
    Request::post(format!("{base}/{method}"))
        .header("content-type", "application/json")
        .body(Bytes::from(arguments.to_string()))
}

/// Sends a call, and comes back when it is told to; how often it was refused.
async fn until_sent<S, B>(client: S, request: Request<Bytes>) -> Result<u32, Box<dyn std::error::Error + Send + Sync>>
where
    S: Service<Request<Bytes>, Response = Response<B>, Error = GovernError<reqwest::Error>> + Clone,
{
    let mut refusals = 0;
    loop {
        match client.clone().oneshot(request.clone()).await {
            Ok(response) => {
                ensure(response.status().is_success(), format!("answered {}", response.status()))?;
                return Ok(refusals);
            }
            Err(GovernError::Refused(refused)) => {
                refusals += 1;
                tokio::time::sleep(refused.retry_after).await;
            }
            Err(other) => return Err(other.into()),
        }
    }
}

/// One message and thirty edits of it, of which the last is what the reader is to keep.
async fn stream<S, B>(client: S, base: String) -> Result<u32, Box<dyn std::error::Error + Send + Sync>>
where
    S: Service<Request<Bytes>, Response = Response<B>, Error = GovernError<reqwest::Error>> + Clone,
{
    const CHAT: i64 = -200;
    until_sent(client.clone(), call(&base, "sendMessage", &json!({"chat_id": CHAT, "text": "…"}))?).await?;
    let started = Instant::now();
    for step in 1..=30_u32 {
        let arguments = json!({"chat_id": CHAT, "message_id": 1, "text": format!("{step} of 30")});
        let mut edit = call(&base, "editMessageText", &arguments)?;
        if step == 30 {
            until_sent(client.clone(), edit).await?;
            break;
        }
        // A preview that finds no room is dropped: the next one restates it.
        edit.extensions_mut().insert(Class::Preview);
        match client.clone().oneshot(edit).await {
            Ok(_) | Err(GovernError::Dropped(_) | GovernError::Superseded) => {}
            Err(other) => return Err(other.into()),
        }
        tokio::time::sleep(Duration::from_millis(100).mul_f64(SCALE)).await;
    }
    println!("the stream took {:.1} s of the platform's time", started.elapsed().as_secs_f64() / SCALE);
    Ok(0)
}
