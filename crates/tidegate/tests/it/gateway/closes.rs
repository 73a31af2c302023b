//! How a bot's connection is ended, and why it is told.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Bot, Heard};
use super::{PLAIN, ready, tide};
use crate::client::ask;
use crate::discord::{OTHER, TOKEN, Tide};
use crate::fake::until;

fn closed(tide: &Tide, act: impl FnOnce(&mut Bot)) -> (u16, String) {
    let mut bot = tide.greeted(PLAIN);
    act(&mut bot);
    bot.closed()
}

#[test]
fn what_cannot_be_understood_is_closed_with_discords_codes() {
    let tide = tide("");
    let long = "x".repeat(4097 - json!({"op": 4, "d": ""}).to_string().len());
    let command: &dyn Fn(&Value) -> String = &|d| json!({"op": 4, "d": d}).to_string();
    let identify = |shard: Value| json!({"op": 2, "d": {"token": TOKEN, "shard": shard}}).to_string();
    for (frame, code, reason) in [
        ("nonsense".to_owned(), 4002, "a frame that is not a JSON object"),
        ("\u{83}h".to_owned(), 4002, "a frame that is not a JSON object"),
        (r#"{"d":1}"#.to_owned(), 4002, "a frame without a number as its op"),
        (command(&json!(long)), 4002, "a frame of 4097 bytes; Discord takes 4096"),
        (command(&json!("ü".repeat(2100))), 4002, "a frame of 4215 bytes; Discord takes 4096"),
        (command(&json!({})), 4003, "a command before IDENTIFY or RESUME"),
        (json!({"op": 2, "d": {"token": "bad token"}}).to_string(), 4004, "Discord does not take this token"),
        (json!({"op": 2}).to_string(), 4002, "an IDENTIFY without a token, or with a shard that is none"),
        (json!({"op": 6, "d": {"token": TOKEN}}).to_string(), 4002, "a RESUME without token, session_id and seq"),
        (identify(json!([5, 2])), 4010, "shard [id, count] needs 0 <= id < count"),
        (json!({"op": 10, "d": {}}).to_string(), 4001, "an op that Discord does not take"),
    ] {
        assert_eq!(closed(&tide, |bot| bot.text(&frame)), (code, reason.to_owned()), "{frame}");
    }
    assert_eq!(tide.reached(), (0, 0));
}

#[test]
fn a_frame_of_ten_megabytes_is_refused_by_its_head() {
    let tide = tide("");
    let reason = "a frame of 10000000 bytes; Discord takes 4096".to_owned();
    assert_eq!(closed(&tide, |bot| bot.text(&"x".repeat(10_000_000))), (4002, reason));
}

#[test]
fn a_long_command_of_a_live_bot_costs_it_a_local_resume_and_discord_nothing() {
    let tide = tide("");
    let mut live = tide.live();
    live.bot.text(&"x".repeat(4097));
    assert_eq!(live.bot.closed().0, 4002);
    let mut again = tide.greeted(PLAIN);
    again.resume(TOKEN, &live.session, live.bot.seq);
    assert_eq!(again.json()["t"], "RESUMED");
    assert_eq!(tide.reached(), (1, 0));
    assert_eq!(tide.judged().total.closes.len(), 0);
}

#[test]
fn what_is_not_served_is_told_after_the_handshake() {
    let tide = tide("");
    for (target, code, word) in [
        ("/?v=10&encoding=etf", 4012, "JSON is served here"),
        ("/?v=6&encoding=json", 4012, "version 10"),
        ("/?v=10&encoding=json&compress=lz4", 4002, "compress is one of"),
    ] {
        let (told, reason) = tide.bot(target).closed();
        assert!(told == code && reason.contains(word), "{told} {reason}");
    }
}

#[test]
fn a_request_that_is_no_handshake_is_answered_in_json() {
    let tide = tide("");
    let headers = [("Connection", "Upgrade"), ("Upgrade", "websocket")];
    let answer = ask(tide.house.listen, "GET", "/?v=10", &headers, b"");
    assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")));
    let old =
        [&headers[..], &[("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "8")]].concat();
    assert_eq!(ask(tide.house.listen, "GET", "/", &old, b"").status, 426);
    assert_eq!(ask(tide.house.listen, "GET", "/", &[], b"").status, 404);
}

#[test]
fn a_second_identify_is_4005() {
    let tide = tide("");
    let mut live = tide.live();
    live.bot.identify(TOKEN, &json!({}));
    assert_eq!(live.bot.closed().0, 4005);
    assert_eq!(tide.reached().0, 1);
}

#[test]
fn a_wrong_token_is_4004_without_a_gateway_connection() {
    let tide = tide("");
    tide.discord.with(|model| model.revoke(TOKEN));
    for _ in 0..3 {
        let told = closed(&tide, |bot| bot.identify(TOKEN, &json!({})));
        assert_eq!(told.0, 4004, "{told:?}");
    }
    assert_eq!(tide.judged().total.connections, 0);
}

#[test]
fn there_are_no_more_shards_and_bots_than_there_may_be() {
    let tide = tide("bots_max = 2\ndiscord.gateway.shards_max = 2\n");
    let full = (4000, "tidegate has as many bots or shards as it may".to_owned());
    let _held: Vec<_> = (0..2).map(|id| tide.live_with(PLAIN, &json!({"shard": [id, 3]}))).collect();
    assert_eq!(closed(&tide, |bot| bot.identify(TOKEN, &json!({"shard": [2, 3]}))), full);
    // A token that never worked gives way, one that works does not.
    tide.discord.with(|model| model.revoke(OTHER));
    tide.force(&json!({"route": "/gateway/bot", "times": 1000, "answer": "502"}));
    let mut unproven = tide.greeted(PLAIN);
    unproven.identify(OTHER, &json!({}));
    assert!(unproven.is_quiet(5.0));
    let mut newer = tide.greeted(PLAIN);
    newer.identify(&OTHER.replace("secret1", "secret2"), &json!({}));
    assert_eq!(unproven.closed(), full);
    assert!(newer.is_quiet(5.0));
    tide.connections(2);
}

#[test]
fn bots_that_are_not_served_are_told() {
    let tide = tide("bots = [\"1\"]");
    assert_eq!(closed(&tide, |bot| bot.identify(TOKEN, &json!({}))).0, 4004);
}

#[test]
fn a_fatal_code_of_discords_is_handed_on_and_remembered() {
    let tide = tide("");
    tide.control("bot", &json!({"bot": crate::discord::BOT, "denied_intents": 2}));
    let first = closed(&tide, |bot| bot.identify(TOKEN, &json!({"intents": 2})));
    assert_eq!(first, (4014, "Discord closed with this: disallowed intents".to_owned()));
    let again = closed(&tide, |bot| bot.identify(TOKEN, &json!({"intents": 2})));
    assert!(again.0 == 4014 && again.1.contains("is tried again in"), "{again:?}");
    assert_eq!(tide.reached().0, 1);
    let mut other = tide.greeted(PLAIN);
    other.identify(TOKEN, &json!({"intents": 513}));
    ready(other);
}

#[test]
fn a_person_starts_a_stopped_shard_again_and_leaves_one_that_runs() {
    let tide = tide("");
    let restart = || {
        let target = format!("/v1/discord/{}/shards/0/restart", crate::discord::BOT);
        let host = tide.house.admin.to_string();
        let json = [("Host", host.as_str()), ("Content-Type", "application/json")];
        ask(tide.house.admin, "POST", &target, &json, b"")
    };
    assert_eq!(restart().status, 404);
    let live = tide.live();
    assert_eq!(restart().json(), json!({"shards": [{"shard": [0, 1], "state": "live", "restarted": false}]}));
    tide.strike(&json!({"close": 4014}));
    until("it stops", || tide.told()["shards"][0]["state"] == "stopped");
    let again = restart().json()["shards"][0].clone();
    assert!(again["restarted"] == true && again["state"] != "stopped", "{again}");
    tide.house.has_said("shard=0/1 code=4014");
    tide.house.has_said("shard=0/1 reason=disallowed_intents");
    drop(live);
}

#[test]
fn floods_of_heartbeats_and_pings_are_ended() {
    let tide = tide("");
    for ping in [false, true] {
        let told = closed(&tide, |bot| {
            for _ in 0..200 {
                if ping { bot.frame(0x89, b"?") } else { bot.beat() }
            }
        });
        assert_eq!(told.0, 4008, "{told:?}");
    }
}

#[test]
fn what_is_no_websocket_is_1002() {
    let tide = tide("");
    let told = closed(&tide, |bot| bot.stream().write_all(&[0x81, 0x01, b'x']).unwrap());
    assert_eq!(told, (1002, "a frame of a client without a mask".to_owned()));
}

#[test]
fn a_half_open_bot_is_found_by_its_silence_and_its_session_stays() {
    let tide = tide("");
    let mut live = tide.live();
    assert_eq!(live.bot.closed(), (4000, "no heartbeat came for two intervals".to_owned()));
    let mut again = tide.greeted(PLAIN);
    again.resume(TOKEN, &live.session, live.bot.seq);
    assert_eq!(again.json()["t"], "RESUMED");
    assert_eq!(tide.reached(), (1, 0));
}

#[test]
fn a_bot_that_asks_for_nothing_is_closed_and_one_that_waits_for_ready_is_not() {
    let tide = tide("");
    let mut silent = tide.greeted(PLAIN);
    assert_eq!(silent.closed().1, "neither IDENTIFY nor a heartbeat came for two intervals");
}

#[test]
fn a_reader_that_stops_is_closed_and_discord_is_read_on() {
    let tide = tide("discord.gateway.unsent_max = \"256KiB\"\ndiscord.gateway.detach_timeout = \"1h\"\n");
    let live = tide.live();
    let (mut sent, data) = (2, json!({"pad": "x".repeat(2000)}));
    while !tide.house.output().contains("too slow") {
        assert!(sent < 50_000, "nobody reads so much");
        tide.control("dispatch", &json!({"t": "NUMBERED", "d": data, "count": 100}));
        sent += 100;
        // The sandbox itself gives up on who does not read.
        until("Discord has sent it", || tide.judged().total.dispatches == sent);
    }
    until("the bot is given up", || tide.house.status()["connections"] == 0);
    assert_eq!(tide.judged().open.len(), 1);
    // Discord was read on meanwhile.
    tide.pass(10.0);
    let mut again = tide.greeted(PLAIN);
    again.resume(TOKEN, &live.session, sent);
    assert_eq!(again.json(), json!({"t": "RESUMED", "s": sent, "op": 0, "d": {"_trace": ["tidegate"]}}));
    drop(live);
}

#[test]
fn the_close_of_a_bot_is_answered() {
    let tide = tide("");
    let mut live = tide.live();
    live.bot.close(4321);
    assert_eq!(live.bot.next(), Heard::Close(Some(4321), String::new()));
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(live.bot.next(), Heard::Gone);
}
