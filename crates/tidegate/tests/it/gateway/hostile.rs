//! Bots that mean ill, or know no better.

use serde_json::json;

use super::{PLAIN, ready, tide};
use crate::client::ask;
use crate::discord::TOKEN;
use crate::fake::until;

/// A thousand of them that come and go must not take all that unproven tokens together may ask for.
#[test]
fn discord_is_asked_for_a_token_that_never_worked_only_while_its_bot_is_there() {
    let tide = tide("");
    // A call that fails is made once more at once, so these are two.
    tide.force(&json!({"route": "/gateway/bot", "times": 4, "answer": "503"}));
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    until("Discord was asked twice", || tide.stats().total.calls == 4);
    drop(bot);
    tide.pass(50.0);
    assert_eq!(tide.stats().total.calls, 4);
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    ready(bot);
    assert_eq!(tide.stats().total.calls, 5);
}

/// One that cannot cope with what it is given again, and starts over with the number that it knows.
#[test]
fn a_bot_that_resumes_behind_the_ring_again_and_again_does_not_make_tidegate_dial_as_often() {
    let tide = tide("discord.gateway.resume_buffer = 300\n");
    let live = tide.live();
    tide.dispatch(900);
    until("Discord has sent them", || tide.judged().total.dispatches == 902);
    tide.pass(1.0);
    for seq in (10..30).rev() {
        let mut bot = tide.greeted(PLAIN);
        bot.resume(TOKEN, &live.session, seq);
        bot.beat();
        bot.until(|value| value["op"] == 11);
    }
    assert_eq!(tide.judged().total.identifies, 1);
    assert!(tide.judged().total.resumes <= 3, "{:?}", tide.judged().total);
    tide.pass(60.0);
    assert!((1..=6).contains(&tide.judged().total.resumes), "{:?}", tide.judged().total);
}

#[test]
fn an_answer_that_comes_once_tidegate_goes_down_starts_no_session() {
    let mut tide = tide("");
    let slow = json!({"latency_ms": 1000}).to_string();
    assert_eq!(ask(tide.discord.addr, "POST", "/__sandbox/latency", &[], slow.as_bytes()).status, 200);
    let mut bot = tide.greeted(PLAIN);
    bot.identify(TOKEN, &json!({}));
    bot.beat();
    assert_eq!(bot.json()["op"], 11);
    tide.house.terminate();
    assert_eq!(bot.closed().0, 4000);
    assert_eq!(tide.house.wait(), Some(0));
    assert_eq!((tide.judged().total.connections, tide.reached()), (0, (0, 0)));
}
