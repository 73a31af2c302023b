//! The driver with a gate of its own, and what is said of bad traces.

use std::io::Cursor;

use serde_json::{Map, Value};
use tidegate_core::{Gate, Span, Time};

use super::driver::{self, Codec};
use super::{ReplayError, replay};

/// Rings `times` times, `gap` µs apart, after each "ring"; for ever at one moment where the gap is 0.
struct Bell {
    gap: Span,
    due: Option<Time>,
    left: u64,
    rung: u64,
    out: Vec<u64>,
}

#[derive(Clone, Copy)]
enum BellInput {
    Ring,
    Late,
    Tick,
}

impl Gate for Bell {
    type Input = BellInput;
    type Output = u64;
    type Reason = &'static str;

    fn tick() -> BellInput {
        BellInput::Tick
    }

    fn handle(&mut self, now: Time, input: BellInput) {
        match input {
            BellInput::Ring | BellInput::Late => self.due = Some(now + self.gap),
            BellInput::Tick if self.due.is_some_and(|due| due <= now) => {
                if self.gap.is_zero() {
                    return;
                }
                self.rung += 1;
                self.out.push(self.rung);
                self.left -= 1;
                self.due = (self.left > 0).then(|| now + self.gap);
            }
            BellInput::Tick => {}
        }
    }

    fn poll_output(&mut self) -> Option<u64> {
        self.out.pop()
    }

    fn poll_timeout(&self) -> Option<(Time, &'static str)> {
        self.due.map(|due| (due, "ring"))
    }

    fn check_invariants(&self) {}
}

struct BellCodec;

impl Codec for BellCodec {
    type Gate = Bell;
    type Input = String;
    type Output = u64;

    fn create(settings: Map<String, Value>) -> Result<(Self, Bell), String> {
        let number = |key: &str| settings.get(key).and_then(Value::as_u64).ok_or_else(|| format!("no {key}"));
        let gap = Span::from_micros(number("gap_us")?);
        Ok((Self, Bell { gap, due: None, left: number("times")?, rung: 0, out: Vec::new() }))
    }

    fn decode(&mut self, input: String) -> Result<BellInput, String> {
        Ok(match input.as_str() {
            "ring" => BellInput::Ring,
            "late" => BellInput::Late,
            _ => BellInput::Tick,
        })
    }

    fn after_timeout(&self, input: &BellInput) -> bool {
        !matches!(input, BellInput::Late)
    }

    fn encode(&self, output: u64) -> u64 {
        output
    }
}

fn bell(lines: &[&str]) -> (String, Option<ReplayError>) {
    let mut output = Vec::new();
    let result = driver::replay::<BellCodec>(Cursor::new(lines.join("\n")), &mut output);
    (String::from_utf8(output).unwrap(), result.err())
}

