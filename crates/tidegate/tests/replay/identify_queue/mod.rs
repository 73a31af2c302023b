//! The identify queue, line by line. Inputs are `AT KIND …`:
//!
//! ```text
//! 0 request 0     0 release 0 [grant=1] [unused]     0 identified 0 [grant=1]     0 tick
//! 0 refresh max_concurrency=1 remaining=9 reset_at_ms=0          0 deferred 0 grant=1 until_ms=9000
//! ```
//!
//! Outputs are `AT grant SHARD #NUMBER`, `AT deny SHARD until MS`, `AT waiting SHARD behind N`, `AT wake MS` and
//! `AT budget_low N`.

mod budget;
mod cases;
mod grants;
mod table;

use std::fmt::Write as _;

use expect_test::Expect;
use serde_json::{Value, json};

use crate::timeline::replay;

fn input(line: &str) -> Value {
    let mut words = line.split_whitespace();
    let at: u64 = words.next().unwrap().parse().unwrap();
    let kind = words.next().unwrap();
    let mut about = json!({});
    for word in words {
        match word.split_once('=') {
            Some((key, value)) => about[key] = serde_json::from_str(value).unwrap(),
            None if word.parse::<i64>().is_ok() => about["shard"] = serde_json::from_str(word).unwrap(),
            None => about[word] = true.into(),
        }
    }
    let input = if kind == "tick" { "tick".into() } else { json!({ kind: about }) };
    json!({ "at": at, "input": input })
}

fn short(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap();
    let (at, output) = (&line["at"], &line["output"]);
    let (kind, about) = output.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "grant" => format!("{at} grant {} #{}", about["shard"], about["grant"]),
        "deny" => format!("{at} deny {} until {}", about["shard"], about["refresh_at_ms"]),
        "wake" => format!("{at} wake {}", about["in_ms"]),
        "note" => match &about["waiting"] {
            Value::Null => format!("{at} budget_low {}", about["budget_low"]["remaining"]),
            waiting => format!("{at} waiting {} behind {}", waiting["shard"], waiting["behind"]),
        },
        other => panic!("{other}"),
    }
}

/// Runs a trace; its outputs in short form.
fn run(new: &Value, trace: &str) -> Vec<String> {
    let mut text = format!("{}\n", json!({ "new": new }));
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        writeln!(text, "{}", input(line)).unwrap();
    }
    let (status, output, error) = replay("identify-queue", &text);
    assert_eq!((status, error.as_str()), (Some(0), ""), "\n{text}");
    output.lines().map(short).collect()
}

/// Runs a trace and compares all that came out.
fn check(new: &Value, trace: &str, expected: &Expect) {
    expected.assert_eq(&run(new, trace).iter().fold(String::new(), |text, line| text + line + "\n"));
}

/// As [`check`], for the grants alone.
fn check_grants(new: &Value, trace: &str, expected: &Expect) {
    let grants = run(new, trace).into_iter().filter(|line| line.contains(" grant "));
    expected.assert_eq(&grants.fold(String::new(), |text, line| text + &line + "\n"));
}
