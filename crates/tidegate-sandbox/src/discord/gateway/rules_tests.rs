//! Each line that may be stepped over, and what comes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::model::tests::{TOKEN, World};
use super::*;

fn subscribe() -> Value {
    json!({"op": 37, "d": {"subscriptions": {}}})
}

#[test]
fn d53_one_hundred_and_twenty_frames_stand_in_any_minute() {
    let mut world = World::new();
    let (conn, _) = world.live([0, 1]);
    world.after(59_900);
    world.send(conn, &json!({"op": 1, "d": 2}));
    for _ in 0..114 {
        world.send(conn, &subscribe());
    }
    world.after(200);
    for _ in 0..4 {
        world.send(conn, &json!({"op": 4, "d": {}}));
    }
    assert_eq!(world.said(), ["ack"], "IDENTIFY has left the minute, and it has 119");
    world.send(conn, &json!({"op": 1, "d": 2}));
    world.send(conn, &json!({"op": 1, "d": 2}));
    assert_eq!(world.said(), ["ack", "close 4008"]);
    let stats = world.model.stats();
    let bot = &stats.bots[0].figures;
    assert_eq!((bot.worst_minute, bot.worst_minute_queued, bot.worst_minute_subscriptions), (121, 118, 114));
    assert_eq!((bot.subscriptions, bot.by_op[&37], bot.by_op[&1], bot.closes[&4008]), (114, 114, 3, 1));
}

#[test]
fn a_new_connection_has_a_minute_of_its_own() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    for _ in 0..120 {
        world.send(conn, &subscribe());
    }
    assert_eq!(world.said(), ["close 4008"]);
    let conn = world.connect();
    world.resume(conn, &session, 2);
    for _ in 0..119 {
        world.send(conn, &subscribe());
    }
    assert_eq!(world.said(), ["hello 41250", "RESUMED 3"]);
}

#[test]
fn frames_that_nobody_understands_have_their_codes() {
    let long = |bytes: usize| {
        let frame = json!({"op": 3, "d": {"x": ""}}).to_string();
        let more = bytes - frame.len();
        // Two bytes a character: bytes count.
        frame.replace("\"\"", &format!("\"{}{}\"", "\u{e4}".repeat(more / 2), "x".repeat(more % 2)))
    };
    assert_eq!((long(4096).len(), long(4097).len()), (4096, 4097));
    for (frame, code) in [
        ("", 4002),
        ("{", 4002),
        ("[1]", 4002),
        ("{\"d\":{}}", 4002),
        ("{\"op\":null}", 4002),
        ("{\"op\":\"1\"}", 4002),
        ("{\"op\":1,\"d\":{}}", 4002),
        ("{\"op\":3}", 4002),
        ("{\"op\":8,\"d\":{}}", 4002),
        ("\u{0}", 4002),
        (&"[".repeat(4000), 4002),
        (&format!("{{\"op\":3,\"d\":{}}}", "[".repeat(3000)), 4002),
        (&long(4097), 4002),
        ("{\"op\":5,\"d\":{}}", 4001),
        ("{\"op\":0}", 4001),
        ("{\"op\":-1}", 4001),
        ("{\"op\":9223372036854775807}", 4001),
        ("{\"op\":2,\"d\":{\"token\":\"x\"}}", 4005),
        ("{\"op\":6,\"d\":{\"token\":\"x\",\"session_id\":\"\"}}", 4005),
    ] {
        let mut world = World::new();
        let (conn, _) = world.live([0, 1]);
        world.model.receive(world.now, conn, frame.as_bytes());
        assert_eq!(world.said(), [format!("close {code}")], "{frame}");
    }
    let mut world = World::new();
    let (conn, _) = world.live([0, 1]);
    world.model.receive(world.now, conn, long(4096).as_bytes());
    assert_eq!(world.said(), [""; 0]);
    world.model.receive(world.now, conn, b"\xff\xfe");
    assert_eq!(world.said(), ["close 4002"]);
}

#[test]
fn before_identify_only_heartbeats_are_heard() {
    for (op, d) in [(3, json!({})), (37, json!({})), (8, json!({"guild_id": "1", "query": "", "limit": 0}))] {
        let mut world = World::new();
        let conn = world.connect();
        world.send(conn, &json!({"op": 1, "d": null}));
        world.send(conn, &json!({"op": op, "d": d}));
        assert_eq!(world.said(), ["hello 41250", "ack", "close 4003"]);
    }
}

#[test]
fn the_address_says_version_and_encoding() {
    for (query, expected) in [
        ("", "hello 41250"),
        ("v=10&compress=zlib-stream", "hello 41250"),
        ("v=11", "close 4012"),
        ("v=five", "close 4012"),
        ("v=10&encoding=etf", "close 4012"),
    ] {
        let mut world = World::new();
        world.connect_to("//", query);
        assert_eq!(world.said(), [expected], "{query}");
    }
}

