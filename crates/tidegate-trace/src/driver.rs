//! Moves one gate through a trace. What its lines mean is a [`Codec`]'s matter.

use std::fmt::Debug;
use std::io::{self, BufRead, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tidegate_core::{Gate, Time};

use super::line::{First, Moment, Outcome, Pace, Timed, told};
use crate::cut;
use crate::error::ReplayError;

/// So often may a gate ask to be called again at one moment: more than it can hold.
const MOST_CALLS_AT_ONCE: u32 = 20_000;

/// How one gate's lines are read and written.
pub(super) trait Codec: Sized {
    /// The gate.
    type Gate: Gate;
    /// An input as its line has it.
    type Input: DeserializeOwned;
    /// An output as its line has it.
    type Output: Serialize;

    /// A new gate with these settings.
    fn create(settings: Map<String, Value>) -> Result<(Self, Self::Gate), String>;
    /// What the gate is told.
    fn decode(&mut self, input: Self::Input) -> Result<<Self::Gate as Gate>::Input, String>;
    /// Whether the gate, as it is at the input's moment, takes it at all.
    fn check(&self, _gate: &Self::Gate, _input: &<Self::Gate as Gate>::Input) -> Result<(), String> {
        Ok(())
    }
    /// Whether a timeout due at the same moment is handled before this input.
    fn after_timeout(&self, input: &<Self::Gate as Gate>::Input) -> bool;
    /// What the gate answered.
    fn encode(&self, output: <Self::Gate as Gate>::Output) -> Self::Output;
}

/// Replays a whole trace.
pub(super) fn replay<C: Codec>(mut input: impl BufRead, output: impl Write) -> Result<(), ReplayError>
where
    <C::Gate as Gate>::Reason: Debug,
{
    let mut text = String::new();
    let mut number = 0;
    if !next_line(&mut input, &mut text, &mut number)? {
        return Err(ReplayError::Input { line: 1, reason: "expected {\"new\":{…}}, found nothing".to_owned() });
    }
    let wrong = |line: u64| move |reason: String| ReplayError::Input { line, reason };
    let (mut replay, run_until) = Replay::<C, _>::new(&text, output).map_err(wrong(number))?;
    while next_line(&mut input, &mut text, &mut number)? {
        let timed: Timed<C::Input> = serde_json::from_str(&text)
            .map_err(|error| wrong(number)(format!("expected {{\"at\":MS,\"input\":…}}: {}", told(&error))))?;
        let input = replay.codec.decode(timed.input).map_err(|reason| wrong(number)(cut::message(&reason)))?;
        // A trace whose clock steps back is taken as a gate takes it: time stands until the trace has caught up.
        replay.take(number, timed.at.0.max(replay.now), input)?;
        replay.output.flush()?;
    }
    if let Some(Moment(end)) = run_until {
        replay.advance(end, true)?;
    }
    replay.output.flush()?;
    Ok(())
}

/// Reads on to the next line that is not blank; whether there was one.
fn next_line(input: &mut impl BufRead, text: &mut String, number: &mut u64) -> Result<bool, ReplayError> {
    loop {
        text.clear();
        *number += 1;
        match input.read_line(text) {
            Ok(0) => return Ok(false),
            Ok(_) => {
                // Editors of some systems mark a file's encoding so.
                if *number == 1 && text.starts_with('\u{feff}') {
                    text.remove(0);
                }
                if !text.trim().is_empty() {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(ReplayError::Input { line: *number, reason: "expected UTF-8".to_owned() });
            }
            Err(error) => return Err(error.into()),
        }
    }
}

struct Replay<C: Codec, W> {
    codec: C,
    gate: C::Gate,
    output: W,
    now: u64,
    auto: bool,
}

impl<C: Codec, W: Write> Replay<C, W>
where
    <C::Gate as Gate>::Reason: Debug,
{
    fn new(text: &str, output: W) -> Result<(Self, Option<Moment>), String> {
        let First { new } =
            serde_json::from_str(text).map_err(|error| format!("expected {{\"new\":{{…}}}}: {}", told(&error)))?;
        let (pace, settings) = Pace::split(new)?;
        let (codec, gate) = C::create(settings).map_err(|reason| format!("new: {}", cut::message(&reason)))?;
        Ok((Self { codec, gate, output, now: 0, auto: pace.auto }, pace.run_until))
    }

    fn take(&mut self, line: u64, at: u64, input: <C::Gate as Gate>::Input) -> Result<(), ReplayError> {
        let after_timeout = self.codec.after_timeout(&input);
        self.advance(at, after_timeout)?;
        if let Err(reason) = self.codec.check(&self.gate, &input) {
            self.output.flush()?;
            return Err(ReplayError::Input { line, reason });
        }
        self.handle(at, input)
    }

    /// Calls the gate whenever it asked for it, until `end` (or, unless `inclusive`, until just before it).
    fn advance(&mut self, end: u64, inclusive: bool) -> Result<(), ReplayError> {
        let mut calls_at_once = 0;
        while self.auto
            && let Some((due, reason)) = self.gate.poll_timeout()
        {
            let due = due.as_millis_ceil().max(self.now);
            if due > end || (due == end && !inclusive) {
                break;
            }
            calls_at_once = if due == self.now { calls_at_once + 1 } else { 1 };
            if calls_at_once > MOST_CALLS_AT_ONCE {
                self.output.flush()?;
                return Err(ReplayError::Stuck { at: due, reason: format!("{reason:?}") });
            }
            self.handle(due, C::Gate::tick())?;
        }
        Ok(())
    }

    fn handle(&mut self, at: u64, input: <C::Gate as Gate>::Input) -> Result<(), ReplayError> {
        self.now = at;
        self.gate.handle(Time::from_millis(at), input);
        while let Some(output) = self.gate.poll_output() {
            let line = Outcome { at, output: self.codec.encode(output) };
            serde_json::to_writer(&mut self.output, &line).map_err(io::Error::from)?;
            self.output.write_all(b"\n")?;
        }
        Ok(())
    }
}
