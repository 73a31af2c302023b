//! A day through the program itself: the next input depends on what came out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// How often the world looks around; it answers that much late at most.
const STEP_MS: u64 = 500;
const DAY_MS: u64 = 24 * 3_600_000;

struct Day {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// What is told later, in order.
    later: BTreeMap<(u64, u64), Value>,
    grants: u64,
    last_identify: Option<u64>,
    identifies: usize,
    dials: usize,
}

impl Day {
    fn start(new: &Value) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["replay", "shard"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        writeln!(stdin, "{}", json!({ "new": new })).unwrap();
        let later = BTreeMap::from([((0, 0), "start".into())]);
        Self { child, stdin, stdout, later, grants: 0, last_identify: None, identifies: 0, dials: 0 }
    }

    fn later(&mut self, at: u64, input: Value) {
        let number = self.later.len() as u64 + 1_000 * self.grants + 1_000_000 * self.dials as u64;
        self.later.insert((at, number), input);
    }

    /// All that came out up to this moment: an event of a connection that never was is answered last.
    fn outputs(&mut self, at: u64, input: &Value) -> Vec<(u64, Value)> {
        writeln!(self.stdin, "{}", json!({ "at": at, "input": input })).unwrap();
        writeln!(self.stdin, "{}", json!({ "at": at, "input": { "ack": { "gen": 0 } } })).unwrap();
        let mut outputs = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended early");
            let line: Value = serde_json::from_str(&line).unwrap();
            if line["output"]["note"]["stale"]["gen"] == 0 {
                return outputs;
            }
            outputs.push((line["at"].as_u64().unwrap(), line["output"].clone()));
        }
    }

    fn run(mut self, answer: fn(&str, u64) -> Vec<(u64, Value)>) -> (usize, usize) {
        let mut now = 0;
        while now < DAY_MS {
            let due = self.later.first_key_value().map(|(key, _)| *key).filter(|(at, _)| *at <= now + STEP_MS);
            let input = if let Some(key) = due {
                now = now.max(key.0);
                self.later.remove(&key).unwrap()
            } else {
                now += STEP_MS;
                "tick".into()
            };
            for (at, output) in self.outputs(now, &input) {
                self.take(now, at, &output, answer);
            }
        }
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
        (self.identifies, self.dials)
    }

    fn take(&mut self, now: u64, at: u64, output: &Value, answer: fn(&str, u64) -> Vec<(u64, Value)>) {
        if output == "request_grant" {
            self.grants += 1;
            let free = self.last_identify.map_or(now, |last| now.max(last + 5_000));
            self.later(free, json!({ "granted": { "grant": self.grants } }));
            return;
        }
        let Some((kind, about)) = output.as_object().and_then(|output| output.iter().next()) else { return };
        let generation = about["gen"].as_u64().unwrap_or(0);
        match kind.as_str() {
            "connect" => self.dials += 1,
            "identify" => {
                assert!(self.last_identify.is_none_or(|last| at >= last + 5_000), "two within 5 s");
                self.last_identify = Some(at);
                self.identifies += 1;
            }
            _ => {}
        }
        for (delay, input) in answer(kind, generation) {
            self.later(now + delay, input);
        }
    }
}

fn healthy(kind: &str, generation: u64) -> Vec<(u64, Value)> {
    let about = |kind: &str| json!({ kind: { "gen": generation } });
    match kind {
        "connect" => {
            vec![(200, about("opened")), (201, json!({ "hello": { "gen": generation, "interval_ms": 41250 } }))]
        }
        "beat" => vec![(50, about("ack"))],
        "identify" => {
            let ready = json!({ "gen": generation, "session": "s", "resume_url": "wss://r", "seq": 1 });
            vec![(100, json!({ "ready": ready }))]
        }
        "resume" => vec![(100, about("resumed"))],
        _ => vec![],
    }
}

fn op9(generation: u64) -> Value {
    json!({ "op9": { "gen": generation, "resumable": false } })
}

#[test]
fn closed_with_1000_after_50_s_and_no_resume() {
    let new = json!({ "url": "wss://main", "seed": 1 });
    let (identifies, dials) = Day::start(&new).run(|kind, generation| match kind {
        "resume" => vec![(100, op9(generation))],
        "identify" => {
            let mut answers = healthy(kind, generation);
            answers.push((50_100, json!({ "closed": { "gen": generation, "code": 1000 } })));
            answers
        }
        _ => healthy(kind, generation),
    });
    assert!((110..=180).contains(&identifies), "{identifies} identifies");
    assert!(dials <= 360, "{dials} dials");
}

#[test]
fn closed_with_1000_after_50_s_and_every_resume_works() {
    let new = json!({ "url": "wss://main", "seed": 2 });
    let (identifies, dials) = Day::start(&new).run(|kind, generation| {
        let mut answers = healthy(kind, generation);
        if kind == "resume" || kind == "identify" {
            answers.push((50_100, json!({ "closed": { "gen": generation, "code": 1000 } })));
        }
        answers
    });
    assert_eq!(identifies, 1);
    assert!(dials <= 1_440, "{dials} dials");
}
