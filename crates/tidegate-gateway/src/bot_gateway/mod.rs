//! One bot's shards: its gates behind one lock, one timer, and the carrying out of what the gates say.
//!
//! Whatever happens (a bot speaks, Discord speaks, time passes) becomes one [`Turn`]: the lock is taken, the sessions and
//! the gates are told, and all that they put out is carried out before the lock is given back, so that nothing is ever done
//! in another order than it was decided. Nothing in a turn waits.

mod commands;
mod counts;
mod discovery;
mod effects;
mod events;
mod frames;
mod http_identify;
mod incoming;
mod shard_slot;
mod status;
mod timer;
mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tidegate_core::Time;
use tidegate_core::bot::{self, ShardKey};
use tidegate_core::identify_queue::InMemoryStarts;
use tidegate_core::shard::{Shard, Status};
use tidegate_net::Token;
use tidegate_tokio::Timer;
use tidegate_trace::Recorder;

pub(crate) use self::counts::{Count, Counts};
use self::discovery::Discovery;
use self::http_identify::Outside;
pub use self::http_identify::{Given, Place};
pub(crate) use self::shard_slot::Seat;
pub use self::status::{BotStatus, ShardStatus};
pub(crate) use self::turn::Turn;
use super::context::Depot;
use super::discover::Discover;
use super::frame::{Command, Identify, Identity, Resume};
use super::mailbox::Link;

/// All gates of one bot's Gateway side. What a guild's subscription says is handed on unseen.
pub(crate) type Gate = bot::Gateway<Bytes>;

/// One bot's shards.
pub(crate) struct Fleet {
    pub(crate) token: Token,
    /// Smaller than that of all that were made later.
    pub(crate) number: u64,
    pub(crate) counts: Counts,
    depot: Arc<Depot>,
    state: Mutex<State>,
    timer: Timer,
}

/// What stands behind the lock.
pub(crate) struct State {
    /// There once Discord has said where its Gateway is.
    pub(crate) gate: Option<Gate>,
    pub(crate) seats: BTreeMap<ShardKey, Seat>,
    starts: InMemoryStarts,
    /// The main Gateway address.
    main: Box<str>,
    /// When each seat's session is to be told the time.
    dues: BTreeSet<(Time, ShardKey)>,
    by_session: HashMap<Box<str>, ShardKey>,
    /// What the gates are told next.
    work: VecDeque<bot::Input<Bytes>>,
    discovery: Discovery,
    outside: Outside,
    /// Writes down what happens, where that is asked for.
    recorder: Option<Recorder>,
    /// The bot that spoke last.
    caller: Option<Caller>,
    last_serial: u64,
    last_command: u64,
    /// What the timer sleeps for.
    armed: Time,
    /// The program ends.
    stopped: bool,
}

/// How a bot speaks to Discord.
#[derive(Clone)]
struct Caller {
    discover: Arc<dyn Discover>,
    runtime: tokio::runtime::Handle,
    identity: Identity,
}

/// A bot's connection, as it meets its fleet.
pub(crate) struct Visitor<'a> {
    pub(crate) discover: &'a Arc<dyn Discover>,
    pub(crate) link: &'a Arc<Link>,
    /// Where it finds tidegate.
    pub(crate) address: &'a Arc<str>,
}

impl Fleet {
    /// Its timer runs on the current runtime.
    pub(super) fn new(token: Token, number: u64, depot: &Arc<Depot>) -> Arc<Self> {
        let state = State {
            gate: None,
            seats: BTreeMap::new(),
            starts: InMemoryStarts::default(),
            main: Box::default(),
            dues: BTreeSet::new(),
            by_session: HashMap::new(),
            work: VecDeque::new(),
            discovery: Discovery::default(),
            outside: Outside::default(),
            recorder: None,
            caller: None,
            last_serial: 0,
            last_command: 0,
            armed: Time::NEVER,
            stopped: false,
        };
        let fleet = Arc::new(Self {
            token,
            number,
            counts: Counts::default(),
            depot: Arc::clone(depot),
            state: Mutex::new(state),
            timer: Timer::new(),
        });
        fleet.timer.spawn(&fleet);
        fleet
    }

