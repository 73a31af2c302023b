//! Watches one shard from outside: what it may never do, whatever it is told.

use std::collections::BTreeMap;

use tidegate_core::shard::{Event, Generation, Grant, Input, Note, Output, Shard, Status};
use tidegate_core::{Gate, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Socket {
    greeted: bool,
    asked: bool,
}

/// A shard and what is known of it without looking inside.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub(super) shard: Shard,
    pub(super) now: Time,
    open: BTreeMap<Generation, Socket>,
    dialled: u64,
    /// Grants given and not given back, and whether each was written with.
    grants: BTreeMap<Grant, bool>,
    saved: Option<bool>,
    pub(super) identifies: Vec<Time>,
}

impl Watched {
    pub(super) fn new(shard: Shard) -> Self {
        Self {
            shard,
            now: Time::ZERO,
            open: BTreeMap::new(),
            dialled: 0,
            grants: BTreeMap::new(),
            saved: None,
            identifies: Vec::new(),
        }
    }

    pub(super) fn generation(&self) -> Generation {
        Generation(self.dialled)
    }

    pub(super) fn tell(&mut self, now: Time, input: &Input) -> Vec<Output> {
        self.now = self.now.max(now);
        let stale = match input {
            Input::Socket { generation, .. } => !self.open.contains_key(generation),
            _ => false,
        };
        let before = stale.then(|| {
            // What time alone does is not the event's doing.
            self.step(&Input::Tick);
            format!("{:?} {:?}", self.shard, self.shard.poll_timeout())
        });
        let outputs = self.step(input);
        if let (Some(before), Input::Socket { generation, .. }) = (before, input) {
            assert_eq!(outputs, [Output::Note(Note::Stale { generation: *generation })]);
            assert_eq!(
                before,
                format!("{:?} {:?}", self.shard, self.shard.poll_timeout()),
                "a stale event changes nothing"
            );
        }
        outputs
    }

    fn step(&mut self, input: &Input) -> Vec<Output> {
        match input {
            Input::Granted { grant } => {
                self.grants.insert(*grant, false);
            }
            Input::Socket { generation, event } => self.heard(*generation, event),
            _ => {}
        }
        let ended = match input {
            Input::Socket { generation, event } => ends(event) && self.open.contains_key(generation),
            _ => false,
        };
        self.shard.handle(self.now, input.clone());
        if let Input::Socket { generation, event: Event::Closed { .. } | Event::Error } = input {
            self.open.remove(generation);
        }
        let outputs: Vec<Output> = std::iter::from_fn(|| self.shard.poll_output()).collect();
        for output in &outputs {
            self.did(output);
        }
        assert!(outputs.len() <= 12, "one input has few outcomes: {outputs:?}");
        self.standing(ended, &outputs);
        outputs
    }

    fn heard(&mut self, generation: Generation, event: &Event) {
        if let (Some(socket), Event::Hello { .. }) = (self.open.get_mut(&generation), event) {
            socket.greeted = true;
        }
    }

    fn did(&mut self, output: &Output) {
        match output {
            Output::Connect { generation, .. } => {
                assert!(self.open.is_empty(), "at most one living connection: {:?}", self.open);
                self.dialled += 1;
                assert_eq!(generation.0, self.dialled, "every connection has a number of its own");
                self.open.insert(*generation, Socket::default());
            }
            Output::Close { generation, .. } => {
                // One that failed is closed for good measure.
                assert!(generation.0 == self.dialled);
                self.open.remove(generation);
            }
            Output::Beat { generation, .. } => assert!(self.open.contains_key(generation), "beats on the living"),
            Output::Identify { generation } => {
                self.identifies.push(self.now);
                self.asks(*generation);
                let grants: Vec<_> = self.grants.values_mut().collect();
                assert_eq!(grants.len(), 1, "one IDENTIFY, one grant");
                for written in grants {
                    assert!(!std::mem::replace(written, true), "a grant is good for one IDENTIFY");
                }
            }
            Output::Resume { generation, .. } => {
                self.asks(*generation);
                assert_ne!(self.saved, Some(false), "RESUME of a session that was dropped");
            }
            Output::ReleaseGrant { grant, unused } => {
                assert_eq!(self.grants.remove(grant), Some(!unused), "given back once, as it was used");
            }
            Output::SaveSession(session) => self.saved = Some(session.is_some()),
            Output::RequestGrant | Output::Lost | Output::Waiting { .. } | Output::Stopped(_) | Output::Note(_) => {}
        }
    }

    fn asks(&mut self, generation: Generation) {
        let socket = self.open.get_mut(&generation).expect("asks on the living");
        assert!(socket.greeted && !socket.asked, "after HELLO, and once: {socket:?}");
        socket.asked = true;
    }

    /// What holds between two inputs.
    fn standing(&self, ended: bool, outputs: &[Output]) {
        let status = self.shard.status();
        let timeout = self.shard.poll_timeout();
        assert!(timeout.is_none_or(|(at, _)| at > self.now), "what is due is done: {timeout:?}");
        assert!(self.open.len() <= 1);
        assert!(self.grants.len() <= 1, "a grant that nobody wants is given back at once");
        let idle = self.open.is_empty();
        match status {
            Status::Off | Status::NotAsked | Status::Stopped(_) => assert!(idle, "{status:?} with a connection"),
            Status::Waiting { until, .. } => {
                assert!(idle && timeout.is_some_and(|(at, _)| at <= until), "{status:?} without its one timer");
            }
            Status::InLine => assert!(idle && self.grants.is_empty(), "in line with a grant"),
            Status::Connecting | Status::AwaitingGrant | Status::Identifying | Status::Resuming | Status::Live => {
                assert!(!idle, "{status:?} without a connection");
            }
        }
        if ended {
            // Every end schedules or reports.
            let reports = outputs.iter().any(|output| match output {
                Output::Connect { .. }
                | Output::RequestGrant
                | Output::Lost
                | Output::Stopped(_)
                | Output::Waiting { .. } => true,
                Output::Close { .. }
                | Output::Beat { .. }
                | Output::Identify { .. }
                | Output::Resume { .. }
                | Output::ReleaseGrant { .. }
                | Output::SaveSession(_)
                | Output::Note(_) => false,
            });
            let waits = matches!(status, Status::Waiting { .. } | Status::InLine);
            assert!(reports || waits, "an end that leads nowhere: {status:?} {outputs:?}");
        }
    }
}

fn ends(event: &Event) -> bool {
    match event {
        Event::Reconnect | Event::InvalidSession { .. } | Event::Closed { .. } | Event::Error => true,
        Event::Opened
        | Event::Hello { .. }
        | Event::Ready { .. }
        | Event::Resumed
        | Event::Dispatch { .. }
        | Event::Ack
        | Event::BeatAsked
        | Event::Sent { .. } => false,
    }
}
