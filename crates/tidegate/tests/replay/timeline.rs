//! A short form of traces, so that a test reads as a timeline.
//!
//! The settings are one line: the policy, `instant`, `until=MS`, and changed cells (`edit_burst=2`). An input is a line
//! `AT KIND …`:
//!
//! ```text
//! 0 write 1-9 sendMessage -100 class=final message=$ hold=0     tickets 1 to 9; $ is the ticket
//! 0 done 1 ok          0 refused 1 5000 scope=bot        0 deferred 1 bot_second 3000       0 cancel 1
//! 0 cooldown peer 5000 peer=-100                         0 migrate -5 -100777               0 set edit_burst=2
//! 0 query counters     0 tick                   0 write 1 PATCH_/channels/5/messages/9 fields=content,embeds
//! ```
//!
//! An output is a line `AT KIND TICKETS …`, equal ones of tickets that follow each other on one line.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use expect_test::Expect;
use serde_json::{Map, Value, json};

/// One output.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub(crate) at: u64,
    pub(crate) kind: String,
    pub(crate) ticket: u64,
    pub(crate) value: Value,
}

impl Out {
    pub(crate) fn parse(line: &str) -> Self {
        let line: Value = serde_json::from_str(line).unwrap();
        let (kind, value) = line["output"].as_object().unwrap().iter().next().unwrap();
        let ticket = value["ticket"].as_u64().unwrap_or(0);
        Self { at: line["at"].as_u64().unwrap(), kind: kind.clone(), ticket, value: value.clone() }
    }

    pub(crate) fn word(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or("")
    }

    fn rest(&self) -> String {
        match self.kind.as_str() {
            "send" if self.value["held_ms"] == 0 => self.word("outcome").to_owned(),
            "send" => format!("{} {}", self.word("outcome"), self.value["held_ms"]),
            "drop" => self.word("reason").to_owned(),
            "superseded" => format!("by {}", self.value["by"]),
            "refuse" => format!("{} {}", self.word("reason"), self.value["retry_after_ms"]),
            "failed" => String::new(),
            _ => self.value.to_string(),
        }
    }
}

/// The first line of a trace.
pub(crate) fn new(settings: &str) -> Value {
    let mut words = settings.split_whitespace();
    let mut new = json!({ "policy": words.next().unwrap() });
    let mut set = Map::new();
    for word in words {
        match word.split_once('=') {
            None => new[word] = true.into(),
            Some(("until", ms)) => new["run_until"] = plain(ms),
            Some((key @ "auto", value)) => new[key] = plain(value),
            Some((path, value)) => drop(set.insert(path.to_owned(), plain(value))),
        }
    }
    new["set"] = Value::Object(set);
    json!({ "new": new })
}

fn plain(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// All lines of a trace that one line of the short form stands for.
fn inputs(line: &str) -> Vec<Value> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at: u64 = words[0].parse().unwrap();
    let named = |from: usize| words[from..].iter().filter_map(|word| word.split_once('='));
    let of = |input: Value| vec![json!({ "at": at, "input": input })];
    match words[1] {
        "tick" => of("tick".into()),
        "query" => of(json!({ "query": words[2] })),
        "set" => of(json!({ "set": named(2).map(|(k, v)| (k.to_owned(), plain(v))).collect::<Map<_, _>>() })),
        "migrate" => of(json!({ "migrate": { "from": words[2], "to": words[3] } })),
        "cooldown" => {
            let mut input = json!({ "scope": words[2], "for_ms": plain(words[3]) });
            named(4).for_each(|(key, value)| input[key] = value.into());
            of(json!({ "cooldown": input }))
        }
        kind => tickets(words[2])
            .map(|ticket| json!({ "at": at, "input": { kind: about(kind, ticket, &words[3..]) } }))
            .collect(),
    }
}

fn tickets(range: &str) -> std::ops::RangeInclusive<u64> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    first.parse().unwrap()..=last.parse().unwrap()
}

fn about(kind: &str, ticket: u64, words: &[&str]) -> Value {
    let mut input = json!({ "ticket": ticket });
    let keys: &[&str] = match kind {
        "write" => &["method", "peer"],
        "done" => &["result"],
        "refused" => &["retry_after_ms"],
        "deferred" => &["bucket", "until_ms"],
        "cancel" => &[],
        other => panic!("{other}"),
    };
    let mut keys = keys.iter();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or_else(|| (*keys.next().unwrap(), *word));
        let value = value.replace('$', &ticket.to_string());
        match key {
            "hold" => input["max_hold_ms"] = plain(&value),
            "fields" => input[key] = value.split(',').collect(),
            "method" => input[key] = value.replacen("_/", " /", 1).into(),
            "peer" | "message" => input[key] = value.into(),
            _ => input[key] = plain(&value),
        }
    }
    input
}

/// Runs a trace; its outputs in order.
pub(crate) fn run(settings: &str, trace: &str) -> Vec<Out> {
    let mut text = format!("{}\n", new(settings));
    for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
        for input in inputs(line) {
            writeln!(text, "{input}").unwrap();
        }
    }
    let (status, output, error) = replay("governor", &text);
    assert_eq!((status, error.as_str()), (Some(0), ""), "\n{text}");
    output.lines().map(Out::parse).collect()
}

/// Runs the program on these lines: its exit code, stdout and stderr.
pub(crate) fn replay(gate: &str, text: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(["replay", gate])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    // A program that has found a bad line reads no further.
    let writer = thread::spawn(move || drop(stdin.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The outputs in short form.
pub(crate) fn short(outputs: &[Out]) -> String {
    let mut lines: Vec<(u64, String, u64, u64, String)> = Vec::new();
    for out in outputs {
        match lines.last_mut() {
            Some((at, kind, _, last, rest))
                if (*at, *last + 1) == (out.at, out.ticket) && *kind == out.kind && *rest == out.rest() =>
            {
                *last += 1;
            }
            _ => lines.push((out.at, out.kind.clone(), out.ticket, out.ticket, out.rest())),
        }
    }
    let mut text = String::new();
    for (at, kind, first, last, rest) in lines {
        let tickets = match (first, last) {
            (0, _) => String::new(),
            (first, last) if first == last => format!(" {first}"),
            (first, last) => format!(" {first}-{last}"),
        };
        writeln!(text, "{}", format!("{at} {kind}{tickets} {rest}").trim_end()).unwrap();
    }
    text
}

/// Runs a trace and compares all that came out.
pub(crate) fn check(settings: &str, trace: &str, expected: &Expect) {
    expected.assert_eq(&short(&run(settings, trace)));
}

/// As [`check`], without how and after how long each write left: for writes that are tried again.
pub(crate) fn check_moments(settings: &str, trace: &str, expected: &Expect) {
    let mut outputs = run(settings, trace);
    for out in outputs.iter_mut().filter(|out| out.kind == "send") {
        out.value = json!({ "ticket": out.ticket, "outcome": "", "held_ms": 0 });
    }
    expected.assert_eq(&short(&outputs));
}
