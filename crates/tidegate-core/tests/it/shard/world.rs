//! Shards, a plain identify queue and a scripted Discord, moved from event to event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_core::shard::{Event, Generation, Grant, Input, Output, Settings, Shard, StoredSession};
use tidegate_core::{Gate, Span, Time};

use super::queue::{Answer, Queue, SPACING_MS};

/// Heartbeat interval that Discord names in practice.
pub(crate) const BEAT_MS: u64 = 41_250;

/// What a shard did to Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Dial { main: bool },
    Identify,
    Resume,
    Beat,
    Close(u16),
}

/// When it did so, and how often it had done so before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    pub(crate) now_ms: u64,
    pub(crate) count: usize,
}

/// What Discord answers, each so many milliseconds later.
pub(crate) type Answers = Vec<(u64, Event)>;
type Script = Box<dyn FnMut(By, Act) -> Answers>;

/// One shard and what it did.
pub(super) struct Seat {
    pub(super) shard: Shard,
    pub(super) dials_ms: Vec<u64>,
    pub(super) identifies_ms: Vec<u64>,
    pub(super) resumes_ms: Vec<u64>,
    pub(super) beats: usize,
    pub(super) ready_ms: Option<u64>,
    pub(super) saved: Option<StoredSession>,
    pub(super) outputs: Vec<(u64, Output)>,
}

pub(super) struct World {
    pub(super) now_ms: u64,
    pub(super) seats: Vec<Seat>,
    pub(super) queue: Queue,
    script: Script,
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    pending: Vec<Option<Input>>,
    last_identify_ms: Vec<Option<u64>>,
    /// When each seat wants to be called.
    timeouts_ms: Vec<u64>,
}

pub(crate) fn open(delay_ms: u64) -> Answers {
    vec![(delay_ms, Event::Opened), (delay_ms, Event::Hello { interval: Span::from_millis(BEAT_MS) })]
}

pub(crate) fn ready() -> Event {
    Event::Ready { session: "s".into(), resume_url: "wss://r".into(), seq: 1 }
}

pub(crate) fn closed(code: u16) -> Event {
    Event::Closed { code: Some(code) }
}

/// The answers of a Discord in good health.
pub(crate) fn healthy(act: Act) -> Answers {
    match act {
        Act::Dial { .. } => open(200),
        Act::Identify => vec![(100, ready())],
        Act::Resume => vec![(100, Event::Resumed)],
        Act::Beat => vec![(50, Event::Ack)],
        Act::Close(_) => vec![],
    }
}

pub(crate) fn settings() -> Settings {
    Settings { url: "wss://main".into(), seed: seed(), ..Settings::default() }
}