#[test]
fn an_identify_that_is_wrong_has_its_code() {
    let identify = |change: &dyn Fn(&mut Value)| {
        let mut world = World::new();
        let bot = world.model.bot(123456);
        (bot.denied_intents, bot.least_shards) = (1 << 15, 2);
        let conn = world.connect();
        let mut d = json!({"token": TOKEN, "intents": 1, "shard": [1, 2]});
        change(&mut d);
        world.send(conn, &json!({"op": 2, "d": d}));
        world.said().swap_remove(1)
    };
    let with = |key: &'static str, value: Value| identify(&move |d| d[key] = value.clone());
    assert_eq!(with("token", format!("Bot {TOKEN}").into()), "READY 1");
    assert_eq!(with("token", "nonsense".into()), "close 4004");
    for wrong in [json!([2, 2]), json!([0, 0]), json!([-1, 2]), json!([0]), json!("0/1"), json!([0, 1, 2])] {
        assert_eq!(with("shard", wrong.clone()), "close 4010", "{wrong}");
    }
    assert_eq!(with("shard", Value::Null), "close 4011");
    assert_eq!(with("shard", json!([0, 1])), "close 4011");
    assert_eq!(
        (with("intents", json!(1 << 15)), with("intents", json!(1 << 30))),
        ("close 4014".into(), "close 4013".into())
    );
    assert_eq!((with("intents", Value::Null), with("intents", json!(-1))), ("close 4013".into(), "close 4013".into()));
}

#[test]
fn d10_a_bucket_takes_one_identify_in_five_seconds() {
    let mut world = World::new();
    world.model.bot(123456).max_concurrency = 16;
    let mut identify = |shard: u32, after: u64| {
        world.after(after);
        let conn = world.connect();
        world.identify(conn, [shard, 64]);
        world.said().swap_remove(1)
    };
    for shard in 0..16 {
        assert_eq!(identify(shard, 0), "READY 1");
    }
    assert_eq!(identify(16, 4999), "invalid false");
    assert_eq!(identify(17, 1), "READY 1");
    assert_eq!(identify(16, 0), "READY 1", "one that was refused does not hold the place");
    assert_eq!(identify(32, 5000), "READY 1");
    let figures = world.model.stats().bots[0].figures.clone();
    assert_eq!((figures.identifies, figures.spacing_violations, figures.least_spacing_ms), (20, 1, Some(4999)));
    assert_eq!(world.model.start_limit(123456).remaining, 980);
}

#[test]
fn d1_the_last_identify_of_a_day_is_the_last_of_the_token() {
    let mut world = World::new();
    world.model.bot(123456).total = 3;
    world.live([0, 2]);
    world.after(5000);
    let (second, session) = world.live([1, 2]);
    world.model.closed(world.now, second, None);
    let conn = world.connect();
    world.resume(conn, &session, 2);
    world.said();
    assert_eq!(world.model.start_limit(123456).remaining, 1, "RESUME is not counted");
    let conn = world.connect();
    world.identify(conn, [0, 2]);
    world.identify(conn, [0, 2]);
    assert_eq!(world.said(), ["hello 41250", "invalid false", "close 4004", "close 4004", "close 4004"]);
    let conn = world.connect();
    world.resume(conn, &session, 2);
    assert_eq!(world.said(), ["hello 41250", "close 4004"]);
    let figures = world.model.stats().total;
    assert_eq!((figures.token_resets, figures.unauthorized, world.model.sizes().sessions), (1, 1, 0));
}

#[test]
fn the_budget_is_whole_again_when_its_day_is_over() {
    let mut world = World::new();
    world.model.bot(123456).total = 2;
    world.live([0, 1]);
    let told = world.model.start_limit(123456);
    assert_eq!((told.remaining, told.reset_after_ms), (1, 14_400_000));
    world.after(14_400_000);
    let told = world.model.start_limit(123456);
    assert_eq!((told.remaining, told.reset_after_ms), (2, 86_400_000));
    world.after(3 * 86_400_000 + 1);
    world.live([0, 1]);
    let told = world.model.start_limit(123456);
    assert_eq!((told.remaining, told.reset_after_ms), (1, 86_399_999));
}

#[test]
fn whoever_sends_no_heartbeat_is_closed() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    world.after(41_000);
    world.send(conn, &json!({"op": 1, "d": 2}));
    world.after(61_874);
    assert_eq!(world.said(), ["ack"]);
    world.after(1);
    assert_eq!(world.said(), ["close 4009"]);
    let conn = world.connect();
    world.resume(conn, &session, 2);
    assert_eq!(world.said(), ["hello 41250", "invalid false"]);
    assert_eq!(world.model.stats().total.worst_beat_gap_ms, 41_000);
}

