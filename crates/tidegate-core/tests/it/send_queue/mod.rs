//! The send queue beside a naive one, in random worlds; and what it keeps whatever happens.

mod owed;
mod reference;

use proptest::prelude::*;
use tidegate_core::send_queue::{
    Frame, Input, LANES_MAX, MEMBERS_SPACING, Output, RefuseReason, Refused, SendQueue, Settings,
};
use tidegate_core::{Gate, Span, Time};

use self::reference::{Act, Reference};

/// Everything ten times smaller, so that the naive queue gets through many minutes.
fn small() -> Settings {
    Settings {
        period: Span::from_secs(6),
        platform_limit: 12,
        queued_limit: 10,
        subscription_limit: 8,
        burst: 2,
        max_payload: 100,
        presence_limit: 2,
        settle: Span::from_millis(150),
        settle_burst: 3,
        queue_bound: 6,
        guilds_bound: 6,
    }
}

fn input(id: u64, act: &Act) -> Input<u64> {
    let name = |guild: &u8| format!("g{guild}").into();
    match act {
        Act::Command(op) => Input::Command { id, op: *op, guild: None, bytes: 10 },
        Act::Members(guild, all) => Input::MembersRequest { id, guild: name(guild), all: *all, bytes: 10 },
        Act::Subscribe(guild, bytes) => Input::Subscribe { guild: name(guild), snapshot: id, bytes: *bytes },
        Act::Direct => Input::Direct { op: 1 },
        Act::RateLimited(guild, ms) => {
            Input::RateLimited { opcode: 8, guild: name(guild), retry_after: Span::from_millis(*ms) }
        }
        Act::Closed(code) => Input::Closed { code: Some(*code) },
        Act::Opened => Input::Opened,
        Act::Ready => Input::Ready,
        Act::Tick => Input::Tick,
    }
}

fn told(at: u64, output: Output<u64>) -> String {
    match output {
        Output::Send(Frame::Command { id }) => format!("{at} send {id}"),
        Output::Send(Frame::Subscriptions(guilds)) => {
            guilds.iter().fold(format!("{at} map"), |text, (guild, id)| text + &format!(" {guild}={id}"))
        }
        Output::Refused { what: Refused::Command { id }, reason } => format!("{at} refused {id} {reason:?}"),
        Output::Refused { what: Refused::Snapshot { guild }, reason } => format!("{at} refused {guild} {reason:?}"),
        Output::Dropped { id, reason } => format!("{at} dropped {id} {reason:?}"),
        Output::Close { code: _ } => format!("{at} close"),
    }
}

/// A gate that is called when it asked to be, at whole milliseconds.
struct Driven {
    gate: SendQueue<u64>,
    now: u64,
    out: Vec<String>,
}

impl Driven {
    fn new(settings: Settings) -> Self {
        Self { gate: SendQueue::new(settings), now: 0, out: Vec::new() }
    }

    fn tell(&mut self, at: u64, input: Input<u64>) {
        self.now = at;
        self.gate.handle(Time::from_millis(at), input);
        while let Some(output) = self.gate.poll_output() {
            self.out.push(told(at, output));
        }
    }

