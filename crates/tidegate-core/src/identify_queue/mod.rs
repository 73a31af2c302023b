//! The identify queue: Discord's IDENTIFY concurrency and its budget of session starts, counted apart.
//!
//! ```text
//! request ─▶ line of shard % max_concurrency ─▶ bucket free? ─▶ day's and rolling budget? ─▶ grant ─▶ identified ─▶ release
//!              ▲                                                       │ gone                  │
//!              └──── deferred (front of its line) ◀────────────────────┼───────────────────────┤
//!                                                                     deny                   lapse
//! ```
//!
//! What it keeps: within a bucket no grant sooner than the spacing after the last IDENTIFY, and one living grant at a time;
//! first come first served; a start is counted when it is granted; never more than the day's budget nor, in any rolling
//! 24 h, than the rolling limit. RESUME is not metered and never comes here.
//!
//! # Example
//!
//! Two shards of one bucket: the second waits 5 s behind the first one's IDENTIFY.
//!
//! ```
//! use tidegate_core::identify_queue::{GrantId, IdentifyQueue, Input, Output};
//! use tidegate_core::{Gate, Time};
//!
//! /// What is to be written, without notes and hints.
//! fn granted(queue: &mut IdentifyQueue) -> Option<(i64, GrantId)> {
//!     let mut found = None;
//!     while let Some(output) = queue.poll_output() {
//!         if let Output::Grant { shard, grant } = output {
//!             found = Some((shard, grant));
//!         }
//!     }
//!     found
//! }
//!
//! let mut queue = IdentifyQueue::solo();
//! queue.handle(Time::ZERO, Input::Request { shard: 0, http: false });
//! let (shard, grant) = granted(&mut queue).expect("the bucket is free");
//! queue.handle(Time::ZERO, Input::Request { shard: 1, http: false });
//! assert_eq!(granted(&mut queue), None);
//!
//! // A grant is a loan. It is told when IDENTIFY was written, and given back on READY or when the connection ends.
//! queue.handle(Time::from_millis(20), Input::Identified { shard, grant: Some(grant) });
//! queue.handle(Time::from_millis(400), Input::Release { shard, grant: Some(grant), unused: false });
//! assert_eq!(queue.remaining(), 999);
//!
//! let (at, _reason) = queue.poll_timeout().expect("shard 1 waits");
//! assert_eq!(at, Time::from_millis(5_020));
//! queue.handle(at, IdentifyQueue::tick());
//! assert_eq!(granted(&mut queue), Some((1, GrantId(2))));
//! ```
//!
//! # Over a restart
//!
//! Discord resets the token of a bot that spends its day's IDENTIFYs, so the count must outlive the process. After every
//! [`Gate::handle`] take [`IdentifyQueue::take_changes`] and keep them (a [`StartStore`] does) before the outputs are carried
//! out; the next process gives what was kept to [`IdentifyQueue::new`].

mod grants;
mod io;
mod ledger;
mod lines;
mod settings;
mod store;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use self::grants::{Grant, Grants, Spent};
pub use self::io::{GrantId, Input, Note, Output, Reason, SessionStartLimit, Shard};
use self::ledger::Ledger;
use self::lines::Lines;
use self::settings::OFTEN;
pub use self::settings::Settings;
pub use self::store::{Change, InMemoryStarts, Start, StartStore};
use crate::gate::Gate;
use crate::time::{Span, Time};

/// An answer whose reset lies so much later than the one known speaks of a new day; less is the network's jitter.
const NEW_DAY_AFTER: Span = Span::from_secs(3_600);

/// The identify queue of one bot.
#[derive(Debug)]
pub struct IdentifyQueue {
    settings: Settings,
    now: Time,
    remaining: u64,
    reset_at: Time,
    /// How often a new day has begun.
    day: u64,
    /// The last `reset_at` that passed and began a day.
    day_began_by: Option<Time>,
    lines: Lines,
    grants: Grants,
    ledger: Ledger,
    last_grant: u64,
    due: Option<(Time, Reason)>,
    outputs: VecDeque<Output>,
}

impl IdentifyQueue {
    /// A queue with what `GET /gateway/bot` says and the session starts that were kept.
    pub fn new(settings: Settings, limit: SessionStartLimit, kept: impl IntoIterator<Item = Start>) -> Self {
        Self {
            now: Time::ZERO,
            remaining: u64::try_from(limit.remaining).unwrap_or(0),
            reset_at: limit.reset_at,
            day: 0,
            day_began_by: None,
            lines: Lines::new(limit.max_concurrency),
            grants: Grants::default(),
            ledger: Ledger::new(kept),
            last_grant: 0,
            due: None,
            outputs: VecDeque::new(),
            settings,
        }
    }

    /// One bucket and 1,000 starts, Discord's default: a bot with one shard before its first `GET /gateway/bot`.
    pub fn solo() -> Self {
        let limit = SessionStartLimit { max_concurrency: 1, remaining: 1_000, reset_at: Time::ZERO };
        Self::new(Settings::default(), limit, [])
    }

