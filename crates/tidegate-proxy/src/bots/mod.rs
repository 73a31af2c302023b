//! The bots that are served: one governor and one standing each, in a bounded table.

mod held;
mod line;
mod memory;
mod token_breaker;
mod unproven;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use tidegate_core::governor::{Count, Governor, Input, Output};
use tidegate_core::policy::{Platform, Policy};
use tidegate_core::{Span, Time};
use tidegate_net::Token;
use tidegate_tokio::{Clock, Driver};

use self::held::HeldByClient;
pub(crate) use self::held::Place;
pub(crate) use self::line::{First, Line};
pub(crate) use self::memory::Memory;
pub use self::memory::Refused;
pub(crate) use self::token_breaker::{Leave, Standing};
pub(crate) use self::unproven::{Room, Unproven};
use crate::reply::Reply;

/// One bot.
#[derive(Debug)]
pub struct Bot {
    /// Its token.
    pub token: Token,
    pub(crate) platform: Platform,
    pub(crate) driver: Arc<Driver<Governor, Reply>>,
    pub(crate) standing: Standing,
    pub(crate) held: HeldByClient,
    pub(crate) memory: Memory,
    /// While its token is unproven: one call, and one long poll.
    pub(crate) line: Arc<Line>,
    pub(crate) polls: Arc<Line>,
    /// Its token is proven and nobody stands in the line: nobody will any more.
    is_clear: AtomicBool,
    calls: AtomicUsize,
    last_used: AtomicU64,
}

/// A call of a bot is under way: it is not forgotten meanwhile.
#[derive(Debug)]
pub(crate) struct InUse(pub(crate) Arc<Bot>);

impl Bot {
    fn new(token: Token, governor: Governor, clock: Clock, held_per_client: usize) -> Arc<Self> {
        let named = token.clone();
        let platform = governor.policy().platform;
        let driver = Driver::new(governor, clock, move |output| {
            if let Output::Note(summary) = output {
                tracing::info!(bot = %named, peer = %summary.peer, counts = %counted(&summary.counts), "summary");
            }
        });
        driver.spawn_timer();
        Arc::new(Self {
            token,
            platform,
            driver,
            standing: Standing::new(),
            held: HeldByClient::new(held_per_client),
            memory: Memory::default(),
            line: Line::new(),
            polls: Line::new(),
            is_clear: AtomicBool::new(false),
            calls: AtomicUsize::new(0),
            last_used: AtomicU64::new(clock.now().as_micros()),
        })
    }

    /// Its platform, as a label.
    pub fn platform(&self) -> &'static str {
        match self.platform {
            Platform::Telegram => "telegram",
            Platform::Discord => "discord",
        }
    }

    /// Whether its calls need not stand in line.
    pub(crate) fn is_clear(&self) -> bool {
        if self.is_clear.load(Ordering::Relaxed) {
            return true;
        }
        let clear = self.standing.is_proven() && self.line.is_empty();
        if clear {
            self.is_clear.store(true, Ordering::Relaxed);
        }
        clear
    }

    /// Calls that are held or in flight.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// What the governor has counted.
    pub fn counters(&self) -> Vec<Count> {
        let counts = self.driver.ask(Input::QueryCounters);
        counts
            .into_iter()
            .find_map(|output| if let Output::Counters(list) = output { Some(list) } else { None })
            .unwrap_or_default()
    }

    /// How many peers the governor knows.
    pub fn peers(&self) -> usize {
        let peers = self.driver.ask(Input::QueryPeers);
        peers
            .into_iter()
            .find_map(|output| if let Output::Peers(count) = output { Some(count) } else { None })
            .unwrap_or(0)
    }

    /// Whether the platform ever took its token.
    pub fn is_proven(&self) -> bool {
        self.standing.is_proven()
    }

    /// Whether the platform refused its token lately, so that it is not tried at the moment.
    pub fn is_refused(&self, now: Time) -> bool {
        self.standing.is_open(|| now)
    }

    /// Refusals by the platform that have not run out.
    pub fn refusals(&self, now: Time) -> Vec<Refused> {
        self.memory.refusals(now)
    }

    fn idle(&self, now: Time) -> Span {
        now.since(Time::from_micros(self.last_used.load(Ordering::Relaxed)))
    }

    fn at_rest(&self) -> bool {
        self.calls() == 0 && self.driver.waiting() == 0 && self.driver.deadline().is_none() && self.peers() == 0
    }
}

