//! What went to a connection that died: a Discord that reads some of it, acknowledges and answers some of that, and a judge
//! who knows what a bot is owed.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tidegate_core::send_queue::{
    AGAIN_MAX, ANSWER_WAIT, DropReason, Frame, Input, OWED_BYTES, OWED_MAX, Output, SendQueue, Settings,
};
use tidegate_core::{Gate, Span, Time};

/// What a bot sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Presence,
    Voice(u8),
    Plain,
    Request,
    AllMembers(u8),
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Ask(Asked),
    Subscribe(u8),
    Beat,
    /// Discord acknowledges a beat that it read.
    Ack,
    /// Discord answers a request that it read.
    Answer,
    /// From now on nothing that is written arrives.
    Deaf,
    /// The connection dies with all that is on its way, and the session is resumed so many ms later.
    Dies(u64),
}

fn name(guild: u8) -> std::sync::Arc<str> {
    format!("g{guild}").into()
}

fn input(id: u64, asked: Asked) -> Input<u64> {
    let command = |op, guild| Input::Command { id, op, guild, bytes: 10 };
    match asked {
        Asked::Presence => command(3, None),
        Asked::Voice(guild) => command(4, Some(name(guild))),
        Asked::Plain => command(99, None),
        Asked::Request => command(31, None),
        Asked::AllMembers(guild) => Input::MembersRequest { id, guild: name(guild), all: true, bytes: 10 },
    }
}

/// A gate, and a Discord behind a connection that may lose everything.
struct World {
    gate: SendQueue<u64>,
    now: u64,
    connection: u32,
    hears: bool,
    acks: u32,
    /// What it read and has not answered.
    unanswered: Vec<u64>,
    asked: BTreeMap<u64, Asked>,
    read: BTreeSet<u64>,
    answered: BTreeSet<u64>,
    /// The last state of each kind that it read, and the last snapshot of each guild.
    states: Vec<(Asked, u64)>,
    viewport: BTreeMap<String, u64>,
    /// All commands that went: on which connection, when, which.
    went: Vec<(u32, u64, u64)>,
    /// All frames: on which connection, when, whether the queue let it out.
    frames: Vec<(u32, u64, bool)>,
    /// Refused, dropped or superseded.
    over: BTreeSet<u64>,
}

impl World {
    fn new() -> Self {
        Self {
            gate: SendQueue::new(Settings::default()),
            now: 0,
            connection: 0,
            hears: true,
            acks: 0,
            unanswered: Vec::new(),
            asked: BTreeMap::new(),
            read: BTreeSet::new(),
            answered: BTreeSet::new(),
            states: Vec::new(),
            viewport: BTreeMap::new(),
            went: Vec::new(),
            frames: Vec::new(),
            over: BTreeSet::new(),
        }
    }

    fn tell(&mut self, input: Input<u64>) {
        self.gate.handle(Time::from_millis(self.now), input);
        while let Some(output) = self.gate.poll_output() {
            match output {
                Output::Send(frame) => self.comes(frame),
                Output::Refused { what, .. } => panic!("{what:?}"),
                Output::Dropped { id, .. } => drop(self.over.insert(id)),
                Output::Close { .. } => panic!("a beat found no room"),
            }
        }
    }

    fn comes(&mut self, frame: Frame<u64>) {
        self.frames.push((self.connection, self.now, true));
        match frame {
            Frame::Command { id } => {
                self.went.push((self.connection, self.now, id));
                let asked = self.asked[&id];
                if !self.hears {
                    return;
                }
                self.read.insert(id);
                match asked {
                    Asked::Presence | Asked::Voice(_) => self.states.push((asked, id)),
                    Asked::Request | Asked::AllMembers(_) => self.unanswered.push(id),
                    Asked::Plain => {}
                }
            }
            Frame::Subscriptions(guilds) if self.hears => {
                self.viewport.extend(guilds.into_iter().map(|(guild, id)| (guild.to_string(), id)));
            }
            Frame::Subscriptions(_) => {}
        }
    }

    fn until(&mut self, end: u64) {
        while let Some((due, _)) = self.gate.poll_timeout().filter(|(due, _)| due.as_millis_ceil() <= end) {
            self.now = due.as_millis_ceil().max(self.now);
            self.tell(Input::Tick);
        }
        self.now = end;
    }

