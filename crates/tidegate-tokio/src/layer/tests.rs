use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, StatusCode};
use tidegate_core::governor::{Class, Governor, Input, Output, RefuseReason, Write};
use tidegate_core::policy::Policy;
use tidegate_core::{Span, Time};
use tower_layer::Layer as _;
use tower_service::Service;

use super::{
    Classify, Discord, GovernError, Governed, GovernorDriver, GovernorLayer, Judge, MaxHold, Refused, Telegram, Verdict,
};
use crate::{Clock, Driver};

/// A hundred times faster than real time, for tests that a slow machine makes only slower: a second is 10 ms.
const FAST: f64 = 0.01;
/// Real time, for tests where something must still be held a few lines later.
const SLOW: f64 = 1.0;

type Answer = Response<()>;

/// A client whose platform answers as it was told, then 200.
#[derive(Clone)]
struct Client {
    clock: Clock,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    sent: Arc<Mutex<Vec<(String, Time)>>>,
}

impl Service<Request<String>> for Client {
    type Response = Answer;
    type Error = &'static str;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, &'static str>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<String>) -> Self::Future {
        self.sent.lock().unwrap().push((request.into_body(), self.clock.now()));
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move { Ok(answer.unwrap_or_default()) })
    }
}

impl Client {
    fn sent(&self) -> usize {
        self.sent.lock().unwrap().len()
    }

    fn sent_at(&self, number: usize) -> Time {
        self.sent.lock().unwrap()[number].1
    }

