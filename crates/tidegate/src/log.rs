//! Logging to stderr, with a level that can be changed while it runs.
//!
//! Only tidegate's own lines are written: libraries log addresses of requests, and those carry tokens.

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