    fn act(&mut self, id: u64, act: Act) {
        match act {
            Act::Ask(asked) => {
                self.asked.insert(id, asked);
                self.tell(input(id, asked));
            }
            Act::Subscribe(guild) => self.tell(Input::Subscribe { guild: name(guild), snapshot: id, bytes: 10 }),
            Act::Beat => self.beat(),
            Act::Ack if self.acks > 0 => {
                self.acks -= 1;
                self.tell(Input::Ack);
            }
            Act::Answer if !self.unanswered.is_empty() => {
                let id = self.unanswered.remove(0);
                self.answered.insert(id);
                self.tell(Input::Answered { id });
            }
            Act::Ack | Act::Answer => {}
            Act::Deaf => self.hears = false,
            Act::Dies(gap) => self.dies(gap),
        }
    }

    fn beat(&mut self) {
        let minute = self
            .frames
            .iter()
            .filter(|(connection, at, queued)| *connection == self.connection && !queued && at + 60_000 > self.now);
        if minute.count() < 18 {
            self.frames.push((self.connection, self.now, false));
            self.acks += u32::from(self.hears);
            self.tell(Input::Direct { op: 1 });
        }
    }

    fn dies(&mut self, gap: u64) {
        self.tell(Input::Closed { code: Some(1006) });
        (self.hears, self.acks) = (true, 0);
        self.unanswered.clear();
        self.until(self.now + gap);
        self.connection += 1;
        self.tell(Input::Opened);
        self.frames.push((self.connection, self.now, false));
        self.tell(Input::Direct { op: 6 });
        self.until(self.now + 50);
        self.tell(Input::Resumed);
    }

    /// All goes well for ten minutes.
    fn calm(&mut self) {
        self.dies(100);
        for _ in 0..60 {
            self.beat();
            while self.acks > 0 {
                self.act(0, Act::Ack);
            }
            while !self.unanswered.is_empty() {
                self.act(0, Act::Answer);
            }
            self.until(self.now + 10_000);
        }
    }

    /// Whether it went as often as one may.
    fn is_given_up(&self, id: u64) -> bool {
        self.went.iter().filter(|(.., went)| *went == id).count() > usize::from(AGAIN_MAX)
    }

    fn judge(&self) -> Result<(), TestCaseError> {
        for (id, asked) in self.asked.iter().filter(|(id, _)| !self.over.contains(id) && !self.is_given_up(**id)) {
            match asked {
                Asked::Presence | Asked::Voice(_) => {
                    let newer = |(other, of): (&u64, &Asked)| other > id && of == asked && !self.over.contains(other);
                    if !self.asked.iter().any(newer) {
                        let last = self.states.iter().rfind(|(of, _)| of == asked).map(|(_, id)| id);
                        prop_assert_eq!(last, Some(id), "the latest {:?} holds", asked);
                    }
                }
                Asked::Plain => prop_assert!(self.read.contains(id), "{} was read", id),
                Asked::Request | Asked::AllMembers(_) => prop_assert!(self.answered.contains(id), "{} is answered", id),
            }
        }
        self.judge_order()?;
        self.judge_budget()
    }

    /// What goes again goes in the order in which it went first, before what never went. States and all members have their
    /// own turns.
    fn judge_order(&self) -> Result<(), TestCaseError> {
        let plain = |id: u64| matches!(self.asked[&id], Asked::Plain | Asked::Request);
        let went: Vec<_> = self.went.iter().filter(|(.., id)| plain(*id)).collect();
        for (at, (connection, _, id)) in went.iter().enumerate() {
            let later = went[at + 1..].iter().filter(|(other, ..)| other == connection);
            for (_, _, other) in later {
                prop_assert!(other > id, "{} went behind {} on connection {}", other, id, connection);
            }
        }
        Ok(())
    }

