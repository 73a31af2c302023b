//! Weather as timelines.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::model::tests::World;
use super::*;
use crate::discord::gateway::{Handshake, Load, Random};

fn rule(world: &mut World, rule: &Value) {
    assert!(world.model.weather(Weather::from_json(rule).unwrap()));
}

#[test]
fn a_handshake_is_refused_and_hello_is_late_or_something_else() {
    let mut world = World::new();
    rule(&mut world, &json!({"on": "connect", "path": "/resume", "do": {"refuse": 502, "body": "gone"}}));
    rule(&mut world, &json!({"on": "connect", "do": "reconnect"}));
    rule(&mut world, &json!({"on": "connect", "do": {"delay_ms": 9000}}));
    rule(&mut world, &json!({"on": "connect", "do": "silence"}));
    rule(&mut world, &json!({"on": "connect", "after_ms": 100, "do": "cut"}));
    world.connect();
    assert_eq!(world.said(), ["reconnect"]);
    world.after(5000);
    assert_eq!(world.said(), ["close 1001"], "whoever stays after op 7 is closed");
    world.connect();
    world.after(8999);
    assert_eq!(world.said(), [""; 0]);
    world.after(1);
    assert_eq!(world.said(), ["hello 41250"]);
    let silent = world.connect();
    world.identify(silent, [0, 1]);
    world.after(60_000);
    assert_eq!(world.said(), [""; 0]);
    world.connect();
    world.after(100);
    assert_eq!(world.said(), ["hello 41250", "cut"]);
    let handshake = Handshake { from: [127, 0, 0, 1].into(), path: "/resume/".into(), query: Vec::new() };
    let refused = world.model.connect(world.now, &handshake).unwrap_err();
    assert_eq!((refused.status, refused.body.as_str()), (502, "gone"));
}

#[test]
fn ready_is_late_or_an_op_9_and_beats_are_answered_meanwhile() {
    let mut world = World::new();
    rule(&mut world, &json!({"on": "identify", "do": {"delay_ms": 20000}}));
    rule(&mut world, &json!({"on": "identify", "do": {"invalid": true}}));
    rule(&mut world, &json!({"on": "identify", "bot": "5", "do": "cut"}));
    let conn = world.connect();
    world.identify(conn, [0, 1]);
    world.after(19_999);
    world.send(conn, &json!({"op": 1, "d": null}));
    assert_eq!(world.said(), ["hello 41250", "ack"]);
    world.after(1);
    assert_eq!(world.said(), ["READY 1", "GUILD_CREATE 2"]);
    let conn = world.connect();
    world.identify(conn, [0, 1]);
    world.after(5000);
    world.identify(conn, [0, 1]);
    assert_eq!(world.said(), ["hello 41250", "invalid true", "READY 1", "GUILD_CREATE 2"]);
    assert_eq!(world.model.stats().total.forced, 2);
}

#[test]
fn d32_a_bricked_session_is_cut_at_each_resume_and_then_lost() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    rule(&mut world, &json!({"on": "resume", "times": 3, "do": "cut"}));
    rule(&mut world, &json!({"on": "resume", "do": "invalid"}));
    world.model.closed(world.now, conn, None);
    for expected in ["cut", "cut", "cut", "invalid false", "RESUMED 3"] {
        let conn = world.connect();
        world.resume(conn, &session, 2);
        assert_eq!(world.said(), ["hello 41250", expected]);
    }
}

#[test]
fn d18_the_address_for_resume_is_dead() {
    let mut world = World::new();
    rule(&mut world, &json!({"on": "identify", "do": "dead_resume_url"}));
    let conn = world.connect();
    world.identify(conn, [0, 1]);
    let mut url = String::new();
    while let Some(output) = world.model.poll() {
        if let Output::Write { frame, .. } = output {
            let frame: Value = serde_json::from_slice(&frame.text).unwrap();
            url = frame["d"]["resume_gateway_url"].as_str().map_or(url, str::to_owned);
        }
    }
    assert!(url.ends_with("/dead"), "{url}");
    let handshake = Handshake { from: [127, 0, 0, 1].into(), path: "/dead/".into(), query: Vec::new() };
    assert_eq!(world.model.connect(world.now, &handshake).unwrap_err().status, 503);
}

#[test]
fn d2_every_connection_ends_so_long_after_it_lives() {
    let mut world = World::new();
    rule(&mut world, &json!({"on": "live", "after_ms": 55000, "times": 1000, "do": {"close": 1000}}));
    let (_, session) = world.live([0, 1]);
    for seq in 0..3 {
        world.after(55_000);
        assert_eq!(world.said(), ["close 1000"]);
        let conn = world.connect();
        world.resume(conn, &session, 2 + seq);
        assert_eq!(
            world.said(),
            ["hello 41250".to_owned(), format!("RESUMED {}", seq + 3)],
            "the server's 1000 ends none"
        );
    }
}

#[test]
fn what_happens_now_happens_to_those_who_are_meant() {
    let to = |shard| To { bot: None, shard: Some(shard) };
    let mut world = World::new();
    world.model.bot(123456).max_concurrency = 8;
    let conns: Vec<ConnId> = (0..6).map(|shard| world.live([shard, 6]).0).collect();
    let acts = [Act::Deaf, Act::Silence, Act::Freeze, Act::Close { code: 1005, twice: true }, Act::Beat, Act::Cut];
    for (shard, act) in (0..).zip(&acts) {
        assert_eq!(world.model.strike(world.now, to(shard), act), 1);
    }
    for conn in conns {
        world.send(conn, &json!({"op": 1, "d": 2}));
    }
    world.dispatch(1);
    let said = world.said();
    assert_eq!(said, ["freeze", "close 1005 twice", "beat", "cut", "ack", "MESSAGE_CREATE 3", "MESSAGE_CREATE 3"]);
    assert_eq!(world.model.strike(world.now, to(9), &Act::Cut), 0);
}

