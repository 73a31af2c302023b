//! A composite, a Discord that does its worst at random, and a judge who keeps his own books.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use tidegate_core::bot::{Gateway, Input, Output, Settings, ShardKey};
use tidegate_core::identify_queue::{self, GrantId};
use tidegate_core::shard::{self, Generation};
use tidegate_core::{Gate, Time, send_queue};

use super::judge::Judge;
use crate::shard::storms::storm;
use crate::shard::world::{Act, Dice, healthy};

/// What is still to come.
#[derive(Clone, Debug)]
enum Pending {
    Tell(Input<()>),
    /// Somebody who was granted over HTTP writes IDENTIFY.
    OutsideIdentifies(identify_queue::Shard, GrantId),
    OutsideReleases(identify_queue::Shard, GrantId),
    /// The driver or somebody outside does something.
    Whim,
}

pub(super) struct World {
    pub(super) gateway: Gateway<()>,
    pub(super) now_ms: u64,
    pub(super) judge: Judge,
    pub(super) dice: Dice,
    /// Until then the weather is bad, and whims come.
    calm_from_ms: u64,
    keys: Vec<ShardKey>,
    pending: BinaryHeap<Reverse<(u64, u64)>>,
    what: BTreeMap<u64, Pending>,
    last: u64,
    commands: u64,
    /// The grants of those who asked over HTTP.
    outside: BTreeMap<identify_queue::Shard, GrantId>,
}

impl World {
    pub(super) fn new(settings: Settings, judge: Judge, keys: Vec<ShardKey>, dice: Dice, calm_from_ms: u64) -> Self {
        let gateway = Gateway::new(settings, judge.limit(), []);
        let (pending, what) = (BinaryHeap::new(), BTreeMap::new());
        let (now_ms, last, commands) = (0, 0, 0);
        let mut world = Self {
            gateway,
            now_ms,
            judge,
            dice,
            calm_from_ms,
            keys,
            pending,
            what,
            last,
            commands,
            outside: BTreeMap::new(),
        };
        for key in world.keys.clone() {
            world.open(key);
        }
        world.at(1_000, Pending::Whim);
        world
    }

    fn open(&mut self, key: ShardKey) {
        let seed = self.dice.roll(1_000);
        self.tell(Input::Open { key, url: "wss://main".into(), seed, autonomous: true, stored: None });
        self.tell(Input::Shard { key, input: shard::Input::Start });
    }

    fn at(&mut self, at_ms: u64, pending: Pending) {
        self.last += 1;
        self.pending.push(Reverse((at_ms, self.last)));
        self.what.insert(self.last, pending);
    }

    fn tell(&mut self, input: Input<()>) {
        let heard = match &input {
            Input::Shard { key, input: shard::Input::Socket { generation, event } } => {
                Some((*key, *generation, event.clone()))
            }
            _ => None,
        };
        if let Some((key, generation, event)) = heard {
            self.judge.heard(key, generation, &event);
        }
        self.gateway.handle(Time::from_millis(self.now_ms), input);
        while let Some(output) = self.gateway.poll_output() {
            self.carry_out(&output);
        }
    }

    fn carry_out(&mut self, output: &Output<()>) {
        match output {
            Output::Shard { key, output } => self.shard_does(*key, output),
            Output::SendQueue { key, output: send_queue::Output::Send(_) } => self.judge.wrote(self.now_ms, *key, true),
            Output::SendQueue { key, output: send_queue::Output::Close { code } } => {
                // Its driver closes the socket and tells the shard so.
                if let Some(generation) = self.judge.closing(*key) {
                    let event = shard::Event::Closed { code: Some(*code) };
                    self.hear(0, *key, generation, event);
                }
            }
            Output::Outside(identify_queue::Output::Grant { shard, grant }) => {
                let writes_ms = self.now_ms + self.dice.roll(9_900);
                self.at(writes_ms, Pending::OutsideIdentifies(*shard, *grant));
                self.outside.insert(*shard, *grant);
                if self.dice.roll(2) == 0 {
                    let releases_ms = writes_ms + self.dice.roll(10_000);
                    self.at(releases_ms, Pending::OutsideReleases(*shard, *grant));
                }
            }
            Output::SendQueue { .. } | Output::IdentifyQueue(_) | Output::Outside(_) | Output::NotOpened { .. } => {}
        }
    }