    fn judge_budget(&self) -> Result<(), TestCaseError> {
        for (connection, at, _) in &self.frames {
            let minute = |(of, other, _): &&(u32, u64, bool)| of == connection && other <= at && other + 60_000 > *at;
            let (all, queued) = self
                .frames
                .iter()
                .filter(minute)
                .fold((0, 0), |(all, queued), (.., is_queued)| (all + 1, queued + u32::from(*is_queued)));
            prop_assert!(all <= 120 && queued <= 100, "{} frames, {} queued", all, queued);
        }
        let mut last = BTreeMap::new();
        for (_, at, id) in &self.went {
            if let Asked::AllMembers(guild) = self.asked[id] {
                let before = last.insert(guild, *at);
                prop_assert!(before.is_none_or(|before| before + 30_000 <= *at), "{} again too soon", guild);
            }
        }
        Ok(())
    }
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let guild = || 0_u8..3;
    let asked = prop_oneof![
        Just(Asked::Presence),
        guild().prop_map(Asked::Voice),
        Just(Asked::Plain),
        Just(Asked::Request),
        guild().prop_map(Asked::AllMembers),
    ];
    let act = prop_oneof![
        12 => asked.prop_map(Act::Ask),
        4 => guild().prop_map(Act::Subscribe),
        4 => Just(Act::Beat),
        4 => Just(Act::Ack),
        4 => Just(Act::Answer),
        2 => Just(Act::Deaf),
        2 => (0_u64..5_000).prop_map(Act::Dies),
    ];
    let gap = prop_oneof![6 => 0_u64..50, 2 => 0_u64..2_000];
    prop::collection::vec((gap, act), 1..180)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn e11_whatever_dies_every_effect_is_seen_in_the_end(acts in acts()) {
        let mut world = World::new();
        let mut viewport = BTreeMap::new();
        for (id, (gap, act)) in (1..).zip(&acts) {
            world.until(world.now + gap);
            if let Act::Subscribe(guild) = act {
                viewport.insert(name(*guild).to_string(), id);
            }
            world.act(id, *act);
        }
        world.calm();
        world.judge()?;
        prop_assert_eq!(&world.viewport, &viewport);
        // What is known still is what a RATE_LIMITED may come for.
        world.until(world.now + 300_000);
        world.tell(Input::Tick);
        prop_assert_eq!(world.gate.known(), 0, "nothing is remembered for ever");
    }
}

/// Tells a gate, at one moment, and gives the commands that go.
fn go(gate: &mut SendQueue<u64>, at: u64, inputs: impl IntoIterator<Item = Input<u64>>) -> Vec<u64> {
    let mut went = Vec::new();
    for input in inputs {
        gate.handle(Time::from_millis(at), input);
        while let Some(output) = gate.poll_output() {
            if let Output::Send(Frame::Command { id }) = output {
                went.push(id);
            }
        }
    }
    went
}

fn dies() -> [Input<u64>; 4] {
    [Input::Closed { code: None }, Input::Opened, Input::Direct { op: 6 }, Input::Resumed]
}

#[test]
fn what_is_remembered_is_bounded_and_the_newest_is() {
    let settings = || Settings { queued_limit: 5_000, platform_limit: 10_000, ..Settings::default() };
    let mut gate = SendQueue::new(settings());
    let asked = (1..=1_000).map(|id| input(id, Asked::Request));
    assert_eq!(go(&mut gate, 0, asked).len(), 1_000);
    assert_eq!(go(&mut gate, 10, dies()), (1_001 - OWED_MAX as u64..=1_000).collect::<Vec<_>>());
    let mut gate = SendQueue::new(settings());
    let large = (1..=100).map(|id| Input::Command { id, op: 31, guild: None, bytes: 4_096 });
    assert_eq!(go(&mut gate, 0, large).len(), 100);
    assert_eq!(gate.known(), OWED_BYTES / 4_096);
    assert_eq!(go(&mut gate, 10, dies()), (93..=100).collect::<Vec<_>>());
    assert!((93..=100).all(|id| gate.knows(id)) && !gate.knows(92));
}

