//! The send queue, line by line. Inputs are `AT KIND …`:
//!
//! ```text
//! 0 command 1-9 3 [120]     0 members 1 g [one] [80]     0 subscribe g SNAPSHOT     0 direct 1     0 tick
//! 0 rate_limited g 5000 [opcode=8]     0 closed 4008     0 opened     0 ready     0 resumed
//! 0 voice 1 g     0 ack     0 answered 1
//! ```
//!
//! Outputs are `AT send ID`, `AT send {map}`, `AT refused WHAT REASON`, `AT dropped ID REASON` and `AT close CODE`; equal
//! ones of numbers that follow each other stand on one line.

mod cases;
mod commands;
mod connections;
mod format;
mod owed;
mod subscriptions;
mod table;

use std::fmt::Write as _;

use expect_test::Expect;
use serde_json::{Value, json};

use crate::timeline::replay;

/// One output.
struct Out {
    at: u64,
    /// The command that went.
    command: Option<u64>,
    /// The map that went.
    map: Option<String>,
    text: String,
}

impl Out {
    fn parse(line: &str) -> Self {
        let parsed: Value = serde_json::from_str(line).unwrap();
        let at = parsed["at"].as_u64().unwrap();
        let (kind, about) = parsed["output"].as_object().unwrap().iter().next().unwrap();
        let command = about["command"]["id"].as_u64();
        // As it stands there: a parsed map forgets its order.
        let map = line.split_once(r#""subscriptions":"#).map(|(_, map)| map.strip_suffix("}}}").unwrap().to_owned());
        let what = if about["id"].is_null() { &about["guild"] } else { &about["id"] };
        let text = match kind.as_str() {
            "send" => map.clone().or(command.map(|id| id.to_string())).unwrap(),
            "close" => about["code"].to_string(),
            _ => format!("{what} {}", about["reason"].as_str().unwrap()),
        };
        Self { at, command, map, text: format!("{kind} {text}") }
    }
}

fn input(line: &str) -> Vec<Value> {
    let (at, rest) = line.split_once(' ').unwrap();
    let at: u64 = at.parse().unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let number = |word: usize, missing: u64| words.get(word).map_or(missing, |word| word.parse().unwrap());
    let of = |input: Value| vec![json!({ "at": at, "input": input })];
    match words[0] {
        "command" => {
            let (first, last) = words[1].split_once('-').unwrap_or((words[1], words[1]));
            let ids = first.parse::<u64>().unwrap()..=last.parse().unwrap();
            let about = |id| json!({ "command": { "id": id, "op": number(2, 4), "bytes": number(3, 120) } });
            ids.map(|id| json!({ "at": at, "input": about(id) })).collect()
        }
        "voice" => of(json!({ "command": { "id": number(1, 0), "op": 4, "guild": words[2], "bytes": 80 } })),
        "answered" => of(json!({ "answered": { "id": number(1, 0) } })),
        "members" => {
            let all = words.get(3).is_none_or(|word| *word != "one");
            of(json!({ "members_request": { "id": number(1, 0), "guild": words[2], "all": all, "bytes": 80 } }))
        }
        "subscribe" => {
            let snapshot: Value = serde_json::from_str(rest.splitn(3, ' ').nth(2).unwrap()).unwrap();
            of(json!({ "subscribe": { "guild": words[1], "snapshot": snapshot } }))
        }
        "direct" => of(json!({ "direct": { "op": number(1, 1) } })),
        "rate_limited" => {
            let opcode: u64 = words.get(3).map_or(8, |word| word.strip_prefix("opcode=").unwrap().parse().unwrap());
            of(json!({ "rate_limited": { "opcode": opcode, "guild": words[1], "retry_after_ms": number(2, 0) } }))
        }
        "closed" => of(json!({ "closed": { "code": words.get(1).map(|code| code.parse::<u16>().unwrap()) } })),
        other => of(other.into()),
    }
}

/// Runs a trace.
fn run(new: &Value, trace: &str) -> Vec<Out> {
    let mut text = format!("{}\n", json!({ "new": new }));
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        for input in input(line) {
            writeln!(text, "{input}").unwrap();
        }
    }
    let (status, output, error) = replay("send-queue", &text);
    assert_eq!((status, error.as_str()), (Some(0), ""));
    output.lines().map(Out::parse).collect()
}

/// The outputs in short form.
fn short(outputs: &[Out]) -> String {
    let mut text = String::new();
    let mut rest = outputs;
    while let Some((out, mut after)) = rest.split_first() {
        let mut last = out.command;
        while let Some((next, more)) = after.split_first() {
            if last.is_none() || next.at != out.at || next.command != last.map(|id| id + 1) {
                break;
            }
            (last, after) = (next.command, more);
        }
        match last.filter(|last| Some(*last) != out.command) {
            Some(last) => writeln!(text, "{} {}-{last}", out.at, out.text).unwrap(),
            None => writeln!(text, "{} {}", out.at, out.text).unwrap(),
        }
        rest = after;
    }
    text
}

/// Runs a trace and compares all that came out.
fn check(new: &Value, trace: &str, expected: &Expect) {
    expected.assert_eq(&short(&run(new, trace)));
}

/// The most moments that lie in any rolling minute.
fn worst_minute(mut moments: Vec<u64>) -> usize {
    moments.sort_unstable();
    let within = |last: &u64| moments.iter().filter(|at| **at <= *last && **at + 60_000 > *last).count();
    moments.iter().map(within).max().unwrap_or(0)
}
