//! `tidegate replay GATE`: feeds a pure gate from a trace of JSON lines and writes down all that it does.
//!
//! The first line is `{"new":{…}}`, each further one `{"at":MS,"input":…}`; each output is one line
//! `{"at":MS,"output":…}`. Between two inputs time moves to each moment at which the gate asked to be called.

mod bot;
mod driver;
mod governor;
mod identify_queue;
mod line;
mod record;
mod send_queue;
mod shard;

#[cfg(test)]
mod tests;

pub(crate) use self::record::Recorder;
pub(crate) use self::send_queue::output::{dropped, refused};
pub(crate) use self::shard::output::{ended, stopped, waits};

use std::fmt;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use crate::cut;

/// The gates that can be replayed.
const GATES: [&str; 5] = ["bot", "governor", "identify-queue", "send-queue", "shard"];

/// Why a replay ended early.
#[derive(Debug)]
pub(crate) enum ReplayError {
    /// There is no such gate.
    Gate(String),
    /// A line is not what it should be.
    Input {
        /// Its number, from 1.
        line: u64,
        /// What was expected.
        reason: String,
    },
    /// A gate that asks for the same moment without end.
    Stuck {
        /// The moment, in milliseconds.
        at: u64,
        /// Why it wants to be called.
        reason: String,
    },
    /// The trace could not be read, or its outcome not be written.
    Io(io::Error),
}

impl ReplayError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Gate(_) | Self::Input { .. } => ExitCode::from(2),
            Self::Stuck { .. } | Self::Io(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gate(name) => {
                write!(f, "there is no gate \"{}\"; there are {}", cut::words(name), GATES.join(", "))
            }
            Self::Input { line, reason } => write!(f, "line {line}: {reason}"),
            Self::Stuck { at, reason } => {
                write!(f, "the gate asks to be called at {at} ms without end ({reason}): this is a fault of tidegate")
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReplayError {}

impl From<io::Error> for ReplayError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs the command; errors are told on stderr.
pub(crate) fn run(gate: &str, input: impl BufRead, output: impl Write) -> ExitCode {
    match replay(gate, input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidegate replay: {error}");
            error.exit_code()
        }
    }
}

fn replay(gate: &str, input: impl BufRead, output: impl Write) -> Result<(), ReplayError> {
    match gate {
        "bot" => driver::replay::<bot::Codec>(input, output),
        "governor" => driver::replay::<governor::Codec>(input, output),
        "identify-queue" => driver::replay::<identify_queue::Codec>(input, output),
        "send-queue" => driver::replay::<send_queue::Codec>(input, output),
        "shard" => driver::replay::<shard::Codec>(input, output),
        other => Err(ReplayError::Gate(other.to_owned())),
    }
}
