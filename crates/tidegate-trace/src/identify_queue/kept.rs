//! The identify queue together with the place where its session starts are kept.

use tidegate_core::identify_queue::{
    IdentifyQueue, InMemoryStarts, Input, Output, Reason, SessionStartLimit, Settings, Start, StartStore,
};
use tidegate_core::{Gate, Time};

pub(crate) struct Kept {
    queue: IdentifyQueue,
    starts: InMemoryStarts,
}

impl Kept {
    pub(super) fn new(settings: Settings, limit: SessionStartLimit, starts: Vec<Start>) -> Self {
        let starts = InMemoryStarts::with(starts);
        Self { queue: IdentifyQueue::new(settings, limit, starts.kept(Time::ZERO)), starts }
    }
}

impl Gate for Kept {
    type Input = Input;
    type Output = Output;
    type Reason = Reason;

    fn tick() -> Input {
        IdentifyQueue::tick()
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.queue.handle(now, input);
        for change in self.queue.take_changes() {
            self.starts.apply(now, change);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.queue.poll_output()
    }

    fn poll_timeout(&self) -> Option<(Time, Reason)> {
        self.queue.poll_timeout()
    }

    fn check_invariants(&self) {
        self.queue.check_invariants();
    }
}
