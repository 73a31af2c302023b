//! What all bots' fleets share.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::bot::{Input, ShardKey};
use tidegate_core::shard::{self, Status};
use tidegate_tokio::Clock;

use super::fleet::Fleet;
use super::ring::{self, Ring};
use super::session::Times;
use super::upstream::{Bounds, Dialer};
use super::wire::codec::Compression;
use crate::bots::Token;
use crate::config::{self, Config};

/// What a fleet needs of the world.
pub(crate) struct Depot {
    pub(crate) settings: config::Gateway,
    pub(crate) clock: Clock,
    pub(super) times: Times,
    pub(super) dialer: Dialer,
    total: Arc<ring::Total>,
    /// Where traces are written.
    pub(super) record: Option<PathBuf>,
    /// Connections to Discord.
    open: AtomicUsize,
}

/// Counts one connection to Discord while it lives.
pub(super) struct Open(Arc<Depot>);

/// The fleets of all bots, in a bounded table.
#[derive(Debug)]
pub(crate) struct Fleets {
    pub(crate) depot: Arc<Depot>,
    most: usize,
    table: Mutex<HashMap<u64, Arc<Fleet>>>,
    last_bot: AtomicU64,
}

impl Depot {
    fn new(config: &Config, clock: Clock, tls: rustls::ClientConfig) -> Self {
        let settings = config.discord.gateway.clone();
        let compression = match settings.compress {
            config::Compress::No => Compression::None,
            config::Compress::Zlib => Compression::Zlib,
            config::Compress::Zstd => Compression::Zstd,
        };
        let bounds = Bounds { connect: config.bounds.connect_timeout, ..Bounds::default() };
        Self {
            clock,
            times: Times::from(&settings),
            dialer: Dialer::new(tls, settings.hosts.clone(), compression, bounds),
            total: ring::Total::new(settings.ring.total_bytes),
            open: AtomicUsize::new(0),
            record: config.record.clone(),
            settings,
        }
    }

    pub(super) fn ring(&self) -> Arc<Ring> {
        let config::Ring { events, bytes, .. } = self.settings.ring;
        Ring::new(ring::Bounds { events, bytes }, &self.total)
    }

    /// Bytes that all rings hold.
    pub(crate) fn ring_bytes(&self) -> usize {
        self.total.used()
    }
}

impl Fleets {
    pub(crate) fn new(config: &Config, clock: Clock, tls: rustls::ClientConfig) -> Self {
        Self {
            depot: Arc::new(Depot::new(config, clock, tls)),
            most: config.bounds.bots_max,
            table: Mutex::default(),
            last_bot: AtomicU64::new(0),
        }
    }

    /// The fleet of that bot, made if there is none; `None` where the table is full of others.
    pub(crate) fn of(&self, token: &Token) -> Option<Arc<Fleet>> {
        let mut table = self.table();
        if let Some(fleet) = table.get(&token.hash()) {
            return Some(Arc::clone(fleet));
        }
        if table.len() >= self.most {
            table.retain(|_, fleet| !fleet.is_at_rest());
        }
        if table.len() >= self.most {
            // Whose token never worked gives way, the oldest first.
            let unproven = table.values().filter(|fleet| !fleet.is_proven()).min_by_key(|fleet| fleet.number)?;
            let hash = unproven.token.hash();
            table.remove(&hash)?.dismiss();
        }
        let number = self.number();
        let fleet = Fleet::new(token.clone(), number, &self.depot);
        table.insert(token.hash(), Arc::clone(&fleet));
        Some(fleet)
    }

    /// The fleet of that bot, where there is one.
    pub(crate) fn known(&self, token: &Token) -> Option<Arc<Fleet>> {
        self.table().get(&token.hash()).cloned()
    }

    /// All of them, by their public ids.
    pub(crate) fn list(&self) -> Vec<Arc<Fleet>> {
        let mut list: Vec<_> = self.table().values().cloned().collect();
        list.sort_by(|a, b| a.token.id().cmp(b.token.id()).then(a.token.hash().cmp(&b.token.hash())));
        list
    }

    /// A person re-arms a bot's shard; all of that id, whatever their count. What each does then, and whether that is what
    /// came of it: one that runs, and one that may not go yet, are left as they are.
    pub(crate) fn restart(&self, bot: &str, id: u32) -> Vec<(ShardKey, Status, bool)> {
        let mut restarted = Vec::new();
        for fleet in self.list().into_iter().filter(|fleet| fleet.token.id() == bot) {
            let keys: Vec<ShardKey> = fleet.lock().seats.keys().copied().filter(|key| key.id == id).collect();
            for key in keys {
                let before = fleet.status(key);
                fleet.feed(Input::Shard { key, input: shard::Input::Restart });
                let after = fleet.status(key);
                let rested = matches!(before, Status::Waiting { .. } | Status::Stopped(_));
                restarted.push((key, after, rested && after != before));
            }
        }
        restarted
    }

    /// A number that nothing else has, larger than all before.
    pub(super) fn number(&self) -> u64 {
        self.last_bot.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The program ends: Discord's connections are closed so that their sessions can be resumed.
    pub(crate) fn stop(&self) {
        self.list().iter().for_each(Fleet::stop);
    }

    /// Connections to Discord.
    pub(crate) fn open(&self) -> usize {
        self.depot.open.load(Ordering::Relaxed)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, Arc<Fleet>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
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
