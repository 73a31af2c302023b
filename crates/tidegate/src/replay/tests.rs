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
