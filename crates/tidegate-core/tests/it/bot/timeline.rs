//! Traces as text: `MS WHO what`, one a line; who is a shard (`0/4`), its send queue (`0/4.send`), those who ask over HTTP
//! (`http`), `GET /gateway/bot` (`refresh`), or `bot` for all of it.

use std::fmt::Write;

use expect_test::Expect;
use tidegate_core::bot::{Gateway, Input, Output, Settings, ShardKey};
use tidegate_core::identify_queue::{self, GrantId, SessionStartLimit};
use tidegate_core::shard::{self, Event, Generation, StoredSession};
use tidegate_core::{Gate, Span, Time, send_queue};

/// Waits are whole steps, and the first beat comes late.
pub(super) fn settings() -> Settings {
    Settings {
        shard: shard::Settings {
            jitter_ppm: (1_000_000, 1_000_000),
            invalid_session_wait: (Span::from_secs(3), Span::from_secs(3)),
            ..shard::Settings::default()
        },
        send_queue: send_queue::Settings::default(),
        identify_queue: identify_queue::Settings { low_water: 0, ..identify_queue::Settings::default() },
        shards_max: 4_096,
    }
}

pub(super) fn limit(max_concurrency: i64, remaining: i64) -> SessionStartLimit {
    SessionStartLimit { max_concurrency, remaining, reset_at: Time::from_millis(3_600_000) }
}

/// A composite that is told a trace and timed as by `tidegate replay`. Beats and the identify queue's wakes are not shown.
pub(super) struct Timeline {
    pub(super) gateway: Gateway<()>,
    shown: String,
}

impl Timeline {
    pub(super) fn new(settings: Settings, limit: SessionStartLimit) -> Self {
        Self { gateway: Gateway::new(settings, limit, []), shown: String::new() }
    }

    pub(super) fn tell(&mut self, trace: &str) -> &mut Self {
        for line in trace.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split(' ').collect();
            let at_ms = words[0].parse().unwrap();
            self.advance(at_ms);
            let input = self.input(at_ms, words[1], &words[2..]);
            self.step(at_ms, input);
        }
        self
    }

    pub(super) fn advance(&mut self, end_ms: u64) {
        while let Some((at, _)) = self.gateway.poll_timeout()
            && at.as_millis_ceil() <= end_ms
        {
            self.step(at.as_millis_ceil(), Input::Tick);
        }
    }

    fn step(&mut self, at_ms: u64, input: Input<()>) {
        self.gateway.handle(Time::from_millis(at_ms), input);
        while let Some(output) = self.gateway.poll_output() {
            if let Some(shown) = show(&output) {
                writeln!(self.shown, "{at_ms} {shown}").unwrap();
            }
        }
    }

    #[track_caller]
    pub(super) fn check(&mut self, expected: &Expect) -> &mut Self {
        expected.assert_eq(&std::mem::take(&mut self.shown));
        self
    }

    /// Of all that came since, the last line alone.
    #[track_caller]
    pub(super) fn check_last(&mut self, expected: &Expect) -> &mut Self {
        let shown = std::mem::take(&mut self.shown);
        expected.assert_eq(shown.lines().last().unwrap_or_default());
        self
    }

    /// Of all that came since, the last lines alone.
    #[track_caller]
    pub(super) fn check_tail(&mut self, lines: usize, expected: &Expect) -> &mut Self {
        let shown = std::mem::take(&mut self.shown);
        let skipped = shown.lines().count().saturating_sub(lines);
        let tail: String = shown.lines().skip(skipped).fold(String::new(), |tail, line| tail + line + "\n");
        expected.assert_eq(&tail);
        self
    }

    fn input(&self, at_ms: u64, who: &str, words: &[&str]) -> Input<()> {
        match who {
            "http" => Input::IdentifyQueue(http(at_ms, words)),
            "refresh" => {
                let limit = limit(words[0].parse().unwrap(), words[1].parse().unwrap());
                Input::IdentifyQueue(identify_queue::Input::Refresh { limit, total: None, shards: None })
            }
            "bot" => Input::Unauthorized,
            who => match who.strip_suffix(".send") {
                Some(who) => {
                    let id = words[1].parse().unwrap();
                    let input = match words[0] {
                        "answered" => send_queue::Input::Answered { id },
                        "request" => send_queue::Input::Command { id, op: 31, guild: None, bytes: 100 },
                        _ => send_queue::Input::Command { id, op: 4, guild: None, bytes: 100 },
                    };
                    Input::SendQueue { key: key(who), input }
                }
                None => self.shard(key(who), words),
            },
        }
    }

    fn shard(&self, key: ShardKey, words: &[&str]) -> Input<()> {
        let (words, generation) = match words[0].strip_prefix('@') {
            Some(generation) => (&words[1..], Some(Generation(generation.parse().unwrap()))),
            None => (words, self.gateway.shard(key).and_then(tidegate_core::shard::Shard::living)),
        };
        let stored = StoredSession {
            id: "s".into(),
            seq: 7,
            resume_url: "wss://resume".into(),
            backoff_step: 0,
            at: Time::ZERO,
        };
        let input = match words {
            ["open"] => return open(key, None),
            ["open", "stored"] => return open(key, Some(stored)),
            ["forget"] => return Input::Forget { key },
            ["start"] => shard::Input::Start,
            ["stop"] => shard::Input::Stop,
            ["fresh"] => shard::Input::Fresh { differs: false },
            ["granted", grant] => shard::Input::Granted { grant: shard::Grant(grant.parse().unwrap()) },
            words => shard::Input::Socket { generation: generation.unwrap_or_default(), event: event(words) },
        };
        Input::Shard { key, input }
    }
}

