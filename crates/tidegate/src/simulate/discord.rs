//! Discord: the sandbox's Gateway, and the weather over it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use serde::Deserialize;
use tidegate_core::identify_queue::SessionStartLimit;
use tidegate_core::{Span, Time};
use tidegate_sandbox::discord::Gateway;
use tidegate_sandbox::discord::gateway::{Bounds, ConnId, Frame, Handshake, Kind, Model, Output, Settings};

use super::net::{Agenda, Down, Event, Sock, Up};
use super::weather::{Blow, Dial, Weather};

/// The one bot of a simulation, 123456789012345678.
pub(super) const TOKEN: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.simulated.bot";

/// What became of a day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Dials, whether or not they came through.
    pub(crate) dials: u64,
    pub(crate) identifies: u64,
    pub(crate) resumes: u64,
    /// IDENTIFYs that came sooner than 5 s after another of their bucket.
    pub(crate) too_soon: u64,
    /// When Discord took the token away.
    pub(crate) token_reset: Option<Time>,
    /// How long no connection had a session.
    pub(crate) down: Span,
}

pub(super) struct Discord {
    model: Model,
    weather: Weather,
    by_sock: BTreeMap<Sock, ConnId>,
    by_conn: BTreeMap<ConnId, Sock>,
    /// Connections that had READY or RESUMED.
    live: BTreeSet<Sock>,
    down_since: Option<Time>,
    figures: Figures,
}

impl Discord {
    pub(super) fn new(start: Gateway, weather: Weather) -> Self {
        let bounds = Bounds { log: 1, ring: 64, connections: 100_000, ..Bounds::default() };
        let settings = Settings { start, bounds, guilds: 0, ..Settings::default() };
        Self {
            model: Model::new(settings),
            weather,
            by_sock: BTreeMap::new(),
            by_conn: BTreeMap::new(),
            live: BTreeSet::new(),
            down_since: Some(Time::ZERO),
            figures: Figures::default(),
        }
    }

    /// What `GET /gateway/bot` answers; nothing where the token is not taken any more (401).
    pub(super) fn gateway_bot(&self, now: Time) -> Option<SessionStartLimit> {
        if self.figures.token_reset.is_some() {
            return None;
        }
        let stats = self.model.stats();
        let start = stats.bots.first()?;
        Some(SessionStartLimit {
            max_concurrency: start.max_concurrency.into(),
            remaining: start.remaining.into(),
            reset_at: now + Span::from_millis(start.reset_after_ms),
        })
    }

    pub(super) fn live(&self) -> usize {
        self.live.len()
    }

    pub(super) fn figures(&self, agenda: &Agenda) -> Figures {
        let now = agenda.now;
        let total = self.model.stats().total;
        let still_down = self.down_since.map_or(Span::ZERO, |since| now.since(since));
        Figures {
            identifies: total.identifies,
            resumes: total.resumes,
            too_soon: total.spacing_violations,
            down: self.figures.down + still_down,
            dials: self.figures.dials + agenda.failed_dials,
            ..self.figures
        }
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        self.model.next_at().map(|at| Time::ZERO + Span::from(at))
    }

    pub(super) fn tick(&mut self, agenda: &mut Agenda) {
        self.model.tick(clock(agenda.now));
        self.drain(agenda);
    }

