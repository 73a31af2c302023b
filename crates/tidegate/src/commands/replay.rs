//! `tidegate replay GATE`: feeds a pure gate from a trace on stdin and prints all that it does.

use std::io::{self, BufWriter};
use std::process::ExitCode;

use tidegate_trace::{ReplayError, replay};

/// Runs the command; errors are told on stderr.
pub(crate) fn run(gate: &str) -> ExitCode {
    match replay(gate, io::stdin().lock(), BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tidegate replay: {error}");
            exit_code(&error)
        }
    }
}

fn exit_code(error: &ReplayError) -> ExitCode {
    match error {
        ReplayError::Gate(_) | ReplayError::Input { .. } => ExitCode::from(2),
        ReplayError::Stuck { .. } | ReplayError::Io(_) => ExitCode::FAILURE,
    }
}
