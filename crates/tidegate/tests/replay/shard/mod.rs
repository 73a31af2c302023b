//! The shard, line by line. Inputs are `AT WORD` or `AT KIND key=value …`; outputs are `AT KIND key=value …`, as they
//! come.

mod days;
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
        let (key, value) = word.split_once('=').unwrap();
        about[key] = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    let bare = about.as_object().is_some_and(serde_json::Map::is_empty);
    json!({ "at": at, "input": if bare { kind.into() } else { json!({ kind: about }) } })
}

fn short(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap();
    let (at, output) = (&line["at"], &line["output"]);
    match output.as_object() {
        None => format!("{at} {}", output.as_str().unwrap()),
        Some(output) => {
            let (kind, about) = output.iter().next().unwrap();
            let about = about.as_object().map_or_else(
                || format!(" {about}"),
                |about| about.iter().fold(String::new(), |text, (key, value)| text + &format!(" {key}={value}")),
            );
            format!("{at} {kind}{}", about.replace('"', ""))
        }
    }
}

/// Runs a trace; its outputs in short form.
fn run(new: &Value, trace: &str) -> Vec<String> {
    let mut text = format!("{}\n", json!({ "new": new }));
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        writeln!(text, "{}", input(line)).unwrap();
    }
    let (status, output, error) = replay("shard", &text);
    assert_eq!((status, error.as_str()), (Some(0), ""), "\n{text}");
    output.lines().map(short).collect()
}

/// Every draw is the highest, so that waits are whole steps; one session is written down.
fn whole_steps() -> Value {
    json!({
        "url": "wss://main", "seed": 1, "jitter": [1, 1], "invalid_session_wait_ms": [3000, 3000],
        "session": { "id": "s", "seq": 1, "resume_url": "wss://r", "backoff_step": 0, "at": 0 },
    })
}

/// Runs a trace and compares all that came out.
fn check(new: &Value, trace: &str, expected: &Expect) {
    expected.assert_eq(&run(new, trace).iter().fold(String::new(), |text, line| text + line + "\n"));
}
