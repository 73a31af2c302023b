//! Writing down what a running tidegate's gates were told and what they said, in the format that `tidegate replay bot`
//! reads. Payloads, tokens, session ids and resume paths are not in it: hashes stand for them.

mod first;
mod input;
mod mask;

#[cfg(test)]
mod tests;

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};
use tidegate_core::Time;
use tidegate_core::bot::{BotOutput, Input, Output, Settings};
use tidegate_core::identify_queue::SessionStartLimit;

use super::bot::output_line;
use super::line::Outcome;

/// Bytes of one bot's trace, inputs and outputs together. What comes later is not written down.
const LARGEST: u64 = 256 << 20;

/// One bot's trace: `NAME.jsonl`, to be fed to `tidegate replay bot`, and `NAME.out.jsonl`, what it has to print then.
pub struct Recorder {
    inputs: BufWriter<File>,
    outputs: BufWriter<File>,
    written: u64,
    /// Something went wrong, or it is full: nothing more is written.
    over: bool,
}

impl Recorder {
    /// Whether traces can be begun in `folder`, which is made where it is missing.
    pub fn try_out(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let file = folder.join(format!(".tidegate-{}", std::process::id()));
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&file)?;
        std::fs::remove_file(file)
    }

    /// Begins a trace in `folder`, which is made where it is missing.
    pub fn begin(folder: &Path, name: &str, settings: &Settings, limit: SessionStartLimit) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let open = |name: String| OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(name));
        let mut recorder = Self {
            inputs: BufWriter::new(open(format!("{name}.jsonl"))?),
            outputs: BufWriter::new(open(format!("{name}.out.jsonl"))?),
            written: 0,
            over: false,
        };
        recorder.write(false, &json!({"new": first::first(settings, limit)}).to_string());
        recorder.flush();
        Ok(recorder)
    }

    /// The gates are about to be told something.
    pub fn input(&mut self, now: Time, input: &Input<Bytes>) {
        if !self.over {
            let line = json!({"at": now.as_micros() / 1000, "input": input::input(input)});
            self.write(false, &line.to_string());
        }
    }

    /// The gates said something.
    pub fn output(&mut self, now: Time, output: &Output<Bytes>) {
        if self.over {
            return;
        }
        let output = output_line(BotOutput::Gateway(mask::output(output)));
        match serde_json::to_string(&Outcome { at: now.as_micros() / 1000, output }) {
            Ok(line) => self.write(true, &line),
            Err(error) => self.end(&error.into()),
        }
    }

    /// Hands what was written to the system, so that a kill loses none of it.
    pub fn flush(&mut self) {
        if self.over {
            return;
        }
        if let Err(error) = self.inputs.flush().and_then(|()| self.outputs.flush()) {
            self.end(&error);
        }
    }

    fn write(&mut self, is_output: bool, line: &str) {
        self.written += line.len() as u64 + 1;
        if self.written > LARGEST {
            self.flush();
            return self.end(&io::Error::other("the trace is as large as it may be"));
        }
        let file = if is_output { &mut self.outputs } else { &mut self.inputs };
        if let Err(error) = writeln!(file, "{line}") {
            self.end(&error);
        }
    }

    fn end(&mut self, error: &io::Error) {
        self.over = true;
        tracing::error!(%error, "the trace ends here (record.dir)");
    }
}

/// What a trace has in the place of a payload.
fn stand_in(what: &[u8]) -> Value {
    Value::String(format!("{:016x}", keyed(what)))
}

/// Keyed anew in every process: equal values are seen to be equal within a trace, and nothing else is told.
fn keyed(what: impl Hash) -> u64 {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(what)
}