/// `TIDEGATE_SEED` replays another run.
pub(crate) fn seed() -> u64 {
    std::env::var("TIDEGATE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

pub(crate) fn stored() -> StoredSession {
    StoredSession { id: "s".into(), seq: 1, resume_url: "wss://r".into(), backoff_step: 0, at: Time::ZERO }
}

impl World {
    pub(super) fn new(shards: usize, concurrency: usize, script: impl FnMut(By, Act) -> Answers + 'static) -> Self {
        Self::with(shards, concurrency, |_| {}, None, script)
    }

    pub(super) fn with(
        shards: usize,
        concurrency: usize,
        change: impl Fn(&mut Settings),
        stored: Option<&StoredSession>,
        script: impl FnMut(By, Act) -> Answers + 'static,
    ) -> Self {
        let seat = |id: usize| {
            let mut settings = settings();
            settings.shard = (u32::try_from(id).unwrap(), u32::try_from(shards).unwrap());
            change(&mut settings);
            Seat {
                shard: Shard::new(settings, stored.cloned()),
                dials_ms: Vec::new(),
                identifies_ms: Vec::new(),
                resumes_ms: Vec::new(),
                beats: 0,
                ready_ms: None,
                saved: stored.cloned(),
                outputs: Vec::new(),
            }
        };
        Self {
            now_ms: 0,
            seats: (0..shards).map(seat).collect(),
            queue: Queue::new(concurrency),
            script: Box::new(script),
            events: BinaryHeap::new(),
            pending: Vec::new(),
            last_identify_ms: vec![None; concurrency],
            timeouts_ms: vec![u64::MAX; shards],
        }
    }

    /// All shards are started now.
    pub(super) fn start(mut self) -> Self {
        for seat in 0..self.seats.len() {
            self.tell(seat, Input::Start);
        }
        self
    }

    pub(super) fn at(&mut self, at_ms: u64, seat: usize, input: Input) {
        self.events.push(Reverse((at_ms, self.pending.len() as u64, seat)));
        self.pending.push(Some(input));
    }

    fn tell(&mut self, seat: usize, input: Input) {
        let now = Time::from_millis(self.now_ms);
        if let Input::Socket { event: Event::Ready { .. }, .. } = input {
            self.seats[seat].ready_ms = Some(self.now_ms);
        }
        self.seats[seat].shard.handle(now, input);
        while let Some(output) = self.seats[seat].shard.poll_output() {
            self.carry_out(seat, &output);
            self.seats[seat].outputs.push((self.now_ms, output));
        }
        let timeout = self.seats[seat].shard.poll_timeout();
        self.timeouts_ms[seat] = timeout.map_or(u64::MAX, |(at, _)| at.as_millis_ceil().max(self.now_ms));
        self.ask_queue();
    }

    fn ask_queue(&mut self) {
        loop {
            let answers = self.queue.answers(self.now_ms);
            if answers.is_empty() {
                return;
            }
            for (seat, answer) in answers {
                let input = match answer {
                    Answer::Granted { grant } => Input::Granted { grant: Grant(grant) },
                    Answer::NextInLine { due_ms } => Input::NextInLine { due: Time::from_millis(due_ms) },
                    Answer::Denied { refresh_at_ms } => Input::Denied { refresh_at: Time::from_millis(refresh_at_ms) },
                };
                self.tell(seat, input);
            }
        }
    }

    fn carry_out(&mut self, seat: usize, output: &Output) {
        match output {
            Output::Connect { generation, url } => {
                self.seats[seat].dials_ms.push(self.now_ms);
                let count = self.seats[seat].dials_ms.len() - 1;
                self.ask(seat, *generation, count, Act::Dial { main: &**url == "wss://main" });
            }
            Output::Identify { generation } => {
                self.identified(seat);
                let count = self.seats[seat].identifies_ms.len() - 1;
                self.ask(seat, *generation, count, Act::Identify);
            }
            Output::Resume { generation, .. } => {
                self.seats[seat].resumes_ms.push(self.now_ms);
                let count = self.seats[seat].resumes_ms.len() - 1;
                self.ask(seat, *generation, count, Act::Resume);
            }
            Output::Beat { generation, .. } => {
                self.seats[seat].beats += 1;
                let count = self.seats[seat].beats - 1;
                self.ask(seat, *generation, count, Act::Beat);
            }
            Output::Close { generation, code } => self.ask(seat, *generation, 0, Act::Close(*code)),
            Output::RequestGrant => self.queue.request(seat),
            Output::ReleaseGrant { grant, unused } => self.queue.release(seat, grant.0, *unused),
            Output::SaveSession(session) => self.seats[seat].saved.clone_from(session),
            Output::Lost | Output::Waiting { .. } | Output::Stopped(_) | Output::Note(_) => {}
        }
    }

    /// Discord's own judge: never two within 5 s in a bucket.
    fn identified(&mut self, seat: usize) {
        self.queue.identified(self.now_ms, seat);
        self.seats[seat].identifies_ms.push(self.now_ms);
        let buckets = self.last_identify_ms.len();
        let last = self.last_identify_ms[seat % buckets].replace(self.now_ms);
        assert!(last.is_none_or(|last| self.now_ms >= last + SPACING_MS), "two IDENTIFYs within 5 s: {last:?}");
    }

    fn ask(&mut self, seat: usize, generation: Generation, count: usize, act: Act) {
        let by = By { now_ms: self.now_ms, count };
        for (delay_ms, event) in (self.script)(by, act) {
            self.at(self.now_ms + delay_ms, seat, Input::Socket { generation, event });
        }
    }

    /// Goes on until then; of what is due at one moment, timeouts come first.
    pub(super) fn run_until(&mut self, end_ms: u64) {
        loop {
            let timeout = self.timeouts_ms.iter().copied().zip(0..).min().filter(|(at_ms, _)| *at_ms < u64::MAX);
            let event = self.events.peek().map(|Reverse((at_ms, ..))| *at_ms);
            let queue = self.queue.next_ms().map(|at_ms| at_ms.max(self.now_ms));
            let next = [timeout.map(|(at_ms, _)| at_ms), event, queue].into_iter().flatten().min();
            let Some(at_ms) = next.filter(|at_ms| *at_ms <= end_ms) else {
                self.now_ms = self.now_ms.max(end_ms);
                return;
            };
            self.now_ms = self.now_ms.max(at_ms);
            if let Some((due_ms, seat)) = timeout
                && due_ms == at_ms
            {
                self.tell(seat, Input::Tick);
            } else if event == Some(at_ms) {
                let Some(Reverse((_, number, seat))) = self.events.pop() else { return };
                let input = self.pending[usize::try_from(number).unwrap()].take().unwrap();
                self.tell(seat, input);
            } else {
                self.ask_queue();
            }
        }
    }

    pub(super) fn identifies(&self) -> usize {
        self.seats.iter().map(|seat| seat.identifies_ms.len()).sum()
    }

    pub(super) fn dials(&self) -> usize {
        self.seats.iter().map(|seat| seat.dials_ms.len()).sum()
    }

    pub(super) fn live(&self) -> usize {
        let live = |seat: &&Seat| seat.shard.status() == tidegate_core::shard::Status::Live;
        self.seats.iter().filter(live).count()
    }
}

/// A small generator for scripts: not the one under test.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493))
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}
