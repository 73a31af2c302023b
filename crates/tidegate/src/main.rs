//! Stands between bots and chat platforms so that no budget is overspent.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod admin;
mod app;
mod commands;
mod config;
mod log;
mod serve;
mod signals;
mod simulate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::config::{Config, ConfigFlags};

/// With the system's a call takes a fifth more of the processor: docs/performance.md.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(version, about, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    flags: ConfigFlags,
}

#[derive(Subcommand)]
enum Command {
    /// Serves bots (what it does without a command, too)
    Serve {
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Validates the configuration and prints what is in force, and where each value comes from
    Check {
        #[command(flatten)]
        flags: ConfigFlags,
        /// Prints all keys and policies there are instead (docs/reference.md)
        #[arg(long)]
        reference: bool,
    },
    /// Reads a trace of JSON lines on stdin, feeds the pure gate, writes what it does as JSON lines
    Replay {
        /// Which gate: governor, identify-queue, send-queue or shard; bot for all of them as one
        gate: String,
    },
    /// Prints what a running tidegate holds, counts and waits for
    Status {
        /// Where its admin port is
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8788")]
        admin: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Serves fake platforms that keep the published limits and punish whoever breaks them (docs/sandbox.md: how tests
    /// drive them over `/__sandbox/…`)
    Sandbox {
        /// Where the fake Telegram listens; 127.0.0.1:9000 where neither is named
        #[arg(long, value_name = "ADDRESS")]
        telegram: Option<std::net::SocketAddr>,
        /// Where the fake Discord listens; 127.0.0.1:9001 where neither is named
        #[arg(long, value_name = "ADDRESS")]
        discord: Option<std::net::SocketAddr>,
        /// Real seconds of one platform second
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
    },
    /// Plays whole days in virtual time
    Simulate {
        #[command(subcommand)]
        what: simulate::What,
    },
    /// Prints a policy's matrix, or those of all policies
    Policy {
        /// Which policy: telegram, telegram-forum, discord, discord-agent
        name: Option<String>,
        /// How it is printed
        #[arg(long, value_enum, default_value = "markdown")]
        format: commands::policy::Format,
    },
}

/// Bad usage or configuration.
const BAD: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        None => serve(&cli.flags),
        Some(Command::Serve { flags }) => serve(&flags),
        Some(Command::Check { reference: true, .. }) => {
            ran(config::reference().map(|page| print!("{page}")).map_err(Into::into))
        }
        Some(Command::Check { flags, .. }) => check(&flags),
        Some(Command::Replay { gate }) => commands::replay::run(&gate),
        Some(Command::Status { admin, json }) => ran(commands::status::run(&admin, json)),
        Some(Command::Sandbox { telegram, discord, scale }) => ran(commands::sandbox::run(telegram, discord, scale)),
        Some(Command::Simulate { what }) => {
            simulate::run(&what);
            ExitCode::SUCCESS
        }
        Some(Command::Policy { name, format }) => commands::policy::run(name.as_deref(), format),
    }
}

fn serve(flags: &ConfigFlags) -> ExitCode {
    let config = match config::read(flags).and_then(|layers| Config::new(&layers)) {
        Ok(config) => config,
        Err(error) => return fail(BAD, &error),
    };
    log::start(config.log);
    ran(serve::run(config, flags))
}

fn ran(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &format_args!("{error:#}")),
    }
}

fn check(flags: &ConfigFlags) -> ExitCode {
    let checked = config::read(flags).and_then(|layers| Config::new(&layers).map(|_| config::show(&layers)));
    match checked {
        Ok(shown) => {
            print!("{shown}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(BAD, &error),
    }
}

fn fail(code: u8, error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("tidegate: {error}");
    ExitCode::from(code)
}
