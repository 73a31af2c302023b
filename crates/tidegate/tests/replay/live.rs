//! A trace that is written while it runs: the next input depends on what came out.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::timeline::{Out, new};

/// How often the simulated world looks around; no less than it takes to answer.
const STEP: u64 = 50;
/// How long the platform takes to answer.
const ANSWER: u64 = 100;

/// A running `tidegate replay governor`.
struct Live {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Live {
    fn start(settings: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["replay", "governor"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        writeln!(stdin, "{}", new(settings)).unwrap();
        Self { child, stdin, stdout }
    }

    fn tell(&mut self, at: u64, input: &Value) {
        writeln!(self.stdin, "{}", json!({ "at": at, "input": input })).unwrap();
    }

    /// All that came out up to this moment: a question is answered last.
    fn outputs(&mut self, at: u64) -> Vec<Out> {
        self.tell(at, &"tick".into());
        self.tell(at, &json!({ "query": "peers" }));
        let mut outputs = Vec::new();
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "it ended early");
            let out = Out::parse(&line);
            if out.kind == "peers" {
                return outputs;
            }
            outputs.push(out);
        }
    }

    fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Somebody who writes an answer by editing one message.
pub(crate) struct Stream {
    pub(crate) message: u64,
    pub(crate) start: u64,
    pub(crate) edits: u64,
    /// From one edit to the next; by its number.
    pub(crate) gap: fn(u64) -> u64,
    /// Whether the gap begins only when the last edit was answered.
    pub(crate) awaits: bool,
    /// Whether the last edit is named final.
    pub(crate) named: bool,
    /// So many of its writes, the first ones, are sends.
    pub(crate) sends: u64,
    /// How long its client lets a write be held, where it says so. Refused, it comes back as told.
    pub(crate) hold_ms: Option<u64>,
}

impl Stream {
    /// Edits of one message, which are not awaited.
    pub(crate) fn new(message: u64, edits: u64, gap: fn(u64) -> u64) -> Self {
        Self { message, start: 500, edits, gap, awaits: false, named: false, sends: 0, hold_ms: None }
    }

    fn write(&self, ticket: u64, number: u64) -> Value {
        let method = if number <= self.sends { "sendMessage" } else { "editMessageText" };
        let mut write = json!({ "ticket": ticket, "method": method, "peer": "-5" });
        if number > self.sends {
            write["message"] = self.message.to_string().into();
        }
        if self.named && number == self.edits {
            write["class"] = "final".into();
        }
        if let Some(hold_ms) = self.hold_ms {
            write["max_hold_ms"] = hold_ms.into();
        }
        json!({ "write": write })
    }
}

/// One edit's way. One that was refused comes back under another ticket.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) ticket: u64,
    pub(crate) message: u64,
    pub(crate) asked: u64,
    /// When its text, or a newer one, left.
    pub(crate) out: Option<u64>,
}

/// What a group saw.
pub(crate) struct Seen {
    /// Every edit, in the order of asking.
    pub(crate) edits: Vec<Edit>,
    /// When each write left and was answered.
    pub(crate) sent: Vec<(u64, u64)>,
    /// The tickets that left themselves.
    pub(crate) tickets: Vec<u64>,
    /// How often a client was told to come back.
    pub(crate) refused: usize,
}

impl Seen {
    /// How long the last text of each stream waited.
    pub(crate) fn ends(&self) -> Vec<Option<u64>> {
        let mut last = BTreeMap::new();
        for edit in &self.edits {
            last.insert(edit.message, edit.out.map(|out| out - edit.asked));
        }
        last.into_values().collect()
    }

    /// The most writes that stood in any rolling minute, counted from release until a minute after the answer.
    pub(crate) fn most_in_a_minute(&self) -> usize {
        let standing = |now: u64| self.sent.iter().filter(|(out, answer)| *out <= now && now < answer + 60_000).count();
        self.sent.iter().map(|(out, _)| standing(*out)).max().unwrap_or(0)
    }
}

/// Where one stream is.
struct Place {
    next: Option<u64>,
    written: u64,
    waits_for: Option<u64>,
}

