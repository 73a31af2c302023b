//! `tidegate policy [NAME]`: prints a policy as the matrix that people review.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::{Serialize, Serializer};
use tidegate_core::policy::{COLUMNS, MatrixLine, Policy};

/// How a matrix is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A table.
    Markdown,
    /// A list of objects, each line's cells by their columns.
    Json,
}

/// Prints one policy, or all of them by name.
pub(crate) fn run(name: Option<&str>, format: Format) -> ExitCode {
    match print(name, format, io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Unknown(reason)) => {
            eprintln!("tidegate policy: {reason}");
            ExitCode::from(2)
        }
        Err(Error::Io(error)) => {
            eprintln!("tidegate policy: {error}");
            ExitCode::FAILURE
        }
    }
}

enum Error {
    Unknown(String),
    Io(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn print(name: Option<&str>, format: Format, mut output: impl Write) -> Result<(), Error> {
    let load = |name: &str| Policy::load(name, &[]).map_err(|error| Error::Unknown(error.to_string()));
    match (name, format) {
        (Some(name), Format::Markdown) => output.write_all(load(name)?.markdown().as_bytes())?,
        (Some(name), Format::Json) => json(&mut output, &Lines(load(name)?.matrix()))?,
        (None, Format::Markdown) => {
            for (at, name) in Policy::names().enumerate() {
                let gap = if at == 0 { "" } else { "\n" };
                write!(output, "{gap}## {name}\n\n{}", load(name)?.markdown())?;
            }
        }
        (None, Format::Json) => {
            let all = Policy::names().map(|name| Ok((name, Lines(load(name)?.matrix()))));
            json(&mut output, &Tables(all.collect::<Result<_, Error>>()?))?;
        }
    }
    output.flush()?;
    Ok(())
}

fn json(mut output: impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut output, value)?;
    writeln!(output)
}

/// Keeps the columns in their order.
struct Lines(Vec<MatrixLine>);

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Cells))
    }
}

struct Cells<'a>(&'a MatrixLine);

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(COLUMNS.iter().zip(&self.0.0))
    }
}

struct Tables(Vec<(&'static str, Lines)>);

impl Serialize for Tables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, lines)| (name, lines)))
    }
}
