//! Logging to stderr, with a level that can be changed while it runs.
//!
//! Only tidegate's own lines are written: libraries log addresses of requests, and those carry tokens.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;
use std::sync::OnceLock;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, reload};

static LEVEL: OnceLock<reload::Handle<Targets, Registry>> = OnceLock::new();

fn own(level: LevelFilter) -> Targets {
    Targets::new().with_target("tidegate", level)
}

/// Starts logging.
pub(crate) fn start(level: LevelFilter) {
    let (filter, handle) = reload::Layer::new(own(level));
    let stderr = std::io::stderr;
    let layer =
        tracing_subscriber::fmt::layer().with_writer(stderr).with_target(false).with_ansi(stderr().is_terminal());
    if tracing_subscriber::registry().with(filter).with(layer).try_init().is_ok() {
        let _ = LEVEL.set(handle);
    }
}

/// Another level from now on.
pub(crate) fn set_level(level: LevelFilter) {
    if let Some(handle) = LEVEL.get() {
        let _ = handle.reload(own(level));
    }
}

/// Letters of a foreign text that are shown.
const FOREIGN_MOST: usize = 120;

/// Text from a platform or a client, as it may stand in a log: escaped, so that it can neither begin a line nor colour a
/// terminal, and cut.
pub(crate) struct Foreign<'a>(pub(crate) &'a str);

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().flat_map(char::escape_debug).take(FOREIGN_MOST).try_for_each(|letter| f.write_char(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_in_its_line_and_ends() {
        assert_eq!(Foreign("wss://gateway/?v=10").to_string(), "wss://gateway/?v=10");
        let shown = Foreign("a\n\u{1b}[31m2026 ERROR\u{202e}").to_string();
        assert_eq!(shown, "a\\n\\u{1b}[31m2026 ERROR\\u{202e}");
        assert_eq!(Foreign(&"x".repeat(5_000)).to_string().len(), FOREIGN_MOST);
    }
}