#[test]
fn a_fraction_of_a_millisecond_rounds_up_and_the_gate_is_called_then() {
    let new = r#"{"new":{"gap_us":1500,"times":3,"run_until":100}}"#;
    let (output, error) = bell(&[new, r#"{"at":10,"input":"ring"}"#]);
    assert!(error.is_none());
    // 11.5 is called at 12; the next is due 1.5 ms after that.
    assert_eq!(output, "{\"at\":12,\"output\":1}\n{\"at\":14,\"output\":2}\n{\"at\":16,\"output\":3}\n");
}

#[test]
fn what_is_due_at_an_inputs_moment_comes_first_unless_the_gate_says_otherwise() {
    let new = r#"{"new":{"gap_us":5000,"times":9}}"#;
    let (output, _) = bell(&[new, r#"{"at":0,"input":"ring"}"#, r#"{"at":5,"input":"ring"}"#]);
    assert_eq!(output, "{\"at\":5,\"output\":1}\n");
    let (output, _) = bell(&[new, r#"{"at":0,"input":"ring"}"#, r#"{"at":5,"input":"late"}"#]);
    assert_eq!(output, "");
}

#[test]
fn without_auto_time_moves_by_inputs_only() {
    let new = r#"{"new":{"gap_us":5000,"times":2,"auto":false,"run_until":90}}"#;
    let (output, error) = bell(&[new, r#"{"at":0,"input":"ring"}"#, r#"{"at":60,"input":"tick"}"#]);
    assert!(error.is_none());
    assert_eq!(output, "{\"at\":60,\"output\":1}\n");
}

#[test]
fn time_that_steps_back_is_held_to_the_last() {
    let new = r#"{"new":{"gap_us":5000,"times":1,"run_until":90}}"#;
    let (output, _) = bell(&[new, r#"{"at":50,"input":"tick"}"#, "", r#"{"at":20,"input":"ring"}"#]);
    assert_eq!(output, "{\"at\":55,\"output\":1}\n");
}

#[test]
fn a_gate_that_asks_for_one_moment_without_end_is_a_failure() {
    let new = r#"{"new":{"gap_us":0,"times":1,"run_until":90}}"#;
    let (_, error) = bell(&[new, r#"{"at":7,"input":"ring"}"#]);
    assert!(matches!(error, Some(ReplayError::Stuck { at: 7, .. })), "{error:?}");
}

fn told(lines: &[&str]) -> String {
    let error = replay("governor", Cursor::new(lines.join("\n")), Vec::new()).unwrap_err();
    error.to_string()
}

#[test]
fn bad_lines_are_told_by_number_and_by_what_was_expected() {
    let new = r#"{"new":{}}"#;
    let cases: [(&[&str], &str); 13] = [
        (&[], "line 1: expected {\"new\":{…}}, found nothing"),
        (&[r#"{"at":0,"input":"tick"}"#], "line 1: expected {\"new\":{…}}: unknown field `at`, expected `new`"),
        (&[r#"{"new":{"polcy":"telegram"}}"#], "line 1: new: unknown field `polcy`"),
        (&[r#"{"new":{"policy":"telegran"}}"#], "line 1: new: there is no policy \"telegran\"; there are telegram"),
        (&[r#"{"new":{"set":{"no.such":1}}}"#], "line 1: new: set: "),
        (&[r#"{"new":{"auto":3}}"#], "line 1: new: invalid type: integer `3`, expected a boolean"),
        (&[new, "", "{"], "line 3: expected {\"at\":MS,\"input\":…}: EOF while parsing an object"),
        (
            &[new, r#"{"at":-1,"input":"tick"}"#],
            "line 2: expected {\"at\":MS,\"input\":…}: invalid type: integer `-1`, \
          expected a number of milliseconds, 0 or more",
        ),
        (&[new, r#"{"at":0,"input":"tock"}"#], "unknown variant `tock`, expected one of `write`, `done`"),
        (&[new, r#"{"at":0,"input":{"write":{"method":"x"}}}"#], "missing field `ticket`"),
        (&[new, r#"{"at":0,"input":{"write":{"ticket":1,"method":"x","clas":"final"}}}"#], "unknown field `clas`"),
        (
            &[new, r#"{"at":0,"input":{"write":{"ticket":1,"method":"x","class":"last"}}}"#],
            "class: \"last\" is none of",
        ),
        (&[new, r#"{"at":0,"input":{"cooldown":{"scope":"peer","for_ms":1}}}"#], "peer with \"peer\""),
    ];
    for (lines, expected) in cases {
        let told = told(lines);
        assert!(told.contains(expected), "{lines:?}\n told {told}\n not  {expected}");
    }
}

#[test]
fn an_unknown_gate_is_named_with_the_known_ones() {
    let error = replay("gouvernor", Cursor::new(""), Vec::new()).unwrap_err();
    let told = "there is no gate \"gouvernor\"; there are bot, governor, identify-queue, send-queue, shard";
    assert_eq!(error.to_string(), told);
}

#[test]
fn a_moment_that_no_clock_shows_is_told_whatever_the_gate() {
    for gate in super::error::GATES {
        let at = |at: &str, until: &str| {
            let trace = format!("{{\"new\":{{\"run_until\":{until}}}}}\n{{\"at\":{at},\"input\":\"tick\"}}");
            replay(gate, Cursor::new(trace), Vec::new()).map_err(|error| error.to_string())
        };
        assert_eq!(at("18446744073709551", "5"), Ok(()), "{gate}");
        for late in ["18446744073709552", "18446744073709551615", "1e300"] {
            let told = at(late, "5").unwrap_err();
            let expected = "expected a number of milliseconds, at most 18446744073709551";
            assert!(told.starts_with("line 2: ") && told.contains(expected), "{gate}: {told}");
            let told = at("5", late).unwrap_err();
            assert!(told.starts_with("line 1: new: ") && told.contains(expected), "{gate}: {told}");
        }
    }
}

#[test]
fn an_encoding_mark_is_passed_over_at_the_start_alone() {
    let new = "\u{feff}{\"new\":{}}";
    for gate in super::error::GATES {
        replay(gate, Cursor::new(format!("{new}\n{{\"at\":0,\"input\":\"tick\"}}")), Vec::new()).unwrap();
        let error = replay(gate, Cursor::new(format!("{{\"new\":{{}}}}\n{new}")), Vec::new()).unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
    }
}

#[test]
fn a_word_of_megabytes_is_quoted_by_its_beginning() {
    let long = "y".repeat(5_000_000);
    for gate in super::error::GATES {
        let lines = [
            long.clone(),
            format!("{{\"new\":{{\"{long}\":1}}}}"),
            format!("{{\"new\":{{}}}}\n{{\"at\":0,\"input\":\"{long}\"}}"),
            format!("{{\"new\":{{}}}}\n{{\"at\":\"{long}\",\"input\":\"tick\"}}"),
        ];
        for line in lines {
            let told = replay(gate, Cursor::new(line), Vec::new()).unwrap_err().to_string();
            assert!(told.len() < 2_100 && !told.contains(&"y".repeat(121)), "{gate}: {told}");
        }
    }
    for new in [format!("{{\"policy\":\"{long}\"}}"), format!("{{\"set\":{{\"{long}.a\":1}}}}")] {
        let told = told(&[&format!("{{\"new\":{new}}}")]);
        assert!(told.len() < 2_100, "{} characters", told.len());
    }
}

#[test]
fn a_ticket_in_use_is_told_and_free_again_after_its_end() {
    let new = r#"{"new":{}}"#;
    let write = |at: u64, method: &str, hold: u64| {
        format!(r#"{{"at":{at},"input":{{"write":{{"ticket":7,"method":"{method}","peer":5,"max_hold_ms":{hold}}}}}}}"#)
    };
    let done = r#"{"at":1,"input":{"done":{"ticket":7,"result":"ok"}}}"#;
    let (first, again) = (write(0, "sendMessage", 0), write(2, "sendMessage", 0));
    let told =
        |lines: &[&str]| replay("governor", Cursor::new(lines.join("\n")), Vec::new()).map_err(|e| e.to_string());
    let expected =
        "line 3: write: ticket 7 is still held or in flight: expected one that is not, or its \"done\" first";
    assert_eq!(told(&[new, &first, &again]), Err(expected.to_owned()));
    assert_eq!(told(&[new, &first, done, &again]), Ok(()));
    // Instant answers end a write at once; a bypass is in flight as any other.
    assert_eq!(told(&[r#"{"new":{"instant":true}}"#, &first, &again]), Ok(()));
    assert_eq!(told(&[new, &write(0, "getChat", 0), &again]), Err(expected.to_owned()));
    // What ends before the line's own moment is over.
    let cool = r#"{"at":0,"input":{"cooldown":{"scope":"peer","peer":5,"for_ms":1000}}}"#;
    let probe = r#"{"at":0,"input":{"cooldown":{"scope":"peer","peer":5,"for_ms":9000}}}"#;
    let held = write(0, "sendMessage", 2_000);
    assert!(told(&[new, cool, &held, &write(500, "getMe", 0)]).unwrap_err().starts_with("line 4: write: ticket 7"));
    assert_eq!(told(&[new, probe, &held, &write(0, "sendMessage", 0)]), Ok(()));
    let of_bot = |line: &str| line.replace("\"input\":", "\"input\":{\"governor\":") + "}";
    let lines = [new.to_owned(), of_bot(&first), of_bot(&again)].join("\n");
    let told = replay("bot", Cursor::new(lines), Vec::new()).unwrap_err().to_string();
    assert!(told.starts_with("line 3: governor: write: ticket 7 is still held"), "{told}");
}

#[test]
fn a_shard_outside_its_count_and_a_period_of_nothing_are_told() {
    for shard in ["[5,2]", "[2,2]", "[0,0]"] {
        let told = |gate: &str, trace: &str| {
            let trace = trace.replace("SHARD", shard);
            replay(gate, Cursor::new(trace), Vec::new()).unwrap_err().to_string()
        };
        for (gate, trace, expected) in [
            (
                "shard",
                r#"{"new":{"shard":SHARD}}"#,
                "line 1: new: SHARD is no shard: expected [ID,COUNT] with an id below",
            ),
            ("bot", r#"{"new":{"shards":[SHARD]}}"#, "line 1: new: expected a shard as [ID,COUNT]"),
            ("bot", r#"{"new":{"shards":[{"shard":SHARD}]}}"#, "line 1: new: expected a shard as [ID,COUNT]"),
            ("bot", "{\"new\":{}}\n{\"at\":0,\"input\":{\"open\":SHARD}}", "expected a shard as [ID,COUNT]"),
            ("bot", "{\"new\":{}}\n{\"at\":0,\"input\":{\"forget\":{\"shard\":SHARD}}}", "line 2: "),
        ] {
            let told = told(gate, trace);
            assert!(told.contains(&expected.replace("SHARD", shard)), "{trace}: {told}");
        }
    }
    for (gate, new, expected) in [
        ("send-queue", r#"{"new":{"period_ms":0}}"#, "line 1: new: period_ms: expected 1 or more"),
        ("bot", r#"{"new":{"send_queue":{"period_ms":0}}}"#, "line 1: new: send_queue: period_ms: expected 1 or more"),
    ] {
        let error = replay(gate, Cursor::new(new), Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
