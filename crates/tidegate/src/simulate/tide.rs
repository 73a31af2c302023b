//! tidegate in virtual time: the composite, and towards bots the very machines that serve them.

use bytes::Bytes;
use tidegate_core::bot::{Gateway, Input, Output, Settings, ShardKey};
use tidegate_core::identify_queue::{self, SessionStartLimit};
use tidegate_core::shard::{self, Generation};
use tidegate_core::{Gate, Span, Time, send_queue};

use super::discord::TOKEN;
use super::guests::Guests;
use super::net::{Agenda, Down, Event, Sock, Up};
use tidegate_gateway::parts::{Input as Told, Order};

const URL: &str = "wss://main";
const RESUME_URL: &str = "wss://resume";
/// How often `GET /gateway/bot` is asked.
pub(super) const REFRESH: Span = Span::from_secs(3_600);

pub(super) struct Tide {
    pub(super) gateway: Gateway<()>,
    guests: Guests,
    autonomous: bool,
    seed: u64,
}

impl Tide {
    pub(super) fn new(settings: Settings, limit: SessionStartLimit, autonomous: bool, seed: u64) -> Self {
        Self { gateway: Gateway::new(settings, limit, []), guests: Guests::default(), autonomous, seed }
    }

    /// As the program has it.
    pub(super) fn settings(total: u64, shards: u64) -> Settings {
        let margin = Span::from_millis(25);
        Settings {
            shard: shard::Settings::default(),
            send_queue: send_queue::Settings::default(),
            identify_queue: identify_queue::Settings {
                spacing_margin: margin,
                total,
                shards,
                ..identify_queue::Settings::default()
            },
            shards_max: 65_536,
        }
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.gateway.poll_timeout().map(|(at, _)| at).into_iter().chain(self.guests.next_at()).min()
    }

    pub(super) fn tick(&mut self, agenda: &mut Agenda) {
        self.tell(agenda, Input::Tick);
        for order in self.guests.tick(agenda) {
            self.order(agenda, order);
        }
    }

    pub(super) fn open(&mut self, agenda: &mut Agenda, key: ShardKey) {
        let (autonomous, seed) = (self.autonomous, self.seed);
        self.tell(agenda, Input::Open { key, url: URL.into(), seed, autonomous, stored: None });
    }

    pub(super) fn start(&mut self, agenda: &mut Agenda, key: ShardKey) {
        self.tell(agenda, Input::Shard { key, input: shard::Input::Start });
    }

    /// What `GET /gateway/bot` answered.
    pub(super) fn refreshed(&mut self, agenda: &mut Agenda, limit: Option<SessionStartLimit>) {
        let input = match limit {
            Some(limit) => Input::IdentifyQueue(identify_queue::Input::Refresh { limit, total: None, shards: None }),
            None => Input::Unauthorized,
        };
        self.tell(agenda, input);
    }

    /// A bot does something.
    pub(super) fn bot(&mut self, agenda: &mut Agenda, sock: u64, up: &Up) {
        for order in self.guests.hear(agenda, sock, up) {
            self.order(agenda, order);
        }
    }

    /// Discord says something.
    pub(super) fn hear(&mut self, agenda: &mut Agenda, key: ShardKey, generation: Generation, down: Down) {
        let living = self.gateway.shard(key).and_then(shard::Shard::living) == Some(generation);
        let news = match &down {
            Down::Ready { session, seq } if living => {
                if let Some(ring) = self.guests.ring(key) {
                    ring.begin(*seq, Bytes::from_static(b"READY"));
                }
                Some(Told::Ready { session: session.as_str().into() })
            }
            Down::Resumed { .. } if living => Some(Told::Resumed),
            Down::Dispatch { seq } if living => {
                if let Some(ring) = self.guests.ring(key) {
                    ring.append([(*seq, Bytes::from_static(b"DISPATCH"))]);
                }
                None
            }
            _ => None,
        };
        let seq = if let Down::Resumed { seq } = down { Some(seq) } else { None };
        let events = [Some(event(down)), seq.map(|seq| shard::Event::Dispatch { seq })];
        for event in events.into_iter().flatten() {
            self.tell(agenda, Input::Shard { key, input: shard::Input::Socket { generation, event } });
        }
        if let (Some(seq), Some(ring)) = (seq, self.guests.ring(key)) {
            ring.append([(seq, Bytes::from_static(b"RESUMED"))]);
        }
        if let Some(news) = news {
            self.session(agenda, key, news);
        }
    }