#[test]
fn snapshots_that_are_remembered_are_bounded() {
    let settings =
        Settings { queued_limit: 5_000, subscription_limit: 5_000, platform_limit: 10_000, ..Settings::default() };
    let mut gate = SendQueue::new(settings);
    let guilds = (0..1_000).map(|id| Input::Subscribe { guild: format!("{id}").into(), snapshot: id, bytes: 10 });
    go(&mut gate, 0, guilds);
    assert_eq!(gate.pending_guilds(), 0);
    let mut shown = 0;
    for input in dies() {
        gate.handle(Time::from_millis(10), input);
        while let Some(output) = gate.poll_output() {
            if let Output::Send(Frame::Subscriptions(guilds)) = output {
                shown += guilds.len();
            }
        }
    }
    assert_eq!(shown, OWED_MAX);
}

#[test]
fn a_frame_that_connections_die_of_goes_four_times_in_all() {
    let mut gate = SendQueue::new(Settings::default());
    assert_eq!(go(&mut gate, 0, [input(1, Asked::Plain)]), [1]);
    for again in 1..=5_u8 {
        let expected: &[u64] = if again <= AGAIN_MAX { &[1] } else { &[] };
        assert_eq!(go(&mut gate, u64::from(again) * 10_000, dies()), expected, "{again}");
    }
    assert_eq!(gate.known(), 0);
    // A viewport too.
    let mut shown = 0;
    go(&mut gate, 60_000, [Input::Subscribe { guild: "g".into(), snapshot: 7, bytes: 10 }]);
    for again in 1..=5 {
        for input in dies() {
            gate.handle(Time::from_millis(60_000 + again * 10_000), input);
            while let Some(output) = gate.poll_output() {
                shown += u32::from(matches!(output, Output::Send(Frame::Subscriptions(_))));
            }
        }
    }
    assert_eq!(shown, AGAIN_MAX.into());
}

#[test]
fn a_request_is_awaited_for_five_minutes_and_a_state_until_it_is_read() {
    let wait_ms = ANSWER_WAIT.as_millis_ceil();
    for (at, expected) in [(wait_ms - 1, vec![1, 2, 3]), (wait_ms, vec![2])] {
        let mut gate = SendQueue::new(Settings::default());
        let asked = [input(1, Asked::Request), input(2, Asked::Presence), input(3, Asked::AllMembers(1))];
        assert_eq!(go(&mut gate, 0, asked), [1, 2, 3]);
        assert_eq!(go(&mut gate, at, dies()), expected, "after {at} ms");
    }
}

#[test]
fn an_ack_shows_what_was_written_before_its_beat() {
    let beat = || Input::Direct { op: 1 };
    let mut gate = SendQueue::new(Settings::default());
    // The ACK of a beat that went before them says nothing of them.
    let asked = [beat(), input(1, Asked::Presence), input(2, Asked::Plain), input(3, Asked::Request), Input::Ack];
    assert_eq!(go(&mut gate, 0, asked), [1, 2, 3]);
    assert_eq!(gate.known(), 3);
    // Nor does one that nobody waits for, nor any of another connection.
    go(&mut gate, 10, [Input::Ack, Input::Ack]);
    assert_eq!(go(&mut gate, 20, dies()), [1, 2, 3]);
    go(&mut gate, 30, [beat(), input(4, Asked::Voice(1)), beat(), Input::Ack]);
    assert_eq!((gate.knows(1), gate.knows(2), gate.knows(3), gate.knows(4)), (false, false, true, true));
    go(&mut gate, 40, [Input::Ack]);
    assert_eq!((gate.knows(3), gate.knows(4)), (true, false), "a request is done when it is answered");
    go(&mut gate, 50, [Input::Answered { id: 3 }]);
    assert_eq!((gate.known(), go(&mut gate, 60, dies())), (0, vec![]));
}

#[test]
fn closes_that_blame_a_frame_and_new_sessions_bring_nothing_back() {
    for code in [4001, 4002, 4008] {
        let mut gate = SendQueue::new(Settings::default());
        go(&mut gate, 0, [input(1, Asked::Presence), input(2, Asked::Request), input(3, Asked::AllMembers(1))]);
        let inputs = [Input::Closed { code: Some(code) }, Input::Opened, Input::Resumed];
        assert_eq!(go(&mut gate, 10, inputs), [] as [u64; 0], "{code}");
    }
    let mut gate = SendQueue::new(Settings::default());
    go(&mut gate, 0, [input(1, Asked::Presence), input(2, Asked::Request)]);
    let fresh = [Input::Closed { code: None }, Input::Opened, Input::Ready];
    assert_eq!(go(&mut gate, 10, fresh), [] as [u64; 0]);
    assert_eq!(go(&mut gate, 20, dies()), [] as [u64; 0]);
}