    /// The bucket that a shard identifies through.
    pub fn rate_limit_key(&self, shard: Shard) -> u64 {
        self.lines.bucket(shard)
    }

    /// Session starts left of the day, by the last answer and our own count.
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Session starts counted in the last 24 h.
    pub fn counted(&self) -> u64 {
        self.ledger.counted()
    }

    /// Whether the shard stands in line.
    pub fn waits(&self, shard: Shard) -> bool {
        self.lines.contains(shard)
    }

    /// Whether a session start is left, of the day's and of the rolling budget.
    pub fn has_budget(&self) -> bool {
        !self.budget_gone()
    }

    /// Its numbers, as the last answer of `GET /gateway/bot` left them.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How long from `now` until something useful can happen; `None` where nobody waits.
    pub fn wake_after(&self, now: Time) -> Option<Span> {
        self.due.map(|(at, _)| at.since(now))
    }

    /// The first of each line and the earliest moment at which it can be granted, if the grant before it is given back in
    /// time. By bucket, ascending.
    pub fn next_in_line(&self, now: Time) -> Vec<(Shard, Time)> {
        let busy = self.grants.busy(&self.lines, &self.settings);
        let at = |bucket| busy.get(&bucket).map_or(now, |busy| busy.at_best.max(now));
        self.lines.buckets().filter_map(|bucket| Some((self.lines.first(bucket)?.0, at(bucket)))).collect()
    }

    /// What is to be kept, in order. To be taken after every `handle` and kept before the outputs are carried out; what is
    /// not taken before the next `handle` is gone.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.ledger.take_changes()
    }

    fn request(&mut self, shard: Shard, http: bool) {
        self.grants.end(shard, self.now, &self.settings);
        if self.lines.len() < self.settings.waiting_bound || self.lines.contains(shard) {
            self.lines.join(shard, http);
        } else {
            self.outputs.push_back(Output::Deny { shard, refresh_at: self.now + self.settings.spacing });
        }
    }

    fn release(&mut self, shard: Shard, id: Option<GrantId>, unused: bool) {
        if id.is_none() {
            self.lines.leave(shard);
        }
        if let Some(grant) = self.grants.living(shard, id).copied() {
            if unused && grant.identified_at.is_none() {
                self.grants.undo(shard);
                self.undo(grant.id, grant.spent);
            } else {
                self.grants.end(shard, self.now, &self.settings);
            }
        } else if unused
            && let Some(id) = id
            && let Some(lapsed) = self.grants.take_lapsed(shard, id)
        {
            self.undo(id, lapsed.spent);
        }
    }

    fn identified(&mut self, shard: Shard, id: Option<GrantId>) {
        if let Some(grant) = self.grants.living(shard, id) {
            grant.identified_at = Some(self.now);
        } else {
            self.grants.written_late(shard, id, self.now, &self.settings);
        }
    }

    fn deferred(&mut self, shard: Shard, id: GrantId, until: Time) {
        let (waited, spent) = if let Some(grant) = self.grants.living(shard, Some(id)).copied() {
            if grant.identified_at.is_some() {
                return;
            }
            self.grants.undo(shard);
            (grant.waited, grant.spent)
        } else if let Some(lapsed) = self.grants.take_lapsed(shard, id) {
            (lapsed.waited, lapsed.spent)
        } else {
            return;
        };
        self.undo(id, spent);
        self.grants.space(shard, until);
        let asked_again = self.lines.contains(shard) || self.grants.living(shard, None).is_some();
        if !asked_again {
            self.lines.join_front(shard, waited);
        }
    }

    fn refresh(&mut self, limit: SessionStartLimit) {
        let passed = self.now >= self.reset_at && self.day_began_by != Some(self.reset_at);
        let new_day = passed || limit.reset_at > self.reset_at + NEW_DAY_AFTER;
        let remaining = u64::try_from(limit.remaining).unwrap_or(0);
        if new_day {
            self.day += 1;
            self.day_began_by = passed.then_some(self.reset_at).or(self.day_began_by);
            self.remaining = remaining;
        } else {
            self.remaining = self.remaining.min(remaining);
        }
        self.reset_at = limit.reset_at;
        self.lines.set_max_concurrency(limit.max_concurrency);
    }

    /// A start was not used. One of an earlier day has no part in this day's budget.
    fn undo(&mut self, id: GrantId, spent: Spent) {
        self.ledger.undo(spent.lapses_at, id);
        if spent.day == self.day {
            self.remaining += 1;
        }
    }

    fn budget_gone(&self) -> bool {
        self.remaining == 0 || self.ledger.counted() >= self.settings.rolling_limit()
    }

    /// When to ask again once a budget is gone; of the later one, where both are.
    fn refresh_at(&self) -> Time {
        let day = (self.remaining == 0).then(|| self.reset_at.max(self.now + self.settings.spacing));
        let gone = self.ledger.counted() >= self.settings.rolling_limit();
        let rolling = gone.then(|| self.ledger.nth_lapse(0, None)).flatten();
        day.max(rolling).unwrap_or(self.now)
    }

    /// Until when a shard that starts often is denied so that the last fifth is left to the others; `None`: it is not.
    fn often_until(&self, shard: Shard) -> Option<Time> {
        let (counted, from) = (self.ledger.counted(), self.settings.seldom_only_from());
        let own = self.ledger.counted_of(shard);
        if self.settings.shards <= 1 || counted < from || own < OFTEN {
            return None;
        }
        let seldom_only_over = self.ledger.nth_lapse(counted - from, None);
        let own_few_again = self.ledger.nth_lapse(own - OFTEN, Some(shard));
        seldom_only_over.into_iter().chain(own_few_again).min()
    }

    /// Looks at every line: grants, then denials.
    fn look(&mut self) {
        let busy = self.grants.busy(&self.lines, &self.settings);
        let mut denied = Vec::new();
        for bucket in self.lines.buckets().collect::<Vec<_>>() {
            while let Some((shard, waited)) = self.lines.first(bucket).filter(|_| !self.budget_gone()) {
                if self.often_until(shard).is_some() {
                    self.lines.leave(shard);
                    denied.push(shard);
                    continue;
                }
                if busy.get(&bucket).is_none_or(|busy| busy.until() <= self.now) {
                    self.grant(shard, waited);
                }
                break;
            }
        }
        self.deny(denied);
    }

    /// Denies these, and whoever else waits in vain now. Their times are those after all of this step's grants.
    fn deny(&mut self, mut denied: Vec<Shard>) {
        let gone = self.budget_gone().then(|| self.refresh_at());
        if gone.is_some() || self.ledger.counted() >= self.settings.seldom_only_from() {
            for shard in self.lines.all() {
                if gone.is_some() || self.often_until(shard).is_some() {
                    self.lines.leave(shard);
                    denied.push(shard);
                }
            }
        }
        for shard in denied {
            let refresh_at = gone.or_else(|| self.often_until(shard)).unwrap_or(self.now);
            self.outputs.push_back(Output::Deny { shard, refresh_at });
        }
    }

    fn grant(&mut self, shard: Shard, waited: lines::Waiting) {
        self.lines.leave(shard);
        self.last_grant += 1;
        let id = GrantId(self.last_grant);
        let spent = Spent { lapses_at: self.ledger.count(self.now, shard, id), day: self.day };
        self.grants.give(shard, Grant { id, waited, given_at: self.now, identified_at: None, spent });
        self.remaining -= 1;
        self.outputs.push_back(Output::Grant { shard, grant: id });
        if self.remaining <= self.settings.low_water {
            self.outputs.push_back(Output::Note(Note::BudgetLow { remaining: self.remaining }));
        }
    }

    fn next_due(&self) -> Option<(Time, Reason)> {
        let busy = self.grants.busy(&self.lines, &self.settings);
        let of = |bucket| {
            let busy = busy.get(&bucket).copied().unwrap_or_default();
            let until = busy.until();
            (until, if busy.lapse == Some(until) { Reason::Lapse } else { Reason::Spacing })
        };
        self.lines.buckets().map(of).min_by_key(|(at, _)| *at)
    }
}