    fn answers(&self, status: u16, headers: &[(&'static str, &str)]) {
        let mut answer = Response::builder().status(status);
        for (name, value) in headers {
            answer = answer.header(*name, *value);
        }
        self.answers.lock().unwrap().push_back(answer.body(()).unwrap());
    }
}

fn governed<C>(
    scale: f64,
    table: &str,
    rules: impl Fn(Arc<Policy>) -> C,
) -> (Governed<Client, C>, Client, Arc<GovernorDriver>) {
    let policy = Arc::new(Policy::load(table, &[]).unwrap());
    let clock = Clock::new(scale);
    let driver = Driver::new(Governor::new(Arc::clone(&policy), false), clock, |_| {});
    driver.spawn_timer();
    let client = Client { clock, answers: Arc::default(), sent: Arc::default() };
    let layer = GovernorLayer::new(Arc::clone(&driver), rules(policy));
    (layer.layer(client.clone()), client, driver)
}

fn telegram(method: &str, body: &str) -> Request<String> {
    Request::post(format!("http://localhost/bot1:token/{method}")).body(body.to_owned()).unwrap()
}

fn send(text: u32) -> Request<String> {
    telegram("sendMessage", &format!(r#"{{"chat_id":5,"text":"{text}"}}"#))
}

fn edit(text: u32) -> Request<String> {
    telegram("editMessageText", &format!(r#"{{"chat_id":"5","message_id":7,"text":"{text}"}}"#))
}

/// Tells whether a future is done without waiting for it.
async fn poll_once<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    poll_fn(|cx| {
        Poll::Ready(match Pin::new(&mut *future).poll(cx) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn calls_leave_in_order_at_the_platforms_pace() {
    let (mut service, client, _driver) = governed(FAST, "telegram", Telegram::new);
    let began = client.clock.now();
    let calls: Vec<_> = (0..5).map(|text| service.call(send(text))).collect();
    // The last is polled first: what counts is the order of the calls.
    let mut tasks: Vec<_> = calls.into_iter().rev().map(tokio::spawn).collect();
    while let Some(task) = tasks.pop() {
        assert_eq!(task.await.unwrap().unwrap().status(), StatusCode::OK);
    }
    let texts: Vec<String> = client.sent.lock().unwrap().iter().map(|(body, _)| body.clone()).collect();
    let in_order: Vec<String> = (0..5).map(|text| send(text).into_body()).collect();
    assert_eq!(texts[3..], in_order[3..], "those that were held");
    assert!(client.sent_at(4) >= began + Span::from_secs(2), "a burst of 3, then one a second");
}

#[tokio::test]
async fn a_refusal_says_when_to_come_back() {
    let (mut service, client, _driver) = governed(SLOW, "telegram", Telegram::new);
    for text in 0..3 {
        service.call(send(text)).await.unwrap();
    }
    let mut late = send(3);
    late.extensions_mut().insert(MaxHold(Duration::from_millis(100)));
    match service.call(late).await {
        Err(GovernError::Refused(Refused { retry_after, reason })) => {
            assert_eq!(reason, RefuseReason::MaxHold);
            assert!(retry_after > Duration::ZERO && retry_after <= Duration::from_secs(1), "{retry_after:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(client.sent(), 3);
}

#[tokio::test]
async fn who_leaves_while_held_sends_nothing() {
    let (mut service, client, driver) = governed(SLOW, "telegram", Telegram::new);
    for text in 0..3 {
        service.call(send(text)).await.unwrap();
    }
    let mut held = service.call(send(3));
    assert!(poll_once(&mut held).await.is_none());
    drop(held);
    assert_eq!(driver.waiting(), 0);
    service.call(send(4)).await.unwrap();
    assert_eq!(client.sent.lock().unwrap()[3].0, send(4).into_body());
}

#[tokio::test]
async fn a_429_cools_and_the_call_is_sent_again() {
    let (mut service, client, _driver) = governed(FAST, "telegram", Telegram::new);
    client.answers(429, &[("retry-after", "3")]);
    assert_eq!(service.call(send(0)).await.unwrap().status(), StatusCode::OK);
    assert_eq!(client.sent(), 2);
    // Two seconds of margin: Telegram's times are rounded.
    assert!(client.sent_at(1) >= client.sent_at(0) + Span::from_secs(5));
}

#[tokio::test]
async fn a_429_that_lasts_too_long_goes_to_the_caller() {
    let (mut service, client, _driver) = governed(FAST, "telegram", Telegram::new);
    client.answers(429, &[("retry-after", "300")]);
    assert_eq!(service.call(send(0)).await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
    let next = service.call(send(1)).await;
    assert!(matches!(next, Err(GovernError::Refused(Refused { reason: RefuseReason::Cooldown, .. }))), "{next:?}");
    assert_eq!(client.sent(), 1);
}

/// Telegram without a copy of what is sent.
struct Once(Telegram);

impl Classify<Request<String>> for Once {
    fn classify(&self, request: &Request<String>) -> Option<Write> {
        self.0.classify(request)
    }
}

impl Judge<Answer> for Once {
    fn judge(&self, response: &Answer) -> Verdict {
        self.0.judge(response)
    }
}

#[tokio::test]
async fn what_cannot_be_copied_is_sent_once_and_its_429_cools_all_the_same() {
    let (mut service, client, driver) = governed(FAST, "telegram", |policy| Once(Telegram::new(policy)));
    client.answers(429, &[("retry-after", "3")]);
    assert_eq!(service.call(send(0)).await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(driver.waiting(), 0);
    let refused_at = client.sent_at(0);
    service.call(send(1)).await.unwrap();
    assert!(client.sent_at(1) >= refused_at + Span::from_secs(5));
}

#[tokio::test]
async fn an_older_edit_gives_way_to_a_newer_one() {
    let (mut service, client, _driver) = governed(SLOW, "telegram", Telegram::new);
    for text in 0..3 {
        service.call(send(text)).await.unwrap();
    }
    let older = service.call(edit(0));
    let newer = service.call(edit(1));
    assert_eq!(older.await.unwrap_err(), GovernError::Superseded);
    newer.await.unwrap();
    assert_eq!(client.sent.lock().unwrap()[3].0, edit(1).into_body());
}

#[tokio::test]
async fn a_preview_that_finds_no_room_is_dropped() {
    let (mut service, client, _driver) = governed(SLOW, "telegram", Telegram::new);
    for text in 0..3 {
        service.call(send(text)).await.unwrap();
    }
    let mut preview = edit(0);
    preview.extensions_mut().insert(Class::Preview);
    let dropped = service.call(preview).await;
    assert!(matches!(dropped, Err(GovernError::Dropped(_))), "{dropped:?}");
    assert_eq!(client.sent(), 3);
}

#[tokio::test]
async fn a_failure_is_repeated_where_nothing_can_double() {
    let (mut service, client, driver) = governed(FAST, "telegram", Telegram::new);
    client.answers(502, &[]);
    assert_eq!(service.call(send(0)).await.unwrap().status(), StatusCode::BAD_GATEWAY);
    assert_eq!(client.sent(), 1, "the message may be there");
    client.answers(502, &[]);
    assert_eq!(service.call(edit(0)).await.unwrap().status(), StatusCode::OK);
    assert_eq!(client.sent(), 3);
    let told = driver.ask(Input::QueryPeers);
    assert_eq!(told, [Output::Peers(1)], "nothing is left in flight");
    assert_eq!(driver.waiting(), 0);
}

#[tokio::test]
async fn a_file_is_no_call() {
    let (mut service, client, driver) = governed(FAST, "telegram", Telegram::new);
    let file = Request::get("http://localhost/file/bot1:token/photos/1.jpg").body(String::new()).unwrap();
    service.call(file).await.unwrap();
    assert_eq!((client.sent(), driver.ask(Input::QueryPeers)), (1, vec![Output::Peers(0)]));
}

#[tokio::test]
async fn discords_buckets_are_learned() {
    let (mut service, client, _driver) = governed(FAST, "discord", Discord::new);
    let bucket = [
        ("x-ratelimit-bucket", "abc"),
        ("x-ratelimit-limit", "2"),
        ("x-ratelimit-remaining", "1"),
        ("x-ratelimit-reset-after", "4.5"),
    ];
    client.answers(200, &bucket);
    let post = || Request::post("http://localhost/api/v10/channels/1/messages").body("{}".to_owned()).unwrap();
    for _ in 0..3 {
        service.call(post()).await.unwrap();
    }
    assert!(client.sent_at(2) >= client.sent_at(0) + Span::from_millis(4_500), "the third is not of that window");
}

#[tokio::test]
async fn a_global_429_of_discord_stops_the_bot() {
    let (mut service, client, _driver) = governed(FAST, "discord", Discord::new);
    client.answers(429, &[("retry-after", "1"), ("x-ratelimit-scope", "global"), ("content-type", "application/json")]);
    let post = |channel| {
        let url = format!("http://localhost/api/channels/{channel}/messages");
        Request::post(url).body("{}".to_owned()).unwrap()
    };
    let (first, second) = (service.call(post(1)), pin!(async { tokio::time::sleep(Duration::from_millis(2)).await }));
    let first = tokio::spawn(first);
    second.await;
    service.call(post(2)).await.unwrap();
    first.await.unwrap().unwrap();
    assert!(client.sent_at(1) >= client.sent_at(0) + Span::from_secs(1), "the other channel waited too");
}

#[tokio::test]
async fn numbers_and_strings_are_one_chat_and_albums_weigh_their_media() {
    let policy = Arc::new(Policy::load("telegram", &[]).unwrap());
    let rules = Telegram::new(policy);
    let album = rules.write("SendMediaGroup", br#"{"chat_id":"-5","media":[{},{},{}],"message_thread_id":3}"#);
    let text = rules.write("sendMessage", br#"{"text":"x","chat_id":-5}"#);
    assert_eq!((album.weight, text.weight), (3, 1));
    assert_eq!((album.peer, album.thread), (text.peer, Some(3)));
    let name = rules.write("sendMessage", br#"{"chat_id":"@Durov"}"#);
    assert_eq!(name.peer.unwrap().to_string(), "@durov");
    assert!(rules.write("sendMessage", b"not json").peer.is_none());
}

#[test]
fn a_paid_broadcast_is_known_however_it_is_written() {
    let policy = Arc::new(Policy::load("telegram", &[]).unwrap());
    let telegram = Telegram::new(Arc::clone(&policy));
    let surface = |flag: &str| {
        let arguments = format!(r#"{{"chat_id":5,"text":"a","allow_paid_broadcast":{flag}}}"#);
        policy.row(telegram.write("sendMessage", arguments.as_bytes()).row).name.to_string()
    };
    for flag in ["true", "\"True\"", "1", "\"yes\""] {
        assert_eq!(surface(flag), "paid", "{flag}");
    }
    for flag in ["false", "null", "0", "\"\"", "[true]", "{}"] {
        assert_eq!(surface(flag), "send", "{flag}");
    }
}
