//! Keeps all grants that there ever were, and judges each new one by looking through them.

use std::collections::BTreeMap;

use tidegate_core::identify_queue::{Input, Note, Output, SessionStartLimit, Settings, Shard};

const SPACING: u64 = 5_000;
const HOLD: u64 = 30_000;
const DAY: u64 = 86_400_000;

#[derive(Clone, Debug)]
struct Given {
    shard: Shard,
    number: u64,
    /// Where it stood in the order of asking.
    place: i64,
    at: u64,
    /// When it was given back, lapsed, or turned out to have never been.
    ended: Option<u64>,
    written: Option<u64>,
    undone: bool,
    day: u64,
}

/// Moments in milliseconds.
#[derive(Debug)]
pub(crate) struct Judge {
    max_concurrency: i64,
    rolling_limit: u64,
    kept_for_seldom: u64,
    remaining: u64,
    reset_at: u64,
    day: u64,
    passed: Option<u64>,
    given: Vec<Given>,
    /// Buckets are not free before then, by whoever they were told of.
    blocked: Vec<(Shard, u64)>,
    waiting: BTreeMap<Shard, i64>,
    places: i64,
}

impl Judge {
    pub(crate) fn new(settings: &Settings, limit: &SessionStartLimit) -> Self {
        let kept_for_seldom = if settings.shards > 1 { settings.rolling_limit / 5 } else { 0 };
        Self {
            max_concurrency: limit.max_concurrency,
            rolling_limit: settings.rolling_limit,
            kept_for_seldom,
            remaining: u64::try_from(limit.remaining).unwrap(),
            reset_at: limit.reset_at.as_micros() / 1_000,
            day: 0,
            passed: None,
            given: Vec::new(),
            blocked: Vec::new(),
            waiting: BTreeMap::new(),
            places: 0,
        }
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of the grant that this shard may use at this moment.
    pub(crate) fn living(&self, now: u64, shard: Shard) -> Option<u64> {
        let usable = |given: &&Given| given.shard == shard && given.ended.is_none() && given.at + HOLD > now;
        self.given.iter().find(usable).map(|given| given.number)
    }

    fn bucket(&self, shard: Shard) -> i64 {
        shard.rem_euclid(self.max_concurrency)
    }

    fn counted(&self, now: u64, shard: Option<Shard>) -> u64 {
        let counts = |given: &&Given| !given.undone && given.at + DAY > now && shard.is_none_or(|of| given.shard == of);
        self.given.iter().filter(counts).count() as u64
    }

    /// Whether something stands in the way of this shard's bucket.
    fn busy(&self, now: u64, shard: Shard) -> bool {
        let same = |other: Shard| self.bucket(other) == self.bucket(shard);
        let start = |given: &Given| given.written.unwrap_or(given.at) + SPACING;
        self.blocked.iter().any(|(other, until)| same(*other) && *until > now)
            || self.given.iter().filter(|given| same(given.shard)).any(|given| match given.ended {
                None => true,
                Some(_) => start(given) > now && (!given.undone || given.written.is_some()),
            })
    }

    fn undo(&mut self, at: usize) {
        self.given[at].undone = true;
        self.remaining += u64::from(self.given[at].day == self.day);
    }

    fn find(&self, shard: Shard, number: Option<u64>) -> Option<usize> {
        let this =
            |given: &Given| given.shard == shard && given.ended.is_none() && number.is_none_or(|n| given.number == n);
        self.given.iter().position(this)
    }

    /// A grant that lapsed and nobody said was used.
    fn find_lapsed(&self, shard: Shard, number: Option<u64>) -> Option<usize> {
        let this = |given: &Given| {
            let lapsed = given.ended == Some(given.at + HOLD) && given.written.is_none() && !given.undone;
            given.shard == shard && Some(given.number) == number && lapsed
        };
        self.given.iter().position(this)
    }

    /// Takes in what the gate is about to be told.
    pub(crate) fn before(&mut self, now: u64, input: &Input) {
        for given in self.given.iter_mut().filter(|given| given.ended.is_none() && given.at + HOLD <= now) {
            given.ended = Some(given.at + HOLD);
        }
        match input {
            Input::Request { shard, .. } => {
                if let Some(at) = self.find(*shard, None) {
                    self.given[at].ended = Some(now);
                }
                self.places += 1;
                self.waiting.entry(*shard).or_insert(self.places);
            }
            Input::Release { shard, grant, unused } => {
                let number = grant.map(|grant| grant.0);
                if number.is_none() {
                    self.waiting.remove(shard);
                }
                if let Some(at) = self.find(*shard, number) {
                    self.given[at].ended = Some(now);
                    if *unused && self.given[at].written.is_none() {
                        self.undo(at);
                    }
                } else if let Some(at) = self.find_lapsed(*shard, number).filter(|_| *unused) {
                    self.undo(at);
                    self.blocked.push((*shard, self.given[at].at + SPACING));
                }
            }
            Input::Identified { shard, grant } => match self.find(*shard, grant.map(|grant| grant.0)) {
                Some(at) => self.given[at].written = Some(now),
                None => self.blocked.push((*shard, now + SPACING)),
            },
            Input::Deferred { shard, grant, until } => {
                if let Some(at) = self.find(*shard, Some(grant.0)).filter(|at| self.given[*at].written.is_none()) {
                    self.given[at].ended = Some(now);
                    self.undo(at);
                    self.blocked.push((*shard, until.as_micros() / 1_000));
                    let same = |other: &&Shard| self.bucket(**other) == self.bucket(*shard);
                    let first = self.waiting.keys().filter(same).map(|other| self.waiting[other]).min();
                    let place = self.given[at].place.min(first.map_or(i64::MAX, |first| first - 1));
                    self.waiting.insert(*shard, place);
                }
            }
            Input::Refresh { limit, .. } => {
                let reset_at = limit.reset_at.as_micros() / 1_000;
                let passed = now >= self.reset_at && self.passed != Some(self.reset_at);
                let told = u64::try_from(limit.remaining).unwrap_or(0);
                if passed || reset_at > self.reset_at + 3_600_000 {
                    if passed {
                        self.passed = Some(self.reset_at);
                    }
                    self.day += 1;
                    self.remaining = told;
                } else {
                    self.remaining = self.remaining.min(told);
                }
                self.reset_at = reset_at;
                self.max_concurrency = limit.max_concurrency.max(1);
            }
            Input::Tick => {}
        }
    }

    /// Judges what the gate answered.
    pub(crate) fn after(&mut self, now: u64, input: &Input, outputs: &[Output], remaining: u64) {
        let mut last_bucket = None;
        // Told after the grants of their step, they make way for them.
        let denied: Vec<Shard> = outputs
            .iter()
            .filter_map(|output| match output {
                Output::Deny { shard, .. } => Some(*shard),
                Output::Grant { .. } | Output::Note(_) | Output::Wake { .. } => None,
            })
            .collect();
        for output in outputs {
            match output {
                Output::Grant { shard, grant } => {
                    assert!(last_bucket < Some(self.bucket(*shard)), "one grant per bucket, in order");
                    last_bucket = Some(self.bucket(*shard));
                    self.grant(now, *shard, grant.0, &denied);
                }
                Output::Deny { shard, refresh_at } => self.deny(now, *shard, refresh_at.as_micros() / 1_000),
                Output::Note(Note::Waiting { shard, behind }) => {
                    assert!(matches!(input, Input::Request { shard: asked, .. } if asked == shard));
                    assert_eq!(*behind, self.ahead_of(*shard, &[]));
                }
                Output::Note(Note::BudgetLow { remaining }) => assert_eq!(*remaining, self.remaining),
                Output::Wake { wait } => assert!(wait.as_micros() > 0 && !self.waiting.is_empty()),
            }
        }
        assert_eq!(remaining, self.remaining, "{input:?}");
        assert_eq!(self.waiting.is_empty(), !matches!(outputs.last(), Some(Output::Wake { .. })));
        for shard in self.waiting.keys() {
            assert!(self.busy(now, *shard), "{shard} waits for nothing");
            assert!(self.remaining > 0 && self.counted(now, None) < self.rolling_limit, "{shard} waits in vain");
        }
    }

    fn ahead_of(&self, shard: Shard, but: &[Shard]) -> usize {
        let ahead = |other: &(&Shard, &i64)| {
            self.bucket(*other.0) == self.bucket(shard) && (*other.1, *other.0) < (self.waiting[&shard], shard)
        };
        self.waiting.iter().filter(ahead).filter(|(other, _)| !but.contains(other)).count()
    }

    fn grant(&mut self, now: u64, shard: Shard, number: u64, denied: &[Shard]) {
        assert!(!self.busy(now, shard), "{shard} was granted too early at {now}: {self:?}");
        assert_eq!(self.ahead_of(shard, denied), 0, "{shard} jumped the line");
        let place = self.waiting.remove(&shard).expect("it asked");
        assert!(self.counted(now, None) < self.rolling_limit, "the rolling budget is exceeded");
        assert!(!self.often(now, shard), "the last fifth is for others");
        assert!(self.remaining > 0, "the day's budget is exceeded");
        self.remaining -= 1;
        let (ended, written, undone, day) = (None, None, false, self.day);
        self.given.push(Given { shard, number, place, at: now, ended, written, undone, day });
    }

    fn often(&self, now: u64, shard: Shard) -> bool {
        self.kept_for_seldom > 0
            && self.counted(now, None) >= self.rolling_limit - self.kept_for_seldom
            && self.counted(now, Some(shard)) >= 3
    }

    fn deny(&mut self, now: u64, shard: Shard, refresh_at: u64) {
        assert!(self.waiting.remove(&shard).is_some(), "{shard} did not ask");
        let rolling = self.counted(now, None) >= self.rolling_limit;
        assert!(self.remaining == 0 || rolling || self.often(now, shard), "{shard} was denied for nothing");
        assert!(refresh_at > now);
        if self.remaining > 0 {
            // By then whatever it was denied for is over.
            let still = if rolling {
                self.counted(refresh_at, None) >= self.rolling_limit
            } else {
                self.often(refresh_at, shard)
            };
            assert!(!still, "{shard} was told {refresh_at}, and is denied then too");
        }
    }
}
