//! `tidegate simulate …`: whole days in virtual time, with the very gates that serve, before the sandbox's Discord.

mod day;
mod discord;
mod guests;
mod naive;
mod net;
mod start;
mod storms;
mod tide;
mod weather;

#[cfg(test)]
mod tests;

use clap::Subcommand;
use tidegate_core::Span;

use self::start::Start;

/// What is simulated.
#[derive(Subcommand)]
pub(crate) enum What {
    /// How long shards take to start, all at once
    Start {
        /// How many
        #[arg(long, default_value_t = 2_048, value_parser = clap::value_parser!(u32).range(1..=65_536))]
        shards: u32,
        /// How many may IDENTIFY at once
        #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000))]
        max_concurrency: u32,
        /// From a dial to HELLO: 200ms, 1s
        #[arg(long, default_value = "200ms", value_parser = duration)]
        dial: Span,
        /// How much longer a word to Discord may take than another
        #[arg(long, default_value = "0ms", value_parser = duration)]
        jitter: Span,
        /// What is random comes from this
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// What bad days of other software would have been with tidegate, and were without (docs/storms.md)
    Storms {
        /// How long each lasts
        #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=72))]
        hours: u64,
        /// What is random comes from this
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Runs it and prints what comes of it.
pub(crate) fn run(what: &What) {
    match *what {
        What::Start { shards, max_concurrency, dial, jitter, seed } => {
            print!("{}", Start { shards, max_concurrency, dial, jitter, seed }.report());
        }
        What::Storms { hours, seed } => storms::table(hours, seed, |row| println!("{row}")),
    }
}

/// `250ms`, `5s`, at most 30 s.
fn duration(text: &str) -> Result<Span, String> {
    let (number, unit_ms) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1),
        (None, Some(number)) => (number, 1_000),
        (None, None) => (text, 0),
    };
    let ms = number.parse::<u64>().ok().filter(|_| unit_ms > 0).and_then(|number| number.checked_mul(unit_ms));
    ms.filter(|ms| *ms <= 30_000)
        .map(Span::from_millis)
        .ok_or_else(|| "expected a duration such as 200ms or 2s, at most 30s".to_owned())
}