#[test]
fn d50_all_members_of_a_guild_are_told_once_in_half_a_minute() {
    let mut world = World::of(Settings { members: 2500, ..Settings::default() });
    let (conn, _) = world.live([0, 1]);
    let all = |guild: &str| json!({"op": 8, "d": {"guild_id": guild, "query": "", "limit": 0, "nonce": "n"}});
    world.send(conn, &all("1"));
    assert_eq!(world.said(), ["GUILD_MEMBERS_CHUNK 3", "GUILD_MEMBERS_CHUNK 4", "GUILD_MEMBERS_CHUNK 5"]);
    world.after(10_500);
    world.send(conn, &all("1"));
    let Some(Output::Write { frame, .. }) = world.model.poll() else { panic!("no answer") };
    let told: Value = serde_json::from_slice(&frame.text).unwrap();
    assert_eq!(
        told,
        json!({"t": "RATE_LIMITED", "s": 6, "op": 0,
            "d": {"opcode": 8, "retry_after": 19.5, "meta": {"guild_id": "1", "nonce": "n"}}})
    );
    world.send(conn, &all("4194305"));
    assert_eq!(world.said().len(), 3, "another guild");
    world.send(conn, &json!({"op": 8, "d": {"guild_id": ["1"], "query": "a", "limit": 5}}));
    world.send(conn, &json!({"op": 8, "d": {"guild_id": "1", "user_ids": ["5", 6]}}));
    assert_eq!(world.said(), ["GUILD_MEMBERS_CHUNK 10", "GUILD_MEMBERS_CHUNK 11"]);
    world.after(19_500);
    world.send(conn, &all("1"));
    assert_eq!(world.said().len(), 3);
    assert_eq!(world.model.stats().total.members_over, 1);
}

#[test]
fn d52_presence_updates_over_five_in_a_minute_are_counted() {
    let mut world = World::new();
    let (conn, _) = world.live([0, 1]);
    for _ in 0..7 {
        world.send(conn, &json!({"op": 3, "d": {}}));
    }
    world.after(60_000);
    world.send(conn, &json!({"op": 3, "d": {}}));
    assert_eq!((world.model.stats().total.presence_over, world.said().len()), (2, 0));
}

#[test]
fn no_input_makes_it_panic() {
    let mut world = World::new();
    let ops = [0_i64, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 14, 31, 37, 43, 99, -5, i64::MAX];
    let parts = [
        json!(null),
        json!(1),
        json!(-1),
        json!("x"),
        json!([]),
        json!([1, 2]),
        json!({"token": TOKEN}),
        json!({"token": TOKEN, "intents": 1, "shard": [0, u64::MAX]}),
        json!({"token": TOKEN, "intents": 513}),
        json!({"guild_id": u64::MAX, "query": "", "limit": u64::MAX, "user_ids": [null, "x", -1]}),
        json!({"token": TOKEN, "session_id": "0".repeat(64), "seq": i64::MIN}),
        json!({"token": TOKEN, "session_id": "\u{e4}".repeat(20), "seq": i64::MAX}),
    ];
    let mut conn = world.connect();
    let mut seed = 7;
    for _ in 0..20_000 {
        seed = super::session::mix(seed);
        let at = |shift: u64, of: usize| usize::try_from(seed >> shift).unwrap_or(0) % of;
        let frame = json!({"op": ops[at(3, ops.len())], "d": parts[at(13, parts.len())]}).to_string();
        let cut = if seed.is_multiple_of(7) { at(23, frame.len()) } else { frame.len() };
        world.model.receive(world.now, conn, &frame.as_bytes()[..cut]);
        world.after(seed % 3000);
        if world.model.stats().open.is_empty() {
            conn = world.connect();
        }
        world.said();
    }
    assert!(world.model.stats().total.ready > 10, "{:?}", world.model.stats().total);
    world.model.tick(Duration::MAX);
    world
        .model
        .connect(Duration::MAX, &Handshake { from: [0; 4].into(), path: String::new(), query: Vec::new() })
        .unwrap();
}

#[test]
fn d1_whoever_identifies_for_ever_has_no_token_left_that_day() {
    let mut world = World::new();
    let mut tries = 0;
    while world.model.stats().total.token_resets == 0 {
        tries += 1;
        let conn = world.connect();
        world.identify(conn, [0, 1]);
        world.after(3000);
        world.model.closed(world.now, conn, None);
        world.after(2000);
        world.said();
    }
    assert_eq!((tries, world.now.as_secs()), (1001, 5005));
    let conn = world.connect();
    world.identify(conn, [0, 1]);
    assert_eq!(world.said(), ["hello 41250", "close 4004"]);
}
