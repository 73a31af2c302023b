use std::sync::Arc;

use tidegate_core::governor::Governor;
use tidegate_core::policy::Policy;
use tidegate_core::{Span, Time};
use tidegate_net::Token;
use tidegate_tokio::Clock;

use super::{Bot, Leave, Place, Standing, Unproven};

const PAUSE: Span = Span::from_secs(60);

fn at(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

#[test]
fn tokens_have_a_form_and_print_without_their_secret() {
    let token = Token::telegram("123:AbC_-9", false).unwrap();
    assert_eq!(token.id(), "123");
    assert!(!format!("{token} {token:?}").contains("AbC"));
    assert_ne!(token.hash(), Token::telegram("123:AbC_-9", true).unwrap().hash());
    let long = format!("1:{}", "a".repeat(129));
    for wrong in ["", ":", "1:", ":a", "1", "a:b", "1:a b", "1:a/b", "1:a:b", "\u{661}:a", &long] {
        assert_eq!(Token::telegram(wrong, false), None, "{wrong}");
    }
}

#[test]
fn two_refusals_in_a_row_trip_and_one_success_between_does_not() {
    let standing = Standing::new();
    assert_eq!(standing.ask(|| at(0), PAUSE), Leave::Alone);
    assert!(!standing.refused(at(0), PAUSE));
    standing.worked();
    assert!(!standing.refused(at(1), PAUSE));
    assert_eq!(standing.ask(|| at(1), PAUSE), Leave::Go);
    assert!(standing.refused(at(1), PAUSE));
    assert!(standing.is_open(|| at(60)) && !standing.is_open(|| at(61)));
    assert_eq!(standing.ask(|| at(60), PAUSE), Leave::Refused);
}

#[test]
fn after_the_pause_one_call_looks_and_the_others_wait_for_it() {
    let standing = Standing::new();
    standing.refused(at(0), PAUSE);
    standing.refused(at(0), PAUSE);
    assert_eq!(standing.ask(|| at(60), PAUSE), Leave::Go);
    assert_eq!(standing.ask(|| at(60), PAUSE), Leave::Refused);
    assert!(standing.refused(at(61), PAUSE));
    assert_eq!(standing.ask(|| at(120), PAUSE), Leave::Refused);
    assert_eq!(standing.ask(|| at(121), PAUSE), Leave::Go);
    standing.worked();
    assert_eq!(standing.ask(|| at(121), PAUSE), Leave::Go);
    // A probe that never came back does not shut the door for ever.
    standing.refused(at(200), PAUSE);
    standing.refused(at(200), PAUSE);
    assert_eq!(standing.ask(|| at(260), PAUSE), Leave::Go);
    assert_eq!(standing.ask(|| at(320), PAUSE), Leave::Go);
}

#[tokio::test]
async fn failures_and_calls_that_may_fail_share_one_count() {
    let unproven = Unproven::new(2);
    let first = unproven.room(|| at(0)).await.unwrap();
    let second = unproven.room(|| at(0)).await.unwrap();
    let third = unproven.room(|| at(0));
    let freed = async {
        tokio::task::yield_now().await;
        drop(second);
    };
    let (third, ()) = tokio::join!(third, freed);
    unproven.failed(at(1));
    unproven.failed(at(10));
    drop((first, third));
    assert_eq!(unproven.room(|| at(11)).await.unwrap_err(), Span::from_secs(50));
    assert!(unproven.room(|| at(61)).await.is_ok());
}

#[tokio::test]
async fn places_come_back() {
    let policy = Policy::load("telegram", &[]).unwrap();
    let bot = Bot::new(Token::none(), Governor::new(Arc::new(policy), false), Clock::new(1.0), 1);
    let (one, other) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
    assert!(bot.held.has_room(one));
    let place = Place::new(&bot, one);
    assert!(!bot.held.has_room(one) && bot.held.has_room(other));
    drop(place);
    assert!(bot.held.has_room(one));
}