/// Runs streams in one group, after one first send.
pub(crate) fn streams(settings: &str, streams: &[Stream]) -> Seen {
    let mut live = Live::start(settings);
    let mut seen = Seen { edits: Vec::new(), sent: Vec::new(), tickets: Vec::new(), refused: 0 };
    let mut back: Vec<(u64, u64)> = Vec::new();
    let mut answers: Vec<(u64, u64)> = Vec::new();
    let mut newer: BTreeMap<u64, u64> = BTreeMap::new();
    let mut places: Vec<Place> =
        streams.iter().map(|stream| Place { next: Some(stream.start), written: 0, waits_for: None }).collect();
    live.tell(0, &json!({ "write": { "ticket": 1, "method": "sendMessage", "peer": "-5" } }));
    let mut ticket = 1;
    let mut now = 0;
    let mut quiet_since = 0;
    while now < quiet_since + 70_000 {
        for (_, ticket) in answers.extract_if(.., |(due, _)| *due <= now) {
            live.tell(now, &json!({ "done": { "ticket": ticket, "result": "ok" } }));
            free(streams, &mut places, ticket, now);
        }
        for (_, refused) in back.extract_if(.., |(due, _)| *due <= now) {
            ticket += 1;
            come_back(&mut live, &mut seen, streams, &mut places, (now, refused, ticket));
            quiet_since = now;
        }
        for (stream, place) in streams.iter().zip(&mut places) {
            if place.next.is_none_or(|next| next > now) {
                continue;
            }
            ticket += 1;
            place.written += 1;
            let last = place.written == stream.edits;
            live.tell(now, &stream.write(ticket, place.written));
            seen.edits.push(Edit { ticket, message: stream.message, asked: now, out: None });
            place.waits_for = stream.awaits.then_some(ticket);
            place.next = (!last && !stream.awaits).then(|| now + (stream.gap)(place.written));
            quiet_since = now;
        }
        for out in live.outputs(now) {
            match out.kind.as_str() {
                "send" => {
                    seen.sent.push((out.at, (out.at + ANSWER).next_multiple_of(STEP)));
                    seen.tickets.push(out.ticket);
                    answers.push(((out.at + ANSWER).next_multiple_of(STEP), out.ticket));
                }
                "superseded" => drop(newer.insert(out.ticket, out.value["by"].as_u64().unwrap())),
                "refuse" => {
                    seen.refused += 1;
                    let told_s = out.value["retry_after_ms"].as_u64().unwrap().div_ceil(1_000);
                    back.push((now + told_s * 1_000, out.ticket));
                }
                "drop" => free(streams, &mut places, out.ticket, now),
                other => panic!("{other}"),
            }
        }
        now += STEP;
    }
    live.end();
    settle(&mut seen, &newer);
    seen
}

/// A client comes back as told, where it has nothing newer to say of that message.
fn come_back(live: &mut Live, seen: &mut Seen, streams: &[Stream], places: &mut [Place], at: (u64, u64, u64)) {
    let (now, refused, ticket) = at;
    let Some(place) = seen.edits.iter().position(|edit| edit.ticket == refused) else { return };
    let message = seen.edits[place].message;
    let number = seen.edits[..=place].iter().filter(|edit| edit.message == message).count() as u64;
    let Some(stream) = streams.iter().position(|stream| stream.message == message) else { return };
    if places[stream].written > number {
        return;
    }
    live.tell(now, &streams[stream].write(ticket, number));
    seen.edits[place].ticket = ticket;
    if places[stream].waits_for == Some(refused) {
        places[stream].waits_for = Some(ticket);
    }
}

/// The client that waited for this ticket goes on.
fn free(streams: &[Stream], places: &mut [Place], ticket: u64, now: u64) {
    for (stream, place) in streams.iter().zip(places) {
        if place.waits_for == Some(ticket) {
            place.waits_for = None;
            place.next = (place.written < stream.edits).then(|| now + (stream.gap)(place.written));
        }
    }
}

/// Follows each text to the one that said it.
fn settle(seen: &mut Seen, newer: &BTreeMap<u64, u64>) {
    let out: BTreeMap<u64, u64> = seen.tickets.iter().copied().zip(seen.sent.iter().map(|(out, _)| *out)).collect();
    for edit in &mut seen.edits {
        let mut ticket = edit.ticket;
        while let Some(next) = newer.get(&ticket) {
            ticket = *next;
        }
        edit.out = out.get(&ticket).copied();
    }
}
