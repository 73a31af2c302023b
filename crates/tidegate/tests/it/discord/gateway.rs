//! Where the Gateway is, from one fetch.

use serde_json::json;

use super::{Asks, OTHER, Tide, statuses};

fn gateway() -> Asks<'static> {
    Asks::new("GET", "/gateway/bot")
}

fn fetches(tide: &Tide) -> u64 {
    tide.stats().by_route.iter().filter(|(name, _)| name.contains("/gateway")).map(|(_, tally)| tally.calls).sum()
}

#[test]
fn d67_many_who_ask_share_one_fetch() {
    let tide = Tide::far(20);
    let answers = tide.all((0..100).map(|_| gateway()));
    assert_eq!(statuses(&answers), [(200, 100)].into());
    // Where the bot itself found tidegate.
    assert!(answers.iter().all(|answer| answer.json()["url"] == "ws://bot.example"));
    assert!(answers.iter().all(|answer| answer.header("content-type") == Some("application/json")));
    assert!(fetches(&tide) <= 3, "{}", fetches(&tide));
    assert_eq!(tide.ask(&gateway().by(OTHER)).status, 200);
    assert_eq!(tide.ask(&Asks::new("GET", "/gateway").without("Authorization")).status, 200);
    for _ in 0..40 {
        assert_eq!(tide.ask(&gateway()).status, 200);
        tide.pass(1.0);
    }
    assert_eq!(tide.stats().total.refused_429, 0);
}

#[test]
fn d67_while_discord_is_down_the_last_good_answer_serves() {
    let tide = Tide::new("");
    tide.force(&json!({"route": "/gateway/bot", "times": 2, "answer": "502"}));
    let none_yet = tide.ask(&gateway());
    assert_eq!(none_yet.status, 502, "Discord's own word");
    assert_eq!(tide.ask(&gateway()).status, 200);
    tide.pass(40.0);
    tide.force(&json!({"route": "/gateway/bot", "times": 2, "answer": "502"}));
    assert_eq!(tide.ask(&gateway()).status, 200);
    tide.pass(40.0);
    tide.force(&json!({"route": "/gateway/bot", "answer": {"kind": "user", "retry_after": 300.0}}));
    let calls = fetches(&tide);
    for _ in 0..5 {
        assert_eq!(tide.ask(&gateway()).status, 200);
    }
    assert_eq!(fetches(&tide), calls + 1, "not asked again before its time");
    tide.discord.stop();
    tide.pass(400.0);
    assert_eq!(tide.ask(&gateway()).json()["shards"], 1);
}

#[test]
fn a_401_is_told_and_keeps_no_place() {
    let tide = Tide::new("");
    assert_eq!(tide.ask(&gateway()).status, 200);
    tide.pass(40.0);
    tide.force(&json!({"route": "/gateway/bot", "answer": "401"}));
    assert_eq!(tide.ask(&gateway()).status, 401);
    assert_eq!(tide.ask(&gateway()).status, 200);
}
