//! The bot gateways of all bots.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidegate_core::bot::{Input, ShardKey};
use tidegate_core::identify_queue::{GrantId, Shard};
use tidegate_core::shard::{self, Status};
use tidegate_net::Token;
use tidegate_tokio::Clock;

use super::bot_gateway::{BotStatus, Fleet, Place};
use super::context::Depot;
use super::discover::Discover;
use super::frame::Identity;
use super::settings::Settings;

/// The fleets of all bots, in a bounded table.
#[derive(Debug)]
pub struct Fleets {
    pub(crate) depot: Arc<Depot>,
    most: usize,
    table: Mutex<HashMap<u64, Arc<Fleet>>>,
    last_bot: AtomicU64,
}

impl Fleets {
    /// With no bot yet. `tls`: the client's settings towards Discord.
    pub fn new(settings: Settings, clock: Clock, tls: rustls::ClientConfig) -> Self {
        Self {
            most: settings.bots_max,
            depot: Arc::new(Depot::new(settings, clock, tls)),
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
    fn list(&self) -> Vec<Arc<Fleet>> {
        let mut list: Vec<_> = self.table().values().cloned().collect();
        list.sort_by(|a, b| a.token.id().cmp(b.token.id()).then(a.token.hash().cmp(&b.token.hash())));
        list
    }

    /// What all of them do, for operators.
    pub fn status(&self) -> Vec<BotStatus> {
        self.list().iter().map(|fleet| fleet.report(self.depot.clock.now())).collect()
    }

    /// The tokens of all of them.
    pub fn tokens(&self) -> Vec<Token> {
        self.list().iter().map(|fleet| fleet.token.clone()).collect()
    }

    /// Session starts that tidegate still lets a bot have; `None` before Discord has said how many there are.
    pub fn starts_left(&self, token: &Token) -> Option<u64> {
        self.known(token)?.starts_left()
    }

    /// Asks for a shard's place in the identify line of a bot that keeps its own Gateway connection; `None` where too many
    /// wait, or too many bots are known. Without an identity nobody can ask Discord what is left, and its usual limits are
    /// taken.
    pub fn ask(
        &self,
        token: &Token,
        discover: &Arc<dyn Discover>,
        identity: Option<Identity>,
        shard: Shard,
    ) -> Option<Place> {
        self.of(token)?.ask(discover, identity, shard)
    }

    /// Gives a grant back: the one with that number, or the current one, or a place in the line. `false` where too many
    /// bots are known.
    pub fn give_back(&self, token: &Token, shard: Shard, grant: Option<GrantId>) -> bool {
        self.of(token).map(|fleet| fleet.give_back(shard, grant, false)).is_some()
    }

    /// Bytes that all rings hold.
    pub fn ring_bytes(&self) -> usize {
        self.depot.ring_bytes()
    }

    /// A person re-arms a bot's shard; all of that id, whatever their count. What each does then, and whether that is what
    /// came of it: one that runs, and one that may not go yet, are left as they are.
    pub fn restart(&self, bot: &str, id: u32) -> Vec<(ShardKey, Status, bool)> {
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
    pub fn stop(&self) {
        self.list().iter().for_each(Fleet::stop);
    }

    /// Connections to Discord.
    pub fn open(&self) -> usize {
        self.depot.open()
    }

    fn table(&self) -> MutexGuard<'_, HashMap<u64, Arc<Fleet>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
