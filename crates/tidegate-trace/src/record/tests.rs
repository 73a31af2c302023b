//! What was written down plays back to the same.

use std::io::Cursor;

use bytes::Bytes;
use tidegate_core::bot::{Gateway, Input, Settings, ShardKey};
use tidegate_core::identify_queue::SessionStartLimit;
use tidegate_core::shard::{Event, Generation};
use tidegate_core::{Gate, Span, Time, identify_queue, send_queue, shard};

use super::Recorder;
use crate::replay;

const KEY: ShardKey = ShardKey { id: 0, count: 1 };
const SECRET: &str = "a-session-nobody-may-know";

fn settings() -> Settings {
    Settings {
        shard: shard::Settings { autonomous: false, jitter_ppm: (333_333, 900_001), ..Default::default() },
        send_queue: send_queue::Settings::default(),
        identify_queue: identify_queue::Settings { spacing_margin: Span::from_millis(25), ..Default::default() },
        shards_max: 7,
    }
}

fn socket(generation: u64, event: Event) -> Input<Bytes> {
    let input = shard::Input::Socket { generation: Generation(generation), event };
    Input::Shard { key: KEY, input }
}

fn of_shard(input: shard::Input) -> Input<Bytes> {
    Input::Shard { key: KEY, input }
}

fn of_send_queue(input: send_queue::Input<Bytes>) -> Input<Bytes> {
    Input::SendQueue { key: KEY, input }
}

/// A bot logs in, scrolls, loses its connection and its session, and goes.
fn day() -> Vec<(u64, Input<Bytes>)> {
    let ready = |seq| Event::Ready {
        session: SECRET.into(),
        resume_url: "wss://g-1.discord.gg/a-path-nobody-may-know?x=1".into(),
        seq,
    };
    let hello = Event::Hello { interval: Span::from_millis(41_250) };
    let refresh = identify_queue::Input::Refresh {
        limit: SessionStartLimit { max_concurrency: 2, remaining: 900, reset_at: Time::from_millis(90_000_000) },
        total: Some(1000),
        shards: Some(2),
    };
    let subscribe = |n: u8| send_queue::Input::Subscribe {
        guild: "1".into(),
        snapshot: Bytes::from(format!("{{\"nobody-may-read\":{n}}}")),
        bytes: 26,
    };
    vec![
        (3, Input::Open { key: KEY, url: "wss://g".into(), seed: u64::MAX, autonomous: false, stored: None }),
        (3, of_shard(shard::Input::Fresh { differs: true })),
        (5, socket(1, Event::Opened)),
        (6, socket(1, hello.clone())),
        (90, socket(1, ready(1))),
        (91, of_send_queue(send_queue::Input::Command { id: 1, op: 3, guild: None, bytes: 60 })),
        (100, of_send_queue(subscribe(1))),
        (101, of_send_queue(subscribe(2))),
        (300, socket(1, Event::Dispatch { seq: 2 })),
        (9_000, Input::IdentifyQueue(refresh)),
        (9_001, Input::IdentifyQueue(identify_queue::Input::Request { shard: 1, http: true })),
        (30_000, socket(1, Event::Closed { code: Some(4000) })),
        (60_000, socket(2, Event::Opened)),
        (60_100, socket(2, hello)),
        (60_200, socket(2, Event::InvalidSession { resumable: false })),
        (60_300, of_shard(shard::Input::Fresh { differs: false })),
        (79_000, of_shard(shard::Input::Rewind { seq: 1 })),
        (80_000, of_shard(shard::Input::Logout)),
        (80_001, Input::Forget { key: KEY }),
    ]
}

#[test]
fn a_trace_plays_back_to_the_same_and_tells_no_secret() {
    let folder = std::env::temp_dir().join(format!("tidegate-record-{}", std::process::id()));
    let limit = SessionStartLimit { max_concurrency: 1, remaining: 1000, reset_at: Time::from_millis(5_000) };
    let mut recorder = Recorder::begin(&folder, "trace", &settings(), limit).unwrap();
    let mut gate = Gateway::new(settings(), limit, []);
    for (at, input) in day() {
        // Timers are called a little late, as they are where a clock is real.
        while let Some((due, _)) = gate.poll_timeout().filter(|(due, _)| due.as_micros() / 1000 + 2 < at) {
            tell(&mut gate, &mut recorder, Time::from_millis(due.as_micros().div_ceil(1000) + 1), Input::Tick);
        }
        tell(&mut gate, &mut recorder, Time::from_millis(at), input);
    }
    recorder.flush();
    let [inputs, outputs] = ["trace.jsonl", "trace.out.jsonl"].map(|name| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).unwrap()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    let mut replayed = Vec::new();
    replay("bot", Cursor::new(&inputs), &mut replayed).unwrap();
    assert!(outputs.contains(r#""resume":"#) && outputs.contains(r#""subscriptions":"#), "{outputs}");
    assert_eq!(String::from_utf8(replayed).unwrap(), outputs);
    for secret in ["nobody-may", "x=1"] {
        assert!(!inputs.contains(secret) && !outputs.contains(secret), "{secret}");
    }
}

fn tell(gate: &mut Gateway<Bytes>, recorder: &mut Recorder, at: Time, input: Input<Bytes>) {
    recorder.input(at, &input);
    gate.handle(at, input);
    while let Some(output) = gate.poll_output() {
        recorder.output(at, &output);
    }
}