#[test]
fn acts_that_wait_and_connections_that_have_ended_are_bounded() {
    let mut world = World::new();
    rule(&mut world, &json!({"on": "frame", "op": 1, "after_ms": 1000, "times": 50, "do": "beat"}));
    let (conn, _) = world.live([0, 1]);
    for _ in 0..50 {
        world.send(conn, &json!({"op": 1, "d": 2}));
    }
    world.said();
    world.after(1000);
    assert_eq!(world.said(), ["beat"; 16]);
    for _ in 0..10_010 {
        let conn = world.connect();
        world.model.closed(world.now, conn, None);
        world.said();
    }
    assert_eq!((world.model.sizes().ended, world.model.connections().len()), (10_000, 10_001));
    assert!(world.model.sizes().timers < 4200, "{:?}", world.model.sizes());
    world.after(100_000);
    assert_eq!((world.said(), world.model.sizes().timers), (vec!["close 4009".to_owned()], 0));
}

#[test]
fn a_frame_has_its_weather() {
    let mut world = World::new();
    let (conn, _) = world.live([0, 1]);
    rule(&mut world, &json!({"on": "frame", "op": 8, "skip": 1, "do": {"close": 4002}}));
    let members = json!({"op": 8, "d": {"guild_id": "1", "query": "a", "limit": 1}});
    world.send(conn, &members);
    world.send(conn, &json!({"op": 1, "d": 1}));
    world.send(conn, &members);
    assert_eq!(world.said(), ["GUILD_MEMBERS_CHUNK 3", "ack", "close 4002"]);
}

#[test]
fn random_weather_comes_again_with_its_seed() {
    let run = |seed: u64| {
        let mut world = World::new();
        let mut random = Random::new(seed);
        random.live_mean = Duration::from_secs(60);
        (random.connect_permille, random.answer_permille) = (200, 200);
        world.model.random(random);
        for _ in 0..300 {
            let handshake = Handshake { from: [127, 0, 0, 1].into(), path: "/".into(), query: Vec::new() };
            if let Ok(accepted) = world.model.connect(world.now, &handshake) {
                world.identify(accepted.conn, [0, 1]);
            }
            world.after(10_000);
        }
        (world.said(), world.model.stats().total)
    };
    let (said, figures) = run(7);
    assert_eq!(run(7).0, said);
    assert_ne!(run(8).0, said);
    assert!(figures.refused > 5 && figures.forced > 100 && figures.closes.len() > 3, "{figures:?}");
}

#[test]
fn random_weather_begins_and_ends_when_it_is_set() {
    let mut world = World::new();
    world.live([0, 1]);
    let mut random = Random::new(1);
    (random.live, random.live_mean) = (vec![Act::Beat], Duration::from_secs(1));
    world.model.random(random.clone());
    world.after(20_000);
    let beats = world.said();
    assert!((10..30).contains(&beats.len()) && beats.iter().all(|said| said == "beat"), "{beats:?}");
    world.model.random(random);
    world.model.random(Random::new(1));
    world.after(20_000);
    assert_eq!(world.said(), [""; 0]);
}

#[test]
fn a_stream_gives_its_rate_in_messages_of_its_size() {
    let mut world = World::new();
    let (conn, _) = world.live([0, 1]);
    let load = Load { to: To::default(), per_second: 1000, bytes: (300, 2000), lasts: Duration::from_secs(3) };
    assert!(world.model.load(world.now, load));
    let mut sizes = Vec::new();
    for ms in [1000, 1500, 5000] {
        world.after(ms);
        while let Some(Output::Write { frame, .. }) = world.model.poll() {
            let message: Value = serde_json::from_slice(&frame.text).unwrap();
            if frame.kind == Kind::Ack {
                continue;
            }
            assert_eq!((&message["t"], message["d"]["id"].is_string()), (&json!("MESSAGE_CREATE"), true));
            sizes.push(frame.text.len());
        }
        world.send(conn, &json!({"op": 1, "d": 1}));
    }
    assert_eq!((sizes.len(), world.model.sizes().loads), (3000, 0));
    assert!(sizes.iter().min() < Some(&450) && sizes.iter().max() > Some(&1900) && sizes.iter().max() < Some(&2200));
    for _ in 0..64 {
        assert!(world.model.load(world.now, load));
    }
    assert!(!world.model.load(world.now, load));
}

#[test]
fn what_is_no_weather_is_explained() {
    let wrong = |rule: Value| Weather::from_json(&rule).unwrap_err();
    assert!(wrong(json!({"on": "monday", "do": "cut"})).contains("\"live\""));
    assert!(wrong(json!({"on": "live"})).contains("dead_resume_url"));
    assert!(wrong(json!({"on": "live", "do": {"close": 999}})).contains("close"));
    assert!(wrong(json!({"on": "live", "do": {"close": 4000, "later": 1}})).contains("close"));
    assert!(wrong(json!({"on": "live", "do": {"refuse": 503}})).contains("moment"));
    assert!(wrong(json!({"on": "frame", "do": "cut"})).contains("opcode"));
    assert!(wrong(json!({"on": "live", "do": "cut", "when": 1})).contains("\"when\""));
    assert!(wrong(json!({"on": "connect", "bot": "1", "do": "cut"})).contains("bot"));
    assert!(wrong(json!({"on": "live", "path": "/resume", "do": "cut"})).contains("path"));
    let mut world = World::new();
    let max = world.model.settings.bounds.scripts;
    assert!((0..max).all(|_| world.model.weather(Weather::next(Moment::Live, Act::Cut))));
    assert!(!world.model.weather(Weather::next(Moment::Live, Act::Cut)));
}
