//! What all calls share, whichever platform they are for.

use std::sync::Arc;

use tidegate_tokio::Clock;

use super::budget::Budget;
use super::drain::Drain;
use super::settings::Settings;

/// The clock, the settings, the budgets and the drain.
#[derive(Debug)]
pub struct Context {
    /// The settings in force.
    pub config: Settings,
    /// Platform time.
    pub clock: Clock,
    /// Bytes of request bodies that are held in memory.
    pub buffers: Arc<Budget>,
    /// Connections of clients.
    pub connections: Arc<Budget>,
    /// How far the program's end has come.
    pub drain: Arc<Drain>,
}

impl Context {
    pub(crate) fn new(config: Settings, clock: Clock) -> Self {
        Self {
            clock,
            buffers: Budget::new(config.bounds.buffer_total),
            connections: Budget::new(config.bounds.connections_max),
            drain: Arc::default(),
            config,
        }
    }
}