fn open(key: ShardKey, stored: Option<StoredSession>) -> Input<()> {
    Input::Open { key, url: "wss://main".into(), seed: 1, autonomous: true, stored }
}

pub(super) fn key(text: &str) -> ShardKey {
    let (id, count) = text.split_once('/').unwrap();
    ShardKey { id: id.parse().unwrap(), count: count.parse().unwrap() }
}

fn event(words: &[&str]) -> Event {
    match words {
        ["opened"] => Event::Opened,
        ["hello"] => Event::Hello { interval: Span::from_secs(600) },
        ["ready"] => Event::Ready { session: "s".into(), resume_url: "wss://resume".into(), seq: 1 },
        ["resumed"] => Event::Resumed,
        ["sent", op] => Event::Sent { op: op.parse().unwrap() },
        ["ack"] => Event::Ack,
        ["beat_asked"] => Event::BeatAsked,
        ["op7"] => Event::Reconnect,
        ["op9"] => Event::InvalidSession { resumable: false },
        ["error"] => Event::Error,
        ["closed"] => Event::Closed { code: None },
        ["closed", code] => Event::Closed { code: Some(code.parse().unwrap()) },
        words => panic!("{words:?}"),
    }
}

fn http(at_ms: u64, words: &[&str]) -> identify_queue::Input {
    let shard = words[1].parse().unwrap();
    let grant = words.get(2).map(|grant| GrantId(grant.parse().unwrap()));
    match (words[0], grant) {
        ("request", _) => identify_queue::Input::Request { shard, http: true },
        ("identified", grant) => identify_queue::Input::Identified { shard, grant },
        ("release", grant) => identify_queue::Input::Release { shard, grant, unused: false },
        ("unused", grant) => identify_queue::Input::Release { shard, grant, unused: true },
        ("deferred", Some(grant)) => {
            identify_queue::Input::Deferred { shard, grant, until: Time::from_millis(at_ms + 7_000) }
        }
        _ => panic!("{words:?}"),
    }
}

fn show(output: &Output<()>) -> Option<String> {
    Some(match output {
        Output::Shard { output: shard::Output::Beat { .. }, .. }
        | Output::IdentifyQueue(identify_queue::Output::Wake { .. } | identify_queue::Output::Note(_)) => return None,
        Output::Shard { key, output: shard::Output::SaveSession(stored) } => {
            format!("{}/{} save {}", key.id, key.count, if stored.is_some() { "session" } else { "none" })
        }
        Output::Shard { key, output } => format!("{}/{} {}", key.id, key.count, shown(&format!("{output:?}"))),
        Output::SendQueue { key, output } => {
            format!("{}/{}.send {}", key.id, key.count, shown(&format!("{output:?}")))
        }
        Output::IdentifyQueue(output) => format!("queue {}", shown(&format!("{output:?}"))),
        Output::Outside(output) => format!("http {}", shown(&format!("{output:?}"))),
        Output::NotOpened { key } => format!("{}/{} not opened", key.id, key.count),
    })
}

/// Less brackets and quotes.
fn shown(debug: &str) -> String {
    let short =
        debug.replace("Generation", "").replace("GrantId", "").replace("Grant(", "(").replace(['"', '{', '}'], "");
    short.split_whitespace().collect::<Vec<_>>().join(" ")
}
