//! A bot drops, comes again, or is replaced.

use serde_json::json;

use super::client::Heard;
use super::{PLAIN, numbers, ready, tide};
use crate::discord::TOKEN;
use crate::fake::until;

#[test]
fn a_bot_that_resumes_gets_what_it_missed_and_discord_hears_nothing() {
    let tide = tide("");
    let mut live = tide.live();
    tide.dispatch(3);
    let seen = numbers(&mut live.bot, 3);
    drop(live.bot);
    tide.dispatch(200);
    let mut again = tide.greeted("/?v=10&encoding=json&compress=zstd-stream");
    // The last two were lost on the way.
    again.resume(TOKEN, &live.session, seen[0]);
    let (mut expected, mut resumed) = (seen[0], 0);
    while expected < seen[2] + 200 || resumed == 0 {
        let value = again.json();
        if value["t"] == "RESUMED" {
            assert!(expected >= seen[2] && value["s"] == expected, "{value}");
            resumed += 1;
        } else {
            expected += 1;
            assert_eq!(value["s"], expected);
        }
    }
    assert_eq!(resumed, 1);
    tide.dispatch(1);
    assert_eq!(numbers(&mut again, 1), [expected + 1]);
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn what_cannot_be_resumed_is_op_9_and_the_same_socket_may_identify() {
    let tide = tide("");
    let live = tide.live();
    let invalid = json!({"t": null, "s": null, "op": 9, "d": false});
    for (session, seq) in [("unknown", 1), (&*live.session, 1_000_000)] {
        let mut bot = tide.greeted(PLAIN);
        bot.resume(TOKEN, session, seq);
        assert_eq!(bot.json(), invalid);
        bot.identify(TOKEN, &json!({}));
        // Equal to the living one's: that is taken over.
        ready(bot);
    }
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn an_equal_identify_gets_the_same_ready_and_all_since() {
    let tide = tide("");
    let mut live = tide.live();
    tide.dispatch(5);
    let seen = numbers(&mut live.bot, 5);
    drop(live.bot);
    for _ in 0..2 {
        let again = tide.live();
        let mut bot = again.bot;
        assert_eq!((again.session, numbers(&mut bot, 5)), (live.session.clone(), seen.clone()));
    }
    assert_eq!(tide.reached(), (1, 0));
    let other = tide.live_with(PLAIN, &json!({"intents": 1}));
    assert_ne!(other.session, live.session);
    assert_eq!((tide.reached(), tide.judged().total.spacing_violations), ((2, 0), 0));
}

#[test]
fn the_newest_takes_over_and_the_third_has_to_wait() {
    let tide = tide("discord.gateway.takeover_wait = \"10s\"\n");
    let mut first = tide.live();
    let mut second = tide.live();
    let told = (4000, "superseded by a newer connection".to_owned());
    assert_eq!(first.bot.closed(), told);
    let mut third = tide.greeted(PLAIN);
    third.resume(TOKEN, &second.session, second.bot.seq);
    assert_eq!(second.bot.closed(), told);
    third.dispatch("RESUMED");
    let mut fourth = tide.greeted(PLAIN);
    fourth.identify(TOKEN, &json!({}));
    assert!(fourth.is_quiet(5.0));
    assert!(tide.told()["shards"][0]["newcomer_waits_s"].is_u64(), "{}", tide.told());
    fourth.beat();
    assert_eq!(fourth.json()["op"], 11);
    assert_eq!(third.closed(), told);
    ready(fourth);
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn a_session_outlives_its_bot_by_a_minute_and_can_be_resumed_later() {
    let tide = tide("");
    let live = tide.live();
    tide.dispatch(1);
    drop(live.bot);
    tide.pass(30.0);
    tide.connections(1);
    until("it is left", || tide.judged().open.is_empty());
    assert_eq!(tide.judged().total.client_closes, [(4000, 1)].into());
    tide.dispatch(3);
    let mut late = tide.greeted(PLAIN);
    late.resume(TOKEN, &live.session, 1);
    let before = numbers(&mut late, 1);
    let (mut resumed, mut later) = (0, Vec::new());
    while later.len() < 3 {
        let value = late.json();
        if value["t"] == "RESUMED" {
            resumed += 1;
        } else if value["t"] == "NUMBERED" {
            later.push(value["s"].as_u64().unwrap());
        }
    }
    assert_eq!(resumed, 1);
    assert_eq!(later, (1..=3).map(|number| before[0] + number).collect::<Vec<_>>());
    assert_eq!(tide.reached(), (1, 1));
}

#[test]
fn a_bot_that_closes_with_1000_logs_out_after_a_grace() {
    for code in [1000, 1001] {
        let tide = tide("");
        let mut live = tide.live();
        live.bot.close(code);
        assert_eq!(live.bot.next(), Heard::Close(Some(code), String::new()));
        let mut back = tide.greeted(PLAIN);
        back.resume(TOKEN, &live.session, live.bot.seq);
        back.dispatch("RESUMED");
        back.close(code);
        until("the session is ended", || tide.judged().total.client_closes.contains_key(&1000));
        let mut late = tide.greeted(PLAIN);
        late.resume(TOKEN, &live.session, live.bot.seq);
        assert_eq!(late.json()["op"], 9);
    }
}

#[test]
fn a_place_in_line_outlives_its_socket() {
    let tide = tide("");
    let shard = |id: u64| json!({"shard": [id, 3]});
    let _first = tide.live_with(PLAIN, &shard(0));
    let mut second = tide.greeted(PLAIN);
    second.identify(TOKEN, &shard(1));
    let mut third = tide.greeted(PLAIN);
    third.identify(TOKEN, &shard(2));
    assert!(second.is_quiet(1.0));
    second.close(1000);
    let mut again = tide.greeted(PLAIN);
    again.identify(TOKEN, &shard(1));
    let again = ready(again);
    assert_eq!(again.bot.seq, 2);
    ready(third);
    assert_eq!((tide.reached().0, tide.judged().total.spacing_violations), (3, 0));
}

#[test]
fn at_the_end_bots_and_sessions_are_left_resumable() {
    let mut tide = tide("");
    let mut live = tide.live();
    let mut waiting = tide.greeted(PLAIN);
    tide.house.terminate();
    let told = (4000, "tidegate is going down; the session can be resumed".to_owned());
    assert_eq!((live.bot.closed(), waiting.closed()), (told.clone(), told));
    assert_eq!(tide.house.wait(), Some(0));
    until("Discord is told", || tide.judged().open.is_empty());
    assert_eq!(tide.judged().total.client_closes, [(4000, 1)].into());
}
