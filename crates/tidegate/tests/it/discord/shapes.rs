//! Answers that tidegate gives itself, and edits.

use serde_json::{Value, json};

use super::{Asks, Tide, message, say, statuses};
use crate::client::{Answer, Client};
use crate::fake::until;

fn edit(channel: u64, message: &str, body: &Value) -> Asks<'static> {
    Asks::new("PATCH", format!("/channels/{channel}/messages/{message}")).json(body)
}

fn number(answer: &Answer, header: &str) -> f64 {
    answer.header(header).unwrap().parse().unwrap()
}

#[test]
fn a_refusal_has_the_shape_that_every_library_takes() {
    let tide = Tide::new("");
    let first = tide.ask(&say(7, 0));
    let told = first.header("x-ratelimit-bucket").unwrap().to_owned();
    tide.force(&json!({"answer": {"kind": "user", "retry_after": 42.3}}));
    assert_eq!(tide.ask(&say(7, 1).with("X-Tidegate-Max-Hold", "0s")).status, 429);
    let refused = tide.ask(&say(7, 2).with("X-Tidegate-Max-Hold", "0s"));
    let body = refused.json();
    let wait = body["retry_after"].as_f64().unwrap();
    assert!((20.0..=43.0).contains(&wait), "{wait}");
    assert_eq!((&body["global"], &body["code"]), (&false.into(), &0.into()));
    assert!(body["message"].is_string());
    assert_eq!(refused.header("content-type"), Some("application/json"));
    assert_eq!(refused.header("via"), Some("1.1 tidegate"));
    assert_eq!(refused.header("x-ratelimit-scope"), Some("user"));
    assert_eq!(refused.header("x-ratelimit-bucket"), Some(told.as_str()));
    assert_eq!((refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")), (Some("1"), Some("0")));
    assert_eq!(refused.header("x-ratelimit-global"), None);
    assert!((number(&refused, "x-ratelimit-reset-after") - wait).abs() < 0.002);
    let whole = number(&refused, "retry-after");
    assert!(whole >= wait && whole < wait + 1.0 && whole.fract() == 0.0);
    let reset = number(&refused, "x-ratelimit-reset");
    assert!(reset > 1_577_836_800.0 && reset < 1e11, "{reset}");
    assert_eq!((refused.outcome(), refused.header("x-tidegate-gate")), ("refused", Some("discord/send")));
}

#[test]
fn a_global_refusal_that_must_be_passed_on_is_none_to_its_client() {
    for kind in ["global", "headerless"] {
        let tide = Tide::new("");
        tide.force(&json!({"answer": {"kind": kind, "retry_after": 30.0}}));
        let answer = tide.ask(&say(7, 1).with("X-Tidegate-Max-Hold", "1s"));
        assert_eq!((answer.status, answer.header("x-ratelimit-scope")), (429, Some("user")));
        assert_eq!((answer.header("x-ratelimit-global"), &answer.json()["global"]), (None, &false.into()));
        assert!((answer.json()["retry_after"].as_f64().unwrap() - 30.0).abs() < 0.01);
    }
}

#[test]
fn a_refusal_of_a_route_passes_as_it_came_after_three_tries() {
    let tide = Tide::new("");
    tide.force(&json!({"times": 3, "answer": {"kind": "user", "retry_after": 1.0}}));
    let answer = tide.ask(&say(7, 1));
    assert_eq!((answer.status, answer.header("via")), (429, Some("1.1 google")));
    assert_eq!(tide.stats().total.calls, 3);
}

#[test]
fn a_caller_that_comes_too_early_again_and_again_is_answered_later_each_time() {
    let tide = Tide::new("");
    tide.force(&json!({"answer": {"kind": "user", "retry_after": 3000.0}}));
    let asks = |number| say(7, number).with("X-Tidegate-Max-Hold", "0s");
    tide.ask(&asks(0));
    let mut client = Client::connect(tide.house.listen);
    let begun = std::time::Instant::now();
    for number in 1..=9 {
        let asks = asks(number);
        let headers: Vec<_> = asks.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        client.send("POST", &asks.path, &headers, &asks.body);
        assert_eq!(client.read().unwrap().status, 429);
    }
    // 0 + 250 + 500 + … + 2,000 ms of platform time.
    assert!(begun.elapsed().as_secs_f64() >= 9.0 * super::SCALE, "{:?}", begun.elapsed());
    assert_eq!(tide.stats().total.calls, 1);
}

#[test]
fn typing_past_one_in_eight_seconds_is_answered_without_a_call() {
    let tide = Tide::new("");
    let typing = || Asks::new("POST", "/channels/7/typing");
    let answers = [tide.ask(&typing()), tide.ask(&typing()), tide.ask(&typing())];
    assert_eq!(statuses(&answers), [(204, 3)].into());
    assert_eq!(answers.each_ref().map(Answer::outcome), ["admitted", "dropped", "dropped"]);
    assert!(answers[1].body.is_empty() && answers[1].header("content-type").is_none());
    assert_eq!(tide.stats().total.calls, 1);
}

#[test]
fn dropped_chrome_is_answered_with_the_message_as_last_delivered() {
    let tide = Tide::new("");
    let id = message(&tide, 7);
    let delivered = tide.ask(&edit(7, &id, &json!({"content": "v1"}))).json();
    let chrome = |n: u64| edit(7, &id, &json!({"content": format!("c{n}")})).with("X-Tidegate-Class", "status");
    let answers: Vec<Answer> = (0..12).map(|n| tide.ask(&chrome(n))).collect();
    assert_eq!(statuses(&answers), [(200, 12)].into());
    let dropped: Vec<&Answer> = answers.iter().filter(|answer| answer.outcome() == "dropped").collect();
    assert!(!dropped.is_empty());
    for answer in &dropped {
        assert_eq!((&answer.json()["id"], &answer.json()["author"]), (&delivered["id"], &delivered["author"]));
    }
    tide.assert_clean();
    assert_eq!(tide.stats().total.refused_429, 0);
}

/// Edits of one message while its bucket is empty, each taken in before the next comes.
fn burst(tide: &Tide, id: &str, bodies: &[Value]) -> Vec<Answer> {
    let fill: Vec<Client> = tide.in_order((0..5).map(|n| edit(7, id, &json!({"content": format!("f{n}")}))));
    let held: Vec<Client> = tide.in_order(bodies.iter().map(|body| edit(7, id, body)));
    super::answers(fill);
    super::answers(held)
}

#[test]
fn edits_merge_only_what_they_cover() {
    let tide = Tide::new("");
    let id = message(&tide, 7);
    until("the bot is known", || tide.counted("delivered") == 1);
    tide.ask(&edit(7, &id, &json!({"content": "v0"})));
    let bodies = [
        json!({"content": "v1"}),
        json!({"content": "v2"}),
        json!({"embeds": []}),
        json!({"content": "v3", "flags": 4}),
    ];
    let answers = burst(&tide, &id, &bodies);
    assert_eq!(statuses(&answers), [(200, 4)].into());
    let outcomes: Vec<&str> = answers.iter().map(Answer::outcome).collect();
    // v1 is in v2; v2 is in none of the embeds, and v3 does not say what the embeds say.
    assert_eq!(outcomes[0], "superseded", "{outcomes:?}");
    assert_eq!(&outcomes[2..], ["held", "held"], "{outcomes:?}");
    assert_eq!(answers[3].json()["content"], "v3");
    let texts: Vec<String> = tide.discord.with(|model| {
        model.log().filter(|entry| entry.route.starts_with("PATCH")).filter_map(|entry| entry.text.clone()).collect()
    });
    assert_eq!(texts.last().map(String::as_str), Some("v3"));
    assert!(!texts.contains(&"v1".to_owned()), "{texts:?}");
    tide.assert_clean();
}

#[test]
fn two_hundred_edits_become_few_and_the_last_lands() {
    let tide = Tide::new("");
    let id = message(&tide, 7);
    let edits = tide.in_order((0..200).map(|n| edit(7, &id, &json!({"content": format!("text {n}")}))));
    let answers = super::answers(edits);
    assert_eq!(statuses(&answers), [(200, 200)].into());
    let view = tide.discord.with(|model| model.messages(7));
    assert_eq!(view[0].text, "text 199");
    assert!(answers.iter().all(|answer| answer.json()["id"] == id.as_str()));
    tide.assert_clean();
    assert_eq!((tide.stats().edit_inversions, tide.stats().total.refused_429), (0, 0));
}