#[test]
fn a_second_resumed_brings_nothing_back() {
    let mut gate = SendQueue::new(Settings::default());
    go(&mut gate, 0, [input(1, Asked::Request)]);
    assert_eq!(go(&mut gate, 10, dies()), [1]);
    assert_eq!(go(&mut gate, 20, [Input::Resumed, Input::Ready, Input::Resumed]), [] as [u64; 0]);
}

#[test]
fn what_goes_again_waits_for_room_and_keeps_none_out() {
    let mut gate = SendQueue::new(Settings { queue_bound: 2, ..Settings::default() });
    let asked = (1..=100).map(|id| input(id, Asked::Request));
    assert_eq!(go(&mut gate, 0, asked).len(), 100);
    let more = (101..=150).map(|id| input(id, Asked::Request));
    let room = go(&mut gate, 60_000, more);
    assert_eq!(room.len(), 50);
    assert_eq!(go(&mut gate, 60_010, dies()), (1..=100).collect::<Vec<_>>());
    assert_eq!(gate.waiting(), 50);
    // The bound is for those that never went.
    gate.handle(Time::from_millis(60_020), input(200, Asked::Plain));
    assert_eq!((gate.waiting(), gate.poll_output()), (51, None));
    // They go as the minute has room, those that went before first; a death in between loses none.
    assert_eq!(go(&mut gate, 60_030, dies()), (1..=100).collect::<Vec<_>>());
    let due = gate.poll_timeout().unwrap().0.as_millis_ceil();
    assert_eq!(due, 120_030);
    assert_eq!(go(&mut gate, due, [Input::Tick]), (101..=150).chain([200]).collect::<Vec<_>>());
}

#[test]
fn a_newer_state_takes_the_place_of_one_that_goes_again() {
    let mut gate = SendQueue::new(Settings { presence_limit: 1, ..Settings::default() });
    go(&mut gate, 0, [input(1, Asked::Presence), input(2, Asked::Voice(1)), input(3, Asked::Voice(2))]);
    // While nothing can go: 4 and 5 are newer than 1 and 2.
    let away = [Input::Closed { code: None }, input(4, Asked::Presence), input(5, Asked::Voice(1))];
    assert_eq!(go(&mut gate, 10, away), [] as [u64; 0]);
    assert_eq!(go(&mut gate, 20, [Input::Opened, Input::Resumed]), [3, 5]);
    // The presence waits for its minute, went or not; then a newer one comes and says so.
    gate.handle(Time::from_millis(30), input(6, Asked::Presence));
    assert_eq!(gate.poll_output(), Some(Output::Dropped { id: 4, reason: DropReason::Superseded }));
    assert_eq!(go(&mut gate, 60_000, [Input::Tick]), [6]);
}

#[test]
fn a_request_that_discord_dropped_is_asked_when_it_says_and_only_once() {
    let mut gate = SendQueue::new(Settings::default());
    assert_eq!(go(&mut gate, 0, [input(1, Asked::AllMembers(1))]), [1]);
    let limited = Input::RateLimited { opcode: 8, guild: name(1), retry_after: Span::from_secs(5) };
    assert_eq!(go(&mut gate, 100, [limited]), [] as [u64; 0]);
    assert_eq!(go(&mut gate, 200, dies()), [] as [u64; 0]);
    assert_eq!(gate.poll_timeout().unwrap().0, Time::from_millis(5_100));
    assert_eq!(go(&mut gate, 5_100, [Input::Tick]), [1]);
    // The connection dies: it keeps the guild's half minute.
    assert_eq!(go(&mut gate, 6_000, dies()), [] as [u64; 0]);
    // Its answer comes late after all.
    assert_eq!(go(&mut gate, 7_000, [Input::Answered { id: 1 }]), [] as [u64; 0]);
    assert_eq!((gate.waiting(), go(&mut gate, 40_000, [Input::Tick])), (0, vec![]));
}