impl Gate for IdentifyQueue {
    type Input = Input;
    type Output = Output;
    type Reason = Reason;

    fn tick() -> Input {
        Input::Tick
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.now = self.now.max(now);
        self.ledger.take_changes();
        self.ledger.pass(self.now);
        self.grants.pass(self.now, self.day, &self.settings);
        let asked = match input {
            Input::Request { shard, http } => {
                self.request(shard, http);
                Some(shard)
            }
            Input::Release { shard, grant, unused } => {
                self.release(shard, grant, unused);
                None
            }
            Input::Identified { shard, grant } => {
                self.identified(shard, grant);
                None
            }
            Input::Refresh { limit, total, shards } => {
                self.settings.total = total.unwrap_or(self.settings.total);
                self.settings.shards = shards.unwrap_or(self.settings.shards);
                self.refresh(limit);
                None
            }
            Input::Deferred { shard, grant, until } => {
                self.deferred(shard, grant, until);
                None
            }
            Input::Tick => None,
        };
        self.grants.pass(self.now, self.day, &self.settings);
        self.look();
        if let Some(shard) = asked
            && let Some(behind) = self.lines.ahead_of(shard)
        {
            self.outputs.push_back(Output::Note(Note::Waiting { shard, behind }));
        }
        self.due = self.next_due();
        if let Some((at, _)) = self.due {
            self.outputs.push_back(Output::Wake { wait: at.since(self.now) });
        }
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        self.due
    }

    fn check_invariants(&self) {
        self.lines.check();
        self.ledger.check(self.now);
        self.grants.check(self.now, &self.settings);
        assert!(self.lines.len() == 0 || !self.budget_gone(), "nobody waits for a budget that is gone");
        assert!(self.due.is_none_or(|(at, _)| at > self.now), "what may be granted is");
        assert_eq!(self.due.is_none(), self.lines.len() == 0, "whoever waits is looked at again");
    }
}
