//! The shard: owns a Gateway session, its connection's heartbeat, the backoff, and the decision to connect, resume,
//! identify, wait or stop.
//!
//! ```text
//!                    ┌───────────────── wait ◀──────────────── end of the connection ◀─┐
//! start ─┬─ session ─┴▶ dial ─▶ HELLO ─▶ RESUME ──────────────▶ RESUMED ─▶ stable ─────┤
//!        └─ none ─▶ ask for a grant ─▶ dial ─▶ HELLO ─▶ IDENTIFY ─▶ READY ─▶ stable ───┤
//!                     ▲ wait ◀─ denied                                                 └▶ stopped
//! ```
//!
//! What it keeps: at most one living connection and at most one pending reconnect, for what comes next is derived from
//! the state and never scheduled; a connection's timers die with it, and what it says later changes nothing; the backoff
//! starts over only after a stable minute, so that no loop of failures spends more than some 130 session starts a day;
//! a grant that nobody wants is given back at once.
//!
//! # Example
//!
//! From start to READY, and a RESUME after the connection is lost:
//!
//! ```
//! use tidegate_core::shard::{Event, Generation, Grant, Input, Output, Settings, Shard, Status};
//! use tidegate_core::{Gate, Span, Time};
//!
//! fn outputs(shard: &mut Shard) -> Vec<Output> {
//!     std::iter::from_fn(|| shard.poll_output()).collect()
//! }
//!
//! let mut shard = Shard::new(Settings::default(), None);
//! shard.handle(Time::ZERO, Input::Start);
//! assert_eq!(outputs(&mut shard), [Output::RequestGrant]);
//!
//! // The identify queue granted it. A program dials, and tells what the connection with that number says.
//! shard.handle(Time::ZERO, Input::Granted { grant: Grant(1) });
//! let generation = Generation(1);
//! let url = "wss://gateway.discord.gg".into();
//! assert_eq!(outputs(&mut shard), [Output::Connect { generation, url }]);
//! let mut tell = |at_ms, event| {
//!     shard.handle(Time::from_millis(at_ms), Input::Socket { generation, event });
//!     outputs(&mut shard)
//! };
//! tell(90, Event::Opened);
//! let told = tell(120, Event::Hello { interval: Span::from_millis(41_250) });
//! assert_eq!(told, [Output::Identify { generation }]);
//! let session = "d1a5".into();
//! tell(300, Event::Ready { session, resume_url: "wss://r.discord.gg".into(), seq: 1 });
//! tell(5_000, Event::Dispatch { seq: 2 });
//!
//! // The connection breaks. What comes next is a wait and then a RESUME, which costs no session start.
//! let told = tell(9_000, Event::Closed { code: Some(1006) });
//! assert!(matches!(told.last(), Some(Output::Waiting { .. })), "{told:?}");
//! assert!(matches!(shard.status(), Status::Waiting { .. }));
//! let (at, _reason) = shard.poll_timeout().expect("it waits");
//! shard.handle(at, Shard::tick());
//! assert!(matches!(&outputs(&mut shard)[..], [Output::Connect { url, .. }] if &**url == "wss://r.discord.gg"));
//! ```
//!
//! Payloads never come here: the program reads `op`, `s`, `t` and a few fields of HELLO and READY, and keeps the rest.
//! All waits are microseconds on the caller's clock; the numbers and their sources are in [`Settings`].

mod check;
mod command;
mod connection;
mod end;
mod hold;
mod instability;
mod io;
mod line;
mod plan;
mod session;
mod settings;
mod socket;
mod status;

use alloc::collections::VecDeque;

use self::connection::Connection;
use self::hold::Hold;
use self::instability::Instability;
pub use self::io::{End, Event, Generation, Grant, Input, Note, Output, Reason, StopReason, Why};
use self::line::Line;
use self::session::Session;
pub use self::settings::{GRACE_MAX, OnBudgetGone, Settings, StoredSession};
pub use self::status::Status;
use crate::backoff::{Backoff, Jitter};
use crate::gate::Gate;
use crate::time::Time;

