//! Timelines: what a bot writes and when, and what it gets.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::discord::gateway::{Event, Kind, To};

pub(crate) const TOKEN: &str = "MTIzNDU2.x.y";
const GUILDS_AND_MESSAGES: u64 = 1 | 1 << 9;

/// A Gateway, and what it has said.
pub(crate) struct World {
    pub(crate) model: Model,
    pub(crate) now: Duration,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Settings::default())
    }

    pub(crate) fn of(settings: Settings) -> Self {
        Self { model: Model::new(settings), now: Duration::ZERO }
    }

    pub(crate) fn connect_to(&mut self, path: &str, query: &str) -> ConnId {
        let handshake = Handshake { from: [127, 0, 0, 1].into(), path: path.into(), query: crate::http::form(query) };
        self.model.connect(self.now, &handshake).unwrap().conn
    }

    pub(crate) fn connect(&mut self) -> ConnId {
        self.connect_to("/", "v=10&encoding=json")
    }

    pub(crate) fn send(&mut self, conn: ConnId, frame: &Value) {
        self.model.receive(self.now, conn, frame.to_string().as_bytes());
    }

    pub(crate) fn identify(&mut self, conn: ConnId, shard: [u32; 2]) {
        let d = json!({"token": TOKEN, "intents": GUILDS_AND_MESSAGES, "shard": shard});
        self.send(conn, &json!({"op": 2, "d": d}));
    }

    pub(crate) fn resume(&mut self, conn: ConnId, session: &str, seq: u64) {
        let d = json!({"token": format!("Bot {TOKEN}"), "session_id": session, "seq": seq});
        self.send(conn, &json!({"op": 6, "d": d}));
    }

    pub(crate) fn after(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.model.tick(self.now);
    }

    /// What has come since the last look, a word each.
    pub(crate) fn said(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.model.poll()).map(|output| word(&output)).collect()
    }

    /// A connection with a session, and the session's id.
    pub(crate) fn live(&mut self, shard: [u32; 2]) -> (ConnId, String) {
        let conn = self.connect();
        self.identify(conn, shard);
        let outputs: Vec<Output> = std::iter::from_fn(|| self.model.poll()).collect();
        let ready = outputs.into_iter().find_map(|output| match output {
            Output::Write { frame: Frame { kind: Kind::Dispatch { seq: 1, .. }, text }, .. } => Some(text),
            _ => None,
        });
        let ready: Value = serde_json::from_slice(&ready.expect("READY")).unwrap();
        (conn, ready["d"]["session_id"].as_str().unwrap().to_owned())
    }

    pub(crate) fn dispatch(&mut self, count: usize) {
        for _ in 0..count {
            let event = Event { name: "MESSAGE_CREATE".into(), d: None, bytes: 600 };
            self.model.dispatch(self.now, To::default(), &event);
        }
    }
}

fn word(output: &Output) -> String {
    match output {
        Output::Write { frame, .. } => match &frame.kind {
            Kind::Dispatch { seq, event } => format!("{event} {seq}"),
            Kind::Beat => "beat".into(),
            Kind::Reconnect => "reconnect".into(),
            Kind::Invalid { resumable } => format!("invalid {resumable}"),
            Kind::Hello { interval_ms } => format!("hello {interval_ms}"),
            Kind::Ack => "ack".into(),
        },
        Output::Close { code, twice: false, .. } => format!("close {code}"),
        Output::Close { code, .. } => format!("close {code} twice"),
        Output::Cut { .. } => "cut".into(),
        Output::Freeze { .. } => "freeze".into(),
    }
}

#[test]
fn identify_gives_a_session_and_its_guilds() {
    let mut world = World::new();
    let conn = world.connect();
    world.send(conn, &json!({"op": 1, "d": null}));
    world.identify(conn, [0, 1]);
    world.dispatch(2);
    assert_eq!(
        world.said(),
        ["hello 41250", "ack", "READY 1", "GUILD_CREATE 2", "MESSAGE_CREATE 3", "MESSAGE_CREATE 4"]
    );
}