    fn shard_does(&mut self, key: ShardKey, output: &shard::Output) {
        let (generation, act) = match output {
            shard::Output::Connect { generation, url } => {
                self.judge.dials(key, *generation);
                (*generation, Act::Dial { main: &**url == "wss://main" })
            }
            shard::Output::Identify { generation } => {
                self.judge.identifies(self.now_ms, i64::from(key.id));
                (*generation, Act::Identify)
            }
            shard::Output::Resume { generation, .. } => (*generation, Act::Resume),
            shard::Output::Beat { generation, .. } => (*generation, Act::Beat),
            shard::Output::Close { generation, code } => {
                self.judge.closes(key, *generation);
                (*generation, Act::Close(*code))
            }
            _ => return,
        };
        if !matches!(act, Act::Dial { .. } | Act::Close(_)) {
            assert!(self.judge.writes_to(key, generation), "{key:?} writes to a connection that is not its own");
            self.judge.wrote(self.now_ms, key, false);
        }
        let answers = if self.now_ms < self.calm_from_ms { storm(&mut self.dice, act) } else { healthy(act) };
        for (delay_ms, event) in answers {
            self.hear(delay_ms, key, generation, event);
        }
    }

    fn hear(&mut self, delay_ms: u64, key: ShardKey, generation: Generation, event: shard::Event) {
        let input = shard::Input::Socket { generation, event };
        self.at(self.now_ms + delay_ms, Pending::Tell(Input::Shard { key, input }));
    }

    fn whim(&mut self) {
        if self.now_ms >= self.calm_from_ms {
            return;
        }
        let which = usize::try_from(self.dice.roll(self.keys.len() as u64)).unwrap();
        let key = self.keys[which];
        let id = i64::from(key.id);
        match self.dice.roll(12) {
            0 => {
                self.tell(Input::Forget { key });
                self.judge.forgets(key);
            }
            1 | 2 => self.open(key),
            3 => self.tell(Input::Shard { key, input: shard::Input::Stop }),
            4 => self.tell(Input::Shard { key, input: shard::Input::Start }),
            5 => self.tell(Input::Shard { key, input: shard::Input::Fresh { differs: true } }),
            6 => {
                self.outside.remove(&id);
                self.tell(Input::IdentifyQueue(identify_queue::Input::Request { shard: id, http: true }));
            }
            7 => {
                self.outside.remove(&id);
                let release = identify_queue::Input::Release { shard: id, grant: None, unused: false };
                self.tell(Input::IdentifyQueue(release));
            }
            8 => self.tell(Input::Shard { key, input: shard::Input::Restart }),
            9 => self.refresh(),
            _ => {
                for _ in 0..self.dice.roll(60) {
                    self.commands += 1;
                    let input = send_queue::Input::Command { id: self.commands, op: 4, guild: None, bytes: 80 };
                    self.tell(Input::SendQueue { key, input });
                }
            }
        }
        let next_ms = self.now_ms + self.dice.roll(20_000);
        self.at(next_ms, Pending::Whim);
    }

    pub(super) fn refresh(&mut self) {
        let limit = self.judge.limit_at(self.now_ms);
        self.tell(Input::IdentifyQueue(identify_queue::Input::Refresh { limit, total: None, shards: None }));
    }

    /// All shards are to be up.
    pub(super) fn start_all(&mut self) {
        for key in self.keys.clone() {
            self.open(key);
            self.tell(Input::Shard { key, input: shard::Input::Restart });
        }
    }

    pub(super) fn run_until(&mut self, end_ms: u64) {
        loop {
            let timeout = self.gateway.poll_timeout().map(|(at, _)| at.as_millis_ceil().max(self.now_ms));
            let event = self.pending.peek().map(|Reverse((at_ms, _))| *at_ms);
            let Some(at_ms) = timeout.into_iter().chain(event).min().filter(|at_ms| *at_ms <= end_ms) else {
                self.now_ms = end_ms;
                return;
            };
            self.now_ms = self.now_ms.max(at_ms);
            if timeout == Some(at_ms) {
                self.tell(Input::Tick);
                continue;
            }
            let Some(Reverse((_, number))) = self.pending.pop() else { return };
            match self.what.remove(&number) {
                Some(Pending::Tell(input)) => self.tell(input),
                // Whoever asked again or gave its grant back does not use it.
                Some(Pending::OutsideIdentifies(shard, grant)) if self.outside.get(&shard) == Some(&grant) => {
                    self.judge.identifies(self.now_ms, shard);
                }
                Some(Pending::OutsideReleases(shard, grant)) => {
                    let release = identify_queue::Input::Release { shard, grant: Some(grant), unused: false };
                    self.tell(Input::IdentifyQueue(release));
                }
                Some(Pending::Whim) => self.whim(),
                Some(Pending::OutsideIdentifies(..)) | None => {}
            }
        }
    }

    pub(super) fn live(&self) -> usize {
        let live =
            |key: &&ShardKey| self.gateway.shard(**key).is_some_and(|shard| shard.status() == shard::Status::Live);
        self.keys.iter().filter(live).count()
    }
}