/// Whether a shard is to be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Off,
    On,
    Stopped(StopReason),
}

/// The supervisor of one shard's connections.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other: one machine of them has 16 states"
)]
pub struct Shard {
    settings: Settings,
    now: Time,
    run: Run,
    session: Option<Session>,
    connection: Option<Connection>,
    /// The last dialled connection's number.
    generation: Generation,
    line: Line,
    /// A bot's IDENTIFY stands: until READY, or until its place was taken.
    fresh: bool,
    /// Another IDENTIFY came while the last was on its way.
    newer: bool,
    backoff: Backoff,
    jitter: Jitter,
    /// No dial before.
    retry: Hold,
    /// No request for a grant before.
    identify: Hold,
    /// The budget is gone until then.
    parked: Option<Time>,
    /// The wait that was told last.
    announced: Option<(Time, Why)>,
    /// A dial failed: the main address until READY.
    main_only: bool,
    /// Failed RESUMEs in a row.
    failed_resumes: u32,
    /// Op 7 was followed at once since the last stable connection.
    reconnected_at_once: bool,
    instability: Instability,
    /// The last closes with 4008, as many as have grace.
    rate_limits: VecDeque<Time>,
    /// When a session was replaced last, and the backoff step that replacements have come to.
    replaced: Option<Time>,
    replace_step: u32,
    /// When the session that it starts from was written down.
    stored_at: Option<Time>,
    outputs: VecDeque<Output>,
}

impl Shard {
    /// A shard that is off, with what was written down of its session.
    pub fn new(settings: Settings, stored: Option<StoredSession>) -> Self {
        let (id, count) = settings.shard;
        let step = stored.as_ref().map_or(0, |stored| stored.backoff_step);
        Self {
            now: Time::ZERO,
            run: Run::Off,
            stored_at: stored.as_ref().map(|stored| stored.at),
            session: stored.map(Session::from),
            connection: None,
            generation: Generation(0),
            line: Line::Out,
            fresh: false,
            newer: false,
            backoff: Backoff::new(settings.backoff_min, settings.backoff_max, step),
            jitter: Jitter::new(settings.seed, u64::from(id) << 32 | u64::from(count)),
            retry: Hold::NONE,
            identify: Hold::NONE,
            parked: None,
            announced: None,
            main_only: false,
            failed_resumes: 0,
            reconnected_at_once: false,
            instability: Instability::default(),
            rate_limits: VecDeque::new(),
            replaced: None,
            replace_step: 0,
            outputs: VecDeque::new(),
            settings,
        }
    }

    /// Its connections are numbered from after this one: what was said to a shard of the same name that is gone is not said
    /// to it.
    pub(crate) fn number_after(&mut self, generation: Generation) {
        self.generation = self.generation.max(generation);
    }

    /// The number of the connection dialled last.
    pub(crate) fn last_generation(&self) -> Generation {
        self.generation
    }

    fn emit(&mut self, output: Output) {
        self.outputs.push_back(output);
    }
}

impl Gate for Shard {
    type Input = Input;
    type Output = Output;
    type Reason = Reason;

    fn tick() -> Input {
        Input::Tick
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.now = self.now.max(now);
        let now = self.now;
        self.settle(now);
        match input {
            Input::Start => self.start(now),
            Input::Fresh { differs } => self.bot_identifies(now, differs),
            Input::Budget => self.budget(now),
            Input::NextInLine { due } => self.next_in_line(due),
            Input::Granted { grant } => self.granted(now, grant),
            Input::Denied { refresh_at } => self.denied(now, refresh_at),
            Input::Socket { generation, event } => self.socket(now, generation, event),
            Input::Unauthorized => self.unauthorized(now),
            Input::Stop => self.stop(now),
            Input::Logout => self.log_out(),
            Input::Rewind { seq } => self.rewind(now, seq),
            Input::Restart => self.restart(now),
            Input::Tick => {}
        }
        self.settle(now);
        self.proceed(now);
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        self.next_call()
    }

    fn check_invariants(&self) {
        self.check();
    }
}