/// `send/send/admitted 27, …`
fn counted(counts: &[Count]) -> String {
    let one = |count: &Count| format!("{}/{}/{} {}", count.surface, count.class.name(), count.what.name(), count.count);
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl InUse {
    pub(crate) fn new(bot: Arc<Bot>) -> Self {
        bot.calls.fetch_add(1, Ordering::Relaxed);
        Self(bot)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.last_used.store(self.0.driver.clock().now().as_micros(), Ordering::Relaxed);
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

type Table = HashMap<u64, Arc<Bot>, RandomState>;

/// All bots of one platform.
#[derive(Debug)]
pub(crate) struct Bots {
    /// By the keyed hashes of tokens.
    table: Mutex<Table>,
    most: usize,
    idle: Span,
    held_per_client: usize,
    clock: Clock,
    /// All bots' governors are made after this one, which governs nobody.
    pattern: Mutex<Governor>,
}

impl Bots {
    pub(crate) fn new(policy: Arc<Policy>, clock: Clock, bounds: &crate::settings::Bounds) -> Self {
        Self {
            table: Mutex::default(),
            most: bounds.bots_max,
            idle: bounds.bots_idle.into(),
            held_per_client: bounds.held_per_client,
            clock,
            pattern: Mutex::new(Governor::new(policy, false)),
        }
    }

    /// The bot of that token; `None` where the table is full of others that are in use.
    pub(crate) fn find(&self, token: &Token) -> Option<InUse> {
        let mut table = self.table();
        if let Some(bot) = table.get(&token.hash()) {
            return Some(InUse::new(Arc::clone(bot)));
        }
        if table.len() >= self.most && !self.make_room(&mut table) {
            return None;
        }
        let bot = self.lone(token.clone());
        table.insert(token.hash(), Arc::clone(&bot));
        Some(InUse::new(bot))
    }

    /// The bot of a token as written, where it is known.
    pub(crate) fn known(&self, written: &str, test: bool) -> Option<InUse> {
        let table = self.table();
        let bot = table.get(&Token::hash_of(written, test)).filter(|bot| bot.token.is(written, test))?;
        Some(InUse::new(Arc::clone(bot)))
    }

    /// One that is in no table and is never forgotten.
    pub(crate) fn lone(&self, token: Token) -> Arc<Bot> {
        let governor = self.pattern.lock().unwrap_or_else(PoisonError::into_inner).sibling();
        Bot::new(token, governor, self.clock, self.held_per_client)
    }

    /// Forgets those that are at rest and unused for long, or, to make room, that never worked.
    fn make_room(&self, table: &mut Table) -> bool {
        let now = self.clock.now();
        let before = table.len();
        table.retain(|_, bot| bot.idle(now) < self.idle || !bot.at_rest());
        if table.len() == before {
            let idle = |bot: &Arc<Bot>| bot.idle(now);
            let unproven = table.iter().filter(|(_, bot)| !bot.standing.is_proven() && bot.calls() == 0);
            let oldest = unproven.max_by_key(|(_, bot)| idle(bot)).map(|(hash, _)| *hash);
            oldest.and_then(|hash| table.remove(&hash));
        }
        table.len() < before
    }

    /// All of them, by their public ids.
    pub(crate) fn list(&self) -> Vec<Arc<Bot>> {
        let mut list: Vec<Arc<Bot>> = self.table().values().cloned().collect();
        list.sort_by(|a, b| a.token.id().cmp(b.token.id()).then(a.token.hash().cmp(&b.token.hash())));
        list
    }

    /// Another policy from now on.
    pub(crate) fn set_policy(&self, policy: &Arc<Policy>) {
        *self.pattern.lock().unwrap_or_else(PoisonError::into_inner) = Governor::new(Arc::clone(policy), false);
        for bot in self.list() {
            bot.driver.tell(Input::Policy(Arc::clone(policy)));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