#[test]
fn resume_gives_what_was_missed_and_nothing_else() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    world.model.closed(world.now, conn, None);
    world.dispatch(3);
    world.after(170_000);
    let conn = world.connect_to("/resume/", "v=10");
    world.resume(conn, &session, 3);
    assert_eq!(world.said(), ["hello 41250", "MESSAGE_CREATE 4", "MESSAGE_CREATE 5", "RESUMED 6"]);
    assert_eq!((world.model.total.identifies, world.model.total.resumes_elsewhere), (1, 0));
}

#[test]
fn a_session_ends_when_it_is_closed_for_good_or_not_resumed_in_time() {
    for (code, wait_ms, expected) in
        [(Some(1000), 0, "invalid false"), (Some(1001), 0, "invalid false"), (Some(4000), 180_000, "invalid false")]
            .into_iter()
            .chain([(Some(4200), 179_999, "RESUMED 3"), (None, 0, "RESUMED 3")])
    {
        let mut world = World::new();
        let (conn, session) = world.live([0, 1]);
        world.model.closed(world.now, conn, code);
        world.after(wait_ms);
        let conn = world.connect();
        world.resume(conn, &session, 2);
        assert_eq!(world.said(), ["hello 41250", expected], "{code:?} {wait_ms}");
    }
}

#[test]
fn what_cannot_be_resumed_is_told_at_once() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    world.dispatch(3);
    world.said();
    world.model.closed(world.now, conn, None);
    let mut tries = |session: &str, seq: u64| {
        let conn = world.connect();
        world.resume(conn, session, seq);
        world.said().split_off(1)
    };
    assert_eq!(tries("no such session", 1), ["invalid false"]);
    assert_eq!(tries(&session.replace('0', "1"), 1), ["invalid false"]);
    assert_eq!(tries(&session, 6), ["close 4007"]);
    assert_eq!(tries(&session, 5), ["invalid false"], "a wrong seq ends a session");
}

#[test]
fn a_replay_holds_no_resumed_of_before() {
    let mut world = World::new();
    let (conn, session) = world.live([0, 1]);
    world.model.closed(world.now, conn, None);
    world.dispatch(1);
    for expected in [vec!["MESSAGE_CREATE 3", "RESUMED 4"], vec!["MESSAGE_CREATE 3", "RESUMED 5"]] {
        let conn = world.connect();
        world.resume(conn, &session, 2);
        assert_eq!(world.said().split_off(1), expected);
        world.model.closed(world.now, conn, None);
    }
}

#[test]
fn the_ring_keeps_so_much_and_no_more() {
    let bounds = super::super::Bounds { ring: 5, ..Default::default() };
    for (seq, expected) in [(9, "invalid false"), (10, "MESSAGE_CREATE 11")] {
        let mut world = World::of(Settings { bounds, ..Settings::default() });
        let (conn, session) = world.live([0, 1]);
        world.model.closed(world.now, conn, None);
        world.dispatch(13);
        assert!(world.model.sizes().ring_bytes < 5 * 800);
        let conn = world.connect();
        world.resume(conn, &session, seq);
        assert_eq!(world.said()[1], expected, "{seq}");
    }
    let mut world = World::of(Settings {
        bounds: super::super::Bounds { ring_bytes: 3000, ..Default::default() },
        ..Settings::default()
    });
    for shard in 0..4 {
        world.live([shard, 4]);
        world.after(5000);
    }
    world.dispatch(50);
    assert!(world.model.sizes().ring_bytes <= 3000, "{:?}", world.model.sizes());
}

