//! Why a replay ends early.

use std::fmt;
use std::io;

use crate::cut;

/// The gates that can be replayed.
pub(crate) const GATES: [&str; 5] = ["bot", "governor", "identify-queue", "send-queue", "shard"];

/// Why a replay ended early.
#[derive(Debug)]
pub enum ReplayError {
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