    pub(super) fn hear(&mut self, agenda: &mut Agenda, sock: Sock, up: &Up) {
        let now = clock(agenda.now);
        match up {
            Up::Dial { resume } => self.dialled(agenda, sock, *resume),
            Up::Close(code) => {
                if let Some(conn) = self.forget(agenda.now, sock) {
                    self.model.closed(now, conn, *code);
                }
            }
            Up::Beat => self.frame(now, sock, r#"{"op":1,"d":null}"#),
            Up::Identify { d } => self.frame(now, sock, &format!(r#"{{"op":2,"d":{d}}}"#)),
            Up::Resume { session, seq } => {
                let d = format!(r#"{{"token":"{TOKEN}","session_id":"{session}","seq":{seq}}}"#);
                self.frame(now, sock, &format!(r#"{{"op":6,"d":{d}}}"#));
            }
        }
        self.drain(agenda);
    }

    fn frame(&mut self, now: Duration, sock: Sock, text: &str) {
        if let Some(conn) = self.by_sock.get(&sock) {
            self.model.receive(now, *conn, text.as_bytes());
        }
    }

    fn dialled(&mut self, agenda: &mut Agenda, sock: Sock, resume: bool) {
        self.figures.dials += 1;
        match self.weather.dial(agenda.now, resume) {
            Dial::Refused => agenda.discord_says(sock, Down::Refused),
            Dial::Silent { closes_after, code } => {
                agenda.discord_says(sock, Down::Opened);
                let closed = Event::Heard(sock, Down::Closed(Some(code)));
                agenda.after(agenda.distances.discord + closes_after, closed);
            }
            Dial::Fine => {
                let path = if resume { "/resume" } else { "/" };
                let query = vec![("v".to_owned(), "10".to_owned())];
                let handshake = Handshake { from: Ipv4Addr::LOCALHOST.into(), path: path.to_owned(), query };
                match self.model.connect(clock(agenda.now), &handshake) {
                    Ok(accepted) => {
                        self.by_sock.insert(sock, accepted.conn);
                        self.by_conn.insert(accepted.conn, sock);
                        agenda.discord_says(sock, Down::Opened);
                    }
                    Err(_) => agenda.discord_says(sock, Down::Refused),
                }
            }
        }
    }

    /// The weather does what it planned, where the connection is still there.
    pub(super) fn blow(&mut self, agenda: &mut Agenda, sock: Sock, blow: Blow) {
        if !self.by_sock.contains_key(&sock) {
            return;
        }
        match blow {
            Blow::Reconnect => agenda.discord_says(sock, Down::Reconnect),
            Blow::Drop { code, keeps_session } => {
                if let Some(conn) = self.forget(agenda.now, sock) {
                    // 1000 is what ends a session.
                    let told = if keeps_session { None } else { Some(1000) };
                    self.model.closed(clock(agenda.now), conn, told);
                    agenda.discord_says(sock, Down::Closed(code));
                }
            }
        }
        self.drain(agenda);
    }

    /// A connection is gone.
    fn forget(&mut self, now: Time, sock: Sock) -> Option<ConnId> {
        let conn = self.by_sock.remove(&sock)?;
        self.by_conn.remove(&conn);
        if self.live.remove(&sock) && self.live.is_empty() {
            self.down_since = Some(now);
        }
        Some(conn)
    }

    fn drain(&mut self, agenda: &mut Agenda) {
        while let Some(output) = self.model.poll() {
            let Some(sock) = self.by_conn.get(&output.conn()).copied() else { continue };
            match output {
                Output::Write { frame, .. } => self.says(agenda, sock, &frame),
                Output::Close { code, .. } => {
                    if code == 4004 && self.figures.token_reset.is_none() {
                        self.figures.token_reset = Some(agenda.now);
                    }
                    self.forget(agenda.now, sock);
                    agenda.discord_says(sock, Down::Closed(Some(code)));
                }
                Output::Cut { .. } => {
                    self.forget(agenda.now, sock);
                    agenda.discord_says(sock, Down::Closed(None));
                }
                Output::Freeze { .. } => {}
            }
        }
    }

    fn says(&mut self, agenda: &mut Agenda, sock: Sock, frame: &Frame) {
        let down = match &frame.kind {
            Kind::Hello { interval_ms } => Down::Hello { interval: Span::from_millis(*interval_ms) },
            Kind::Ack => Down::Ack,
            Kind::Beat => Down::BeatAsked,
            Kind::Reconnect => Down::Reconnect,
            Kind::Invalid { resumable } => {
                self.rest(agenda.now, sock);
                Down::Invalid { resumable: *resumable }
            }
            Kind::Dispatch { seq, event } => match &**event {
                "READY" => Down::Ready { session: session_id(&frame.text), seq: *seq },
                "RESUMED" => Down::Resumed { seq: *seq },
                _ => Down::Dispatch { seq: *seq },
            },
        };
        if matches!(down, Down::Ready { .. } | Down::Resumed { .. }) {
            self.live.insert(sock);
            if let Some(since) = self.down_since.take() {
                self.figures.down += agenda.now.since(since);
            }
            for (wait, blow) in self.weather.live(agenda.now) {
                agenda.after(wait, Event::Weather(sock, blow));
            }
        }
        agenda.discord_says(sock, down);
    }

    /// The connection lives on without a session.
    fn rest(&mut self, now: Time, sock: Sock) {
        if self.live.remove(&sock) && self.live.is_empty() {
            self.down_since = Some(now);
        }
    }
}

fn clock(now: Time) -> Duration {
    Duration::from_micros(now.as_micros())
}

fn session_id(ready: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Ready {
        d: Data,
    }
    #[derive(Deserialize)]
    struct Data {
        session_id: String,
    }
    serde_json::from_slice::<Ready>(ready).map(|ready| ready.d.session_id).unwrap_or_default()
}