    fn session(&mut self, agenda: &mut Agenda, key: ShardKey, told: Told) {
        for order in self.guests.tell(agenda, key, told) {
            self.order(agenda, order);
        }
    }

    fn order(&mut self, agenda: &mut Agenda, (key, order): (ShardKey, Order)) {
        match order {
            Order::Shard(input) => {
                self.open(agenda, key);
                self.tell(agenda, Input::Shard { key, input });
            }
            Order::Reopen { seq } => {
                self.reset_ring(key, seq);
                self.tell(agenda, Input::Shard { key, input: shard::Input::Rewind { seq } });
            }
            Order::Forget => self.tell(agenda, Input::Forget { key }),
            Order::Clear => self.reset_ring(key, 0),
            Order::Tell { .. } => {}
        }
    }

    fn reset_ring(&self, key: ShardKey, seq: u64) {
        if let Some(ring) = self.guests.ring(key) {
            ring.reset(seq);
        }
    }

    fn tell(&mut self, agenda: &mut Agenda, input: Input<()>) {
        self.gateway.handle(agenda.now, input);
        while let Some(output) = self.gateway.poll_output() {
            match output {
                Output::Shard { key, output } => self.carry_out(agenda, key, output),
                Output::SendQueue { key, output: send_queue::Output::Close { code } } => {
                    if let Some(generation) = self.gateway.shard(key).and_then(shard::Shard::living) {
                        let sock = Sock::Tide(key, generation);
                        agenda.tell_discord(sock, Up::Close(Some(code)));
                        agenda.after(Span::ZERO, Event::Heard(sock, Down::Closed(Some(code))));
                    }
                }
                Output::SendQueue { .. } | Output::IdentifyQueue(_) | Output::Outside(_) | Output::NotOpened { .. } => {
                }
            }
        }
    }

    fn carry_out(&mut self, agenda: &mut Agenda, key: ShardKey, output: shard::Output) {
        let told = match output {
            shard::Output::Connect { generation, url } => {
                let resume = url.starts_with(RESUME_URL);
                agenda.tell_discord(Sock::Tide(key, generation), Up::Dial { resume });
                Some(Told::Going)
            }
            shard::Output::Close { generation, code } => {
                agenda.tell_discord(Sock::Tide(key, generation), Up::Close(Some(code)));
                None
            }
            shard::Output::Beat { generation, .. } => {
                agenda.tell_discord(Sock::Tide(key, generation), Up::Beat);
                None
            }
            shard::Output::Identify { generation } => {
                let d = self.guests.identify(key).unwrap_or_else(|| own_identify(key));
                agenda.tell_discord(Sock::Tide(key, generation), Up::Identify { d });
                None
            }
            shard::Output::Resume { generation, session, seq } => {
                let session = session.into();
                agenda.tell_discord(Sock::Tide(key, generation), Up::Resume { session, seq });
                None
            }
            shard::Output::RequestGrant => Some(Told::Going),
            shard::Output::Lost => Some(Told::Lost),
            shard::Output::Waiting { until, why } => Some(Told::Waiting { until, why }),
            shard::Output::Stopped(reason) => Some(Told::Stopped(reason)),
            shard::Output::ReleaseGrant { .. } | shard::Output::SaveSession(_) | shard::Output::Note(_) => None,
        };
        if let Some(told) = told {
            self.session(agenda, key, told);
        }
    }
}

/// Of a shard without a bot.
fn own_identify(key: ShardKey) -> String {
    format!(r#"{{"token":"{TOKEN}","intents":1,"shard":[{},{}]}}"#, key.id, key.count)
}

fn event(down: Down) -> shard::Event {
    match down {
        Down::Refused => shard::Event::Error,
        Down::Opened => shard::Event::Opened,
        Down::Hello { interval } => shard::Event::Hello { interval },
        Down::Ready { session, seq } => {
            shard::Event::Ready { session: session.into(), resume_url: RESUME_URL.into(), seq }
        }
        Down::Resumed { .. } => shard::Event::Resumed,
        Down::Dispatch { seq } => shard::Event::Dispatch { seq },
        Down::Ack => shard::Event::Ack,
        Down::BeatAsked => shard::Event::BeatAsked,
        Down::Reconnect => shard::Event::Reconnect,
        Down::Invalid { resumable } => shard::Event::InvalidSession { resumable },
        Down::Closed(code) => shard::Event::Closed { code },
    }
}
