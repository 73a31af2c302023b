//! What all bots' gateways share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_tokio::Clock;

use super::ring::{self, Ring};
use super::session::Times;
use super::settings::{self, Settings};
use super::upstream::{Bounds, Dialer};
use super::wire::codec::Compression;

/// What a bot gateway needs of the world.
pub(crate) struct Depot {
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    pub(super) times: Times,
    pub(super) dialer: Dialer,
    total: Arc<ring::Total>,
    /// Connections to Discord.
    open: AtomicUsize,
}

/// Counts one connection to Discord while it lives.
pub(super) struct Open(Arc<Depot>);

impl Depot {
    pub(super) fn new(settings: Settings, clock: Clock, tls: rustls::ClientConfig) -> Self {
        let compression = match settings.compress {
            settings::Compress::No => Compression::None,
            settings::Compress::Zlib => Compression::Zlib,
            settings::Compress::Zstd => Compression::Zstd,
        };
        let bounds = Bounds { connect: settings.connect_timeout, ..Bounds::default() };
        Self {
            clock,
            times: Times::from(&settings),
            dialer: Dialer::new(tls, settings.hosts.clone(), compression, bounds),
            total: ring::Total::new(settings.ring.total_bytes),
            open: AtomicUsize::new(0),
            settings,
        }
    }

    pub(super) fn ring(&self) -> Arc<Ring> {
        let settings::Ring { events, bytes, .. } = self.settings.ring;
        Ring::new(ring::Bounds { events, bytes }, &self.total)
    }

    /// Connections to Discord.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Bytes that all rings hold.
    pub(crate) fn ring_bytes(&self) -> usize {
        self.total.used()
    }
}

impl Open {
    pub(super) fn new(depot: &Arc<Depot>) -> Self {
        depot.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(depot))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Depot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Depot").field("settings", &self.settings).finish_non_exhaustive()
    }
}