    /// What is there at the moment, to be looked at.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the gates something and carries out what they say.
    pub(crate) fn feed(self: &Arc<Self>, input: bot::Input<Bytes>) {
        self.turn(|turn| turn.tell(input));
    }

    /// What a shard does.
    pub(crate) fn status(&self, key: ShardKey) -> Status {
        let state = self.lock();
        let shard = state.gate.as_ref().and_then(|gate| gate.shard(key));
        shard.map_or(Status::Off, Shard::status)
    }

    /// A bot's IDENTIFY.
    pub(crate) fn identify(self: &Arc<Self>, visitor: &Visitor<'_>, identify: Arc<Identify>) {
        self.turn(|turn| turn.identify(visitor, identify));
    }

    /// A bot's RESUME; which shard's session it is, where there is one.
    pub(crate) fn resume(self: &Arc<Self>, visitor: &Visitor<'_>, resume: &Resume) -> Option<ShardKey> {
        self.turn(|turn| turn.resume(visitor, resume))
    }

    /// A bot's command. One of a bot that does not have the session is dropped.
    pub(crate) fn command(self: &Arc<Self>, key: ShardKey, bot: u64, command: Command) {
        self.turn(|turn| turn.command(key, bot, command));
    }

    /// A bot's connection is gone.
    pub(crate) fn left(self: &Arc<Self>, key: ShardKey, bot: u64, code: Option<u16>) {
        self.turn(|turn| turn.left(key, bot, code));
    }

    /// Discord's connections are closed so that their sessions can be resumed.
    pub(crate) fn stop(self: &Arc<Self>) {
        self.turn(|turn| {
            turn.stop();
        });
    }

    /// Session starts that tidegate still lets the bot have, of the day's and of the rolling budget; `None` before Discord
    /// has said how many there are.
    pub(crate) fn starts_left(&self) -> Option<u64> {
        let state = self.lock();
        let queue = state.gate.as_ref()?.identify_queue();
        let rolling = queue.settings().rolling_limit().saturating_sub(queue.counted());
        Some(queue.remaining().min(rolling))
    }

    /// Closes all its bots: it is forgotten.
    pub(super) fn dismiss(self: &Arc<Self>) {
        self.turn(|turn| {
            turn.dismiss();
        });
    }

    /// Whether Discord ever took its token.
    pub(super) fn is_proven(&self) -> bool {
        self.lock().gate.is_some()
    }

    /// Whether nothing is lost when it is forgotten.
    pub(super) fn is_at_rest(&self) -> bool {
        let state = self.lock();
        state.seats.is_empty()
            && state.outside.is_empty()
            && state.gate.as_ref().is_none_or(|gate| gate.identify_queue().counted() == 0)
    }

    fn turn<T>(self: &Arc<Self>, act: impl FnOnce(&mut Turn<'_>) -> T) -> T {
        let mut state = self.lock();
        let mut turn = Turn { fleet: self, state: &mut state, now: whole_ms(self.depot.clock.now()) };
        let done = act(&mut turn);
        turn.run();
        if let Some(recorder) = &mut state.recorder {
            recorder.flush();
        }
        let next = state.due();
        if next < state.armed {
            state.armed = next;
            self.timer.earlier();
        }
        done
    }
}

/// Traces speak milliseconds, so that is when things happen.
fn whole_ms(now: Time) -> Time {
    Time::from_millis(now.as_micros() / 1000)
}

impl State {
    /// When something is to be done without anybody's word.
    fn due(&self) -> Time {
        let gate = self.gate.as_ref().and_then(tidegate_core::Gate::poll_timeout).map(|(at, _)| at);
        let session = self.dues.first().map(|(at, _)| *at);
        gate.into_iter().chain(session).chain(self.discovery_due()).min().unwrap_or(Time::NEVER)
    }

    /// When Discord is asked again. For a token that never worked it is not, once nobody is there to hear the answer: a
    /// thousand of them that came and went would take all that tokens unproven may ask for, for an hour.
    fn discovery_due(&self) -> Option<Time> {
        let due = self.discovery.due()?;
        let is_awaited = self.gate.is_some()
            || !self.outside.is_empty()
            || self.seats.values().any(|seat| seat.session.attached().is_some());
        is_awaited.then_some(due)
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("token", &self.token).finish_non_exhaustive()
    }
}