#[test]
fn a_session_that_is_taken_up_elsewhere_leaves_its_connection() {
    let mut world = World::new();
    let (first, session) = world.live([0, 1]);
    let second = world.connect();
    world.resume(second, &session, 2);
    assert_eq!(world.said(), ["hello 41250", "close 4000", "RESUMED 3"]);
    world.send(first, &json!({"op": 1, "d": null}));
    world.dispatch(1);
    assert_eq!(world.said(), ["MESSAGE_CREATE 4"]);
}

#[test]
fn connections_sessions_outputs_log_and_bots_are_bounded() {
    let bounds =
        super::super::Bounds { connections: 3, sessions: 2, outputs: 20, log: 10, bots: 2, ..Default::default() };
    let mut world = World::of(Settings { bounds, ..Settings::default() });
    let (a, _) = world.live([0, 3]);
    world.after(5000);
    world.live([1, 3]);
    world.after(5000);
    let third = world.connect();
    let handshake = Handshake { from: [127, 0, 0, 1].into(), path: "/".into(), query: Vec::new() };
    assert_eq!(world.model.connect(world.now, &handshake).unwrap_err().status, 503);
    world.identify(third, [2, 3]);
    assert_eq!(world.said(), ["hello 41250", "close 4000"], "all sessions have connections");
    world.model.closed(world.now, a, None);
    world.after(5000);
    let third = world.connect();
    world.identify(third, [2, 3]);
    assert_eq!(world.said(), ["hello 41250", "READY 1", "GUILD_CREATE 2"], "the one without a connection made room");
    world.dispatch(100);
    assert_eq!(world.said().len(), 22, "whoever reads too slowly is cut");
    assert_eq!(world.model.log().count(), 10);
    assert_eq!(world.model.stats().total.closes[&1006], 2);
    for bot in 1..10 {
        world.model.bot(bot);
    }
    assert_eq!(world.model.sizes().bots, 2);
    let bounds = super::super::Bounds { output_bytes: 5000, guilds: 2, ..Default::default() };
    let mut world = World::of(Settings { bounds, ..Settings::default() });
    let (conn, _) = world.live([0, 1]);
    for guild in 0..5 {
        let all = json!({"guild_id": guild.to_string(), "query": "", "limit": 0});
        world.send(conn, &json!({"op": 8, "d": all}));
    }
    assert_eq!(world.model.bot(123456).members.len(), 2);
    world.said();
    world.dispatch(100);
    let said = world.said();
    assert!((5..15).contains(&said.len()) && said.last().is_some_and(|last| last == "cut"), "{said:?}");
}

#[test]
fn a_reset_forgets_the_past_and_keeps_the_present() {
    let mut world = World::new();
    world.live([0, 1]);
    world.after(1000);
    world.model.reset(crate::tokens::Tokens::default());
    world.dispatch(1);
    assert_eq!(world.said(), ["MESSAGE_CREATE 3"]);
    let stats = world.model.stats();
    assert_eq!((stats.at_ms, stats.total.identifies, stats.bots[0].remaining, stats.open.len()), (0, 0, 1000, 1));
}

#[test]
fn thousands_of_idle_shards_make_nothing_but_beats() {
    const SHARDS: u32 = 2_000;
    let settings = Settings { guilds: 0, ..Settings::default() };
    let mut world = World::of(settings);
    world.model.bot(123456).max_concurrency = 1000;
    world.model.bot(123456).total = 10_000;
    let mut conns = Vec::new();
    for shard in 0..SHARDS {
        if shard == 1000 {
            world.after(5000);
        }
        conns.push(world.live([shard, SHARDS]).0);
    }
    let timers = world.model.sizes().timers;
    for _ in 0..20 {
        world.after(41_250);
        for conn in &conns {
            world.model.receive(world.now, *conn, br#"{"op":1,"d":1}"#);
        }
        assert_eq!(world.said().len(), conns.len());
    }
    assert_eq!(world.model.stats().total.closes.len(), 0);
    assert_eq!((world.model.sizes().timers, world.model.sizes().connections), (timers, 2000));
}
