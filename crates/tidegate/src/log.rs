//! Logging to stderr, with a level that can be changed while it runs.

use std::sync::OnceLock;

use tracing_subscriber::prelude::*;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

static LEVEL: OnceLock<reload::Handle<EnvFilter, Registry>> = OnceLock::new();

/// Starts logging at a level such as `info` or `tidegate=debug`.
pub(crate) fn start(level: &str) {
    let (filter, handle) = reload::Layer::new(EnvFilter::new(level));
    let layer = fmt::layer().with_writer(std::io::stderr).with_target(false);
    if tracing_subscriber::registry().with(filter).with(layer).try_init().is_ok() {
        let _ = LEVEL.set(handle);
    }
}

/// Another level from now on.
pub(crate) fn set_level(level: &str) {
    if let Some(handle) = LEVEL.get() {
        let _ = handle.reload(EnvFilter::new(level));
    }
}
