//! The composite, line by line. An input is `AT WHO KIND key=value …`; who is a shard (`0/4`), its send queue (`0/4.send`), or
//! a name of the format (`identify_queue`, `governor`, `open`, …). Outputs are shown the same way, but for the identify
//! queue's wakes, which say nothing that its timeouts do not.

mod cases;

use std::fmt::Write as _;

use expect_test::Expect;
use serde_json::{Value, json};

use crate::timeline::replay;

fn pair(text: &str) -> Value {
    let (id, count) = text.split_once('/').unwrap();
    json!([id.parse::<u32>().unwrap(), count.parse::<u32>().unwrap()])
}

fn input(line: &str) -> Value {
    let mut words = line.split_whitespace();
    let at: u64 = words.next().unwrap().parse().unwrap();
    let who = words.next().unwrap();
    let kind = words.next();
    let mut about = json!({});
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        about[key] = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    let bare = about.as_object().is_some_and(serde_json::Map::is_empty);
    let told = kind.map(|kind| if bare { json!(kind) } else { json!({ kind: about }) });
    let input = match (who, told) {
        (who, None) => json!(who),
        ("open", _) => json!({ "open": pair(kind.unwrap()) }),
        ("forget", _) => json!({ "forget": { "shard": pair(kind.unwrap()) } }),
        ("identify_queue" | "governor", Some(told)) => json!({ who: told }),
        (who, Some(told)) => match who.strip_suffix(".send") {
            Some(shard) => json!({ "send_queue": { "shard": pair(shard), "input": told } }),
            None => json!({ "shard": { "shard": pair(who), "input": told } }),
        },
    };
    json!({ "at": at, "input": input })
}

fn short(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).unwrap();
    let (gate, said) = line["output"].as_object().unwrap().iter().next().unwrap();
    let of = || format!("{}/{}", said["shard"][0], said["shard"][1]);
    let (who, output) = match gate.as_str() {
        "shard" => (of(), &said["output"]),
        "send_queue" => (of() + ".send", &said["output"]),
        "not_opened" => (of(), &line["output"]),
        _ => (gate.clone(), said),
    };
    if output.get("wake").is_some() {
        return None;
    }
    Some(format!("{} {who} {}", line["at"], output.to_string().replace(['"', '{', '}'], "").replace(':', " ")))
}

fn run(new: &Value, trace: &str) -> String {
    let mut text = format!("{}\n", json!({ "new": new }));
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        writeln!(text, "{}", input(line)).unwrap();
    }
    let (status, output, error) = replay("bot", &text);
    assert_eq!((status, error.as_str()), (Some(0), ""), "\n{text}");
    output.lines().filter_map(short).fold(String::new(), |text, line| text + &line + "\n")
}

/// Runs a trace and compares all that came out.
fn check(new: &Value, trace: &str, expected: &Expect) {
    expected.assert_eq(&run(new, trace));
}