    fn run_until(&mut self, end: u64) {
        while let Some((due, _)) = self.gate.poll_timeout()
            && due.as_millis_ceil() <= end
        {
            self.tell(due.as_millis_ceil().max(self.now), Input::Tick);
        }
    }
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let guild = || 0_u8..6;
    let act = prop_oneof![
        6 => prop_oneof![Just(3_u8), Just(4), Just(8)].prop_map(Act::Command),
        3 => (guild(), any::<bool>()).prop_map(|(guild, all)| Act::Members(guild, all)),
        12 => (guild(), 5_usize..70).prop_map(|(guild, bytes)| Act::Subscribe(guild, bytes)),
        2 => Just(Act::Direct),
        1 => (guild(), 0_u64..40_000).prop_map(|(guild, ms)| Act::RateLimited(guild, ms)),
        1 => prop_oneof![Just(4008_u16), Just(1006)].prop_map(Act::Closed),
        1 => Just(Act::Opened),
        2 => Just(Act::Ready),
        1 => Just(Act::Tick),
    ];
    let gap = prop_oneof![8 => 0_u64..40, 4 => 0_u64..1_000, 1 => 0_u64..40_000];
    prop::collection::vec((gap, act), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_a_naive_queue_does(acts in acts()) {
        let (mut driven, mut naive) = (Driven::new(small()), Reference::new(small()));
        let (mut at, mut looked) = (0, 0);
        for (id, (gap, act)) in (1..).zip(&acts) {
            at += gap;
            (looked..=at).for_each(|at| naive.millisecond(at));
            looked = at + 1;
            driven.run_until(at);
            naive.act(at, id, act);
            driven.tell(at, input(id, act));
        }
        driven.run_until(at + 61_000);
        (looked..=at + 61_000).for_each(|at| naive.millisecond(at));
        prop_assert_eq!(driven.out, naive.out);
    }

    /// The real numbers, asked at any moment or late, with a clock that steps back: no alignment of a minute is over its
    /// budget, and of beats at most eighteen a minute none is refused.
    #[test]
    fn no_minute_is_ever_over_its_budget_and_no_beat_waits(
        inputs in prop::collection::vec((0_u64..700, 0_u8..40, 0_u64..3_000), 1..900),
    ) {
        let mut gate = SendQueue::<u64>::new(Settings::default());
        let (mut now, mut held, mut frames, mut last_beat) = (0_u64, 0, Vec::new(), 0);
        for (id, (gap, what, back)) in (1..).zip(inputs) {
            now += gap;
            held = held.max(if what % 2 == 0 { now } else { now.saturating_sub(back) });
            let input = match what {
                0..14 => Input::Command { id, op: 4, guild: None, bytes: 10 },
                14..30 => Input::Subscribe { guild: format!("{}", id % 7).into(), snapshot: id, bytes: 20 },
                30..36 if now >= last_beat + 3_400 => {
                    last_beat = now;
                    frames.push((held, true));
                    Input::Direct { op: 1 }
                }
                _ => Input::Tick,
            };
            gate.handle(Time::from_millis(if what % 2 == 0 { now } else { now.saturating_sub(back) }), input);
            while let Some(output) = gate.poll_output() {
                match output {
                    Output::Send(_) => frames.push((held, false)),
                    Output::Refused { reason, .. } => prop_assert_eq!(reason, RefuseReason::QueueFull),
                    Output::Dropped { .. } => {}
                    Output::Close { .. } => prop_assert!(false, "a beat found no room"),
                }
            }
        }
        for (at, _) in &frames {
            let within = frames.iter().filter(|(other, _)| other <= at && other + 60_000 > *at);
            let (all, beats) = within.fold((0, 0), |(all, beats), (_, beat)| (all + 1, beats + usize::from(*beat)));
            prop_assert!(all <= 120 && all - beats <= 100, "{} frames, {} beats in the minute before {}", all, beats, at);
        }
    }
}

#[test]
fn commands_in_wait_are_bounded_and_the_old_are_kept() {
    let mut driven = Driven::new(Settings::default());
    (1..=1_000).for_each(|id| driven.tell(0, Input::Command { id, op: 4, guild: None, bytes: 10 }));
    assert_eq!(driven.gate.waiting(), 256);
    driven.run_until(300_000);
    let sent = driven.out.iter().filter_map(|line| line.split_once("send ")).map(|(_, id)| id.parse::<u64>().unwrap());
    assert_eq!(sent.collect::<Vec<_>>(), (1..=356).collect::<Vec<_>>());
}

#[test]
fn guilds_in_wait_are_bounded_and_the_old_are_kept() {
    let mut driven = Driven::new(Settings { guilds_bound: 3, ..Settings::default() });
    driven.tell(0, Input::Closed { code: None });
    for (id, guild) in (1..).zip(["a", "b", "c", "d", "a"]) {
        driven.tell(id, Input::Subscribe { guild: guild.into(), snapshot: id, bytes: 10 });
    }
    driven.tell(9, Input::Ready);
    assert_eq!(
        (driven.gate.pending_guilds(), driven.out),
        (0, vec!["4 refused d QueueFull".into(), "9 map a=5 b=2 c=3".into()])
    );
}

#[test]
fn lanes_of_members_requests_are_bounded() {
    let mut gate = SendQueue::<u64>::new(Settings { queued_limit: 10_000, ..Settings::default() });
    let ask = |id: u64| Input::MembersRequest { id, guild: format!("{id}").into(), all: true, bytes: 10 };
    for id in 0..=LANES_MAX as u64 {
        gate.handle(Time::from_millis(id), Input::Opened);
        gate.handle(Time::from_millis(id), Input::Ready);
        gate.handle(Time::from_millis(id), ask(id));
    }
    // Debug builds hold the map to its bound; the lane that was to end first has gone.
    gate.handle(Time::from_millis(5_000), ask(0));
    gate.handle(Time::from_millis(5_000), ask(LANES_MAX as u64));
    assert_eq!(gate.waiting(), 1);
}

#[test]
fn what_discord_dropped_comes_back_over_the_bound_and_new_ones_wait_outside() {
    let mut driven = Driven::new(Settings { queue_bound: 2, ..Settings::default() });
    for id in 1..=5 {
        driven.tell(0, Input::MembersRequest { id, guild: format!("{id}").into(), all: true, bytes: 10 });
    }
    for id in 1..=5_u64 {
        let guild = format!("{id}").into();
        driven.tell(100, Input::RateLimited { opcode: 8, guild, retry_after: Span::from_secs(60) });
    }
    driven.tell(200, Input::MembersRequest { id: 9, guild: "1".into(), all: true, bytes: 10 });
    assert_eq!((driven.gate.waiting(), driven.out.last().unwrap().as_str()), (5, "200 refused 9 QueueFull"));
    driven.run_until(90_000);
    assert_eq!(driven.gate.waiting(), 0);
}

#[test]
fn it_lives_with_any_numbers() {
    for numbers in [0, 1, u32::MAX] {
        let settings = Settings {
            period: Span::from_millis(u64::from(numbers)),
            platform_limit: numbers,
            queued_limit: numbers,
            subscription_limit: numbers,
            burst: numbers,
            max_payload: 100,
            presence_limit: numbers,
            settle: MEMBERS_SPACING,
            settle_burst: numbers,
            queue_bound: 3,
            guilds_bound: 3,
        };
        let mut driven = Driven::new(settings);
        for id in 0..20 {
            driven.tell(id, Input::Command { id, op: 3, guild: None, bytes: 1 });
            driven.tell(id, Input::Subscribe { guild: "g".into(), snapshot: id, bytes: 5 });
            driven.tell(id, Input::Direct { op: 1 });
        }
        driven.run_until(50_000);
    }
}
