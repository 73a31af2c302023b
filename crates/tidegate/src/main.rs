//! Stands between bots and chat platforms so that no budget is overspent.

mod policy_command;
mod replay;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reads a trace of JSON lines on stdin, feeds the pure gate, writes what it does as JSON lines
    Replay {
        /// Which gate: governor
        gate: String,
    },
    /// Prints a policy's matrix, or those of all policies
    Policy {
        /// Which policy: telegram, telegram-forum
        name: Option<String>,
        /// How it is printed
        #[arg(long, value_enum, default_value = "markdown")]
        format: policy_command::Format,
    },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Replay { gate } => replay::run(&gate, io::stdin().lock(), io::BufWriter::new(io::stdout().lock())),
        Command::Policy { name, format } => policy_command::run(name.as_deref(), format),
    }
}
