//! Traces as text: `MS what`, one a line, of the connection dialled last or of `@GEN`.

use std::fmt::Write;

use expect_test::Expect;
use tidegate_core::shard::{Event, Generation, Grant, Input, Note, Output, Settings, Shard, StoredSession};
use tidegate_core::{Gate, Span, Time};

use super::world::{BEAT_MS, settings};

/// Waits are whole steps: every draw is the highest, but the first beat's, which a trace shows as it falls.
pub(super) fn plain() -> Settings {
    Settings {
        jitter_ppm: (1_000_000, 1_000_000),
        invalid_session_wait: (Span::from_secs(3), Span::from_secs(3)),
        grace_wait: (Span::from_secs(90), Span::from_secs(90)),
        spacing: Span::ZERO,
        ..settings()
    }
}

/// A shard that is told a trace and timed as by `tidegate replay`.
pub(super) struct Timeline {
    shard: Shard,
    generation: u64,
    shown: String,
    beats: bool,
}

impl Timeline {
    pub(super) fn new(settings: Settings, stored: Option<StoredSession>) -> Self {
        Self { shard: Shard::new(settings, stored), generation: 0, shown: String::new(), beats: false }
    }

    pub(super) fn tell(&mut self, trace: &str) -> &mut Self {
        for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (at, what) = line.split_once(' ').unwrap();
            let at_ms = at.parse().unwrap();
            self.advance(at_ms);
            let (generation, what) = match what.strip_prefix('@') {
                Some(rest) => {
                    let (generation, what) = rest.split_once(' ').unwrap();
                    (generation.parse().unwrap(), what)
                }
                None => (self.generation, what),
            };
            let words: Vec<&str> = what.split(' ').collect();
            self.step(at_ms, input(Generation(generation), &words));
        }
        self
    }

    fn advance(&mut self, end_ms: u64) {
        while let Some((at, _)) = self.shard.poll_timeout()
            && at.as_millis_ceil() <= end_ms
        {
            self.step(at.as_millis_ceil(), Input::Tick);
        }
    }

    fn step(&mut self, at_ms: u64, input: Input) {
        self.shard.handle(Time::from_millis(at_ms), input);
        while let Some(output) = self.shard.poll_output() {
            if let Output::Connect { generation, .. } = output {
                self.generation = generation.0;
            }
            if self.beats || !matches!(output, Output::Beat { .. }) {
                writeln!(self.shown, "{at_ms} {}", show(&output)).unwrap();
            }
        }
    }

    /// Heartbeats are shown from now on.
    pub(super) fn with_beats(&mut self) -> &mut Self {
        self.beats = true;
        self
    }

    pub(super) fn shown(&mut self) -> String {
        std::mem::take(&mut self.shown)
    }
}

/// What a shard with [`plain`] settings does.
pub(super) fn check(trace: &str, expected: &Expect) {
    check_with(plain(), None, trace, expected);
}

pub(super) fn check_with(settings: Settings, stored: Option<StoredSession>, trace: &str, expected: &Expect) {
    expected.assert_eq(&Timeline::new(settings, stored).tell(trace).shown());
}

fn input(generation: Generation, words: &[&str]) -> Input {
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let event = match words[0] {
        "start" => return Input::Start,
        "fresh" => return Input::Fresh { differs: words.len() > 1 },
        "budget" => return Input::Budget,
        "next" => return Input::NextInLine { due: Time::from_millis(number(1)) },
        "granted" => return Input::Granted { grant: Grant(number(1)) },
        "denied" => return Input::Denied { refresh_at: Time::from_millis(number(1)) },
        "unauthorized" => return Input::Unauthorized,
        "stop" => return Input::Stop,
        "logout" => return Input::Logout,
        "rewind" => return Input::Rewind { seq: number(1) },
        "restart" => return Input::Restart,
        "tick" => return Input::Tick,
        "opened" => Event::Opened,
        "hello" => {
            Event::Hello { interval: Span::from_millis(words.get(1).map_or(BEAT_MS, |text| text.parse().unwrap())) }
        }
        "ready" => Event::Ready { session: words[1].into(), resume_url: format!("wss://{}", words[1]).into(), seq: 1 },
        "resumed" => Event::Resumed,
        "dispatch" => Event::Dispatch { seq: number(1) },
        "ack" => Event::Ack,
        "asked" => Event::BeatAsked,
        "op7" => Event::Reconnect,
        "op9" => Event::InvalidSession { resumable: words[1] == "true" },
        "closed" => Event::Closed { code: words.get(1).map(|code| code.parse().unwrap()) },
        "error" => Event::Error,
        "sent" => Event::Sent { op: words[1].parse().unwrap() },
        other => panic!("{other}?"),
    };
    Input::Socket { generation, event }
}

fn show(output: &Output) -> String {
    match output {
        Output::Connect { generation, url } => format!("connect {} {url}", generation.0),
        Output::Close { generation, code } => format!("close {} {code}", generation.0),
        Output::Beat { generation, seq } => format!("beat {} {seq:?}", generation.0),
        Output::Identify { generation } => format!("identify {}", generation.0),
        Output::Resume { generation, session, seq } => format!("resume {} {session} {seq}", generation.0),
        Output::RequestGrant => "request".to_owned(),
        Output::ReleaseGrant { grant, unused } => {
            format!("release {}{}", grant.0, if *unused { " unused" } else { "" })
        }
        Output::SaveSession(None) => "save nothing".to_owned(),
        Output::SaveSession(Some(saved)) => format!("save {} {} step {}", saved.id, saved.seq, saved.backoff_step),
        Output::Lost => "lost".to_owned(),
        Output::Waiting { until, why } => format!("waiting {} {why:?}", until.as_millis_ceil()),
        Output::Stopped(reason) => format!("stopped {reason:?}"),
        Output::Note(Note::Stale { generation }) => format!("note stale {}", generation.0),
        Output::Note(Note::Unstable { reasons }) => format!("note unstable {reasons:?}"),
        Output::Note(Note::NotYet { until, why }) => format!("note not yet {} {why:?}", until.as_millis_ceil()),
        Output::Note(Note::Undecodable { last_op }) => format!("note undecodable {last_op:?}"),
    }
}
