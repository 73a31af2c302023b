//! Bots as they were when their day went wrong: each fault is one that a client library or a bot had.

use std::collections::BTreeMap;

use tidegate_core::{Span, Time};

use super::discord::TOKEN;
use super::net::{Agenda, Down, Event, Sock, Up};

/// What a bot does wrong.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each fault is there or not, whatever the others")]
pub(super) struct Faults {
    /// From an end to the next dial, always the same.
    pub(super) wait: Span,
    /// RESUMEs where it has a session; otherwise every connection IDENTIFYs.
    pub(super) resumes: bool,
    /// One heartbeat for all sockets: any socket's end stops it, and what is to be said is said on the newest.
    pub(super) shares_timers: bool,
    /// Every end of any socket is followed by a dial of its own, after op 7 too, which is followed by one at once.
    pub(super) dials_per_close: bool,
    /// Closes a socket that has ended once more, and hears of it once more when the next one is open.
    pub(super) closes_twice: bool,
    /// Gives up where its token is not taken.
    pub(super) stops_at_4004: bool,
    /// From op 9 to the next IDENTIFY on the same connection.
    pub(super) invalid_wait: Span,
    /// Crashes so long after READY, and IDENTIFYs otherwise each time.
    pub(super) crashes_after: Option<Span>,
    /// Gives a connection up that has no READY by then.
    pub(super) gives_up_after: Option<Span>,
}

impl Faults {
    /// Every connection IDENTIFYs, a flat second after the last.
    pub(super) const FLAT: Self = Self {
        wait: Span::from_secs(1),
        resumes: false,
        shares_timers: false,
        dials_per_close: false,
        closes_twice: false,
        stops_at_4004: true,
        invalid_wait: Span::from_secs(1),
        crashes_after: None,
        gives_up_after: None,
    };
}

/// One of its timers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timer {
    Dial,
    /// A heartbeat on that socket, or on the newest where timers are shared; one of an older round does nothing.
    Beat {
        sock: u64,
        round: u64,
    },
    Ask {
        sock: u64,
    },
    Crash {
        sock: u64,
    },
    GiveUp {
        sock: u64,
    },
}

/// What it knows of a socket.
#[derive(Clone, Copy, Debug, Default)]
struct Socket {
    round: u64,
    interval: Span,
    live: bool,
}

pub(super) struct Naive {
    faults: Faults,
    /// Whom it dials: tidegate, or Discord itself.
    through_tidegate: bool,
    sockets: BTreeMap<u64, Socket>,
    newest: u64,
    rounds: u64,
    /// Where timers are shared: the one round.
    shared: (u64, Span),
    session: Option<(String, u64)>,
    identifies: u64,
    pub(super) dials: u64,
}

/// Sockets that a process can hold: more dials than these wait for one to end.
const SOCKETS_MAX: usize = 1_024;

impl Naive {
    pub(super) fn new(faults: Faults, through_tidegate: bool) -> Self {
        Self {
            faults,
            through_tidegate,
            sockets: BTreeMap::new(),
            newest: 0,
            rounds: 0,
            shared: (0, Span::ZERO),
            session: None,
            identifies: 0,
            dials: 0,
        }
    }

    fn send(&self, agenda: &mut Agenda, sock: u64, up: Up) {
        if self.through_tidegate {
            agenda.tell_tide(sock, up);
        } else {
            agenda.tell_discord(Sock::Bot(sock), up);
        }
    }

    pub(super) fn dial(&mut self, agenda: &mut Agenda) {
        if self.sockets.len() >= SOCKETS_MAX {
            return agenda.after(Span::from_secs(1), Event::BotTimer(Timer::Dial));
        }
        self.newest += 1;
        self.dials += 1;
        let sock = self.newest;
        self.sockets.insert(sock, Socket::default());
        let resume = self.faults.resumes && self.session.is_some();
        self.send(agenda, sock, Up::Dial { resume });
        if let Some(wait) = self.faults.gives_up_after {
            agenda.after(wait, Event::BotTimer(Timer::GiveUp { sock }));
        }
    }

    pub(super) fn timer(&mut self, agenda: &mut Agenda, timer: Timer) {
        match timer {
            Timer::Dial => self.dial(agenda),
            Timer::Beat { sock, round } => self.beat(agenda, sock, round),
            Timer::Ask { sock } => {
                if self.sockets.contains_key(&sock) {
                    self.ask(agenda, sock);
                }
            }
            Timer::Crash { sock } => {
                if self.sockets.contains_key(&sock) {
                    self.leaves(agenda, sock, None);
                }
            }
            Timer::GiveUp { sock } => {
                if self.sockets.get(&sock).is_some_and(|socket| !socket.live) {
                    self.leaves(agenda, sock, Some(1000));
                }
            }
        }
    }

    /// It ends a connection itself, and dials anew.
    fn leaves(&mut self, agenda: &mut Agenda, sock: u64, code: Option<u16>) {
        self.sockets.remove(&sock);
        self.send(agenda, sock, Up::Close(code));
        agenda.after(self.faults.wait, Event::BotTimer(Timer::Dial));
    }

    fn beat(&mut self, agenda: &mut Agenda, sock: u64, round: u64) {
        let (current, interval) = if self.faults.shares_timers {
            self.shared
        } else {
            self.sockets.get(&sock).map_or((0, Span::ZERO), |socket| (socket.round, socket.interval))
        };
        if current == round {
            let on = if self.faults.shares_timers { self.newest } else { sock };
            self.send(agenda, on, Up::Beat);
            agenda.after(interval, Event::BotTimer(Timer::Beat { sock, round }));
        }
    }

    pub(super) fn hear(&mut self, agenda: &mut Agenda, sock: u64, down: Down) {
        if !self.sockets.contains_key(&sock) {
            // An end that is told of a socket which has ended already.
            if let (Down::Closed(_), true) = (&down, self.faults.shares_timers) {
                self.shared = (0, Span::ZERO);
            }
            return;
        }
        match down {
            Down::Opened | Down::Ack | Down::BeatAsked => {}
            Down::Hello { interval } => self.hello(agenda, sock, interval),
            Down::Ready { session, seq } => {
                self.session = Some((session, seq));
                if let Some(socket) = self.sockets.get_mut(&sock) {
                    socket.live = true;
                }
                if let Some(wait) = self.faults.crashes_after {
                    agenda.after(wait, Event::BotTimer(Timer::Crash { sock }));
                }
            }
            Down::Dispatch { seq } | Down::Resumed { seq } => {
                if let Some(session) = &mut self.session {
                    session.1 = seq;
                }
            }
            Down::Reconnect => {
                self.send(agenda, sock, Up::Close(Some(4000)));
                if self.faults.dials_per_close {
                    // The end of the old one is heard as any other.
                    agenda.after(Span::from_millis(50), Event::Heard(Sock::Bot(sock), Down::Closed(Some(4000))));
                    self.dial(agenda);
                } else {
                    self.ended(agenda, sock, None);
                }
            }
            Down::Invalid { .. } => {
                self.session = None;
                agenda.after(self.faults.invalid_wait, Event::BotTimer(Timer::Ask { sock }));
            }
            Down::Closed(code) => self.ended(agenda, sock, code),
            Down::Refused => self.ended(agenda, sock, None),
        }
    }

    fn hello(&mut self, agenda: &mut Agenda, sock: u64, interval: Span) {
        self.rounds += 1;
        let round = self.rounds;
        if self.faults.shares_timers {
            self.shared = (round, interval);
        } else if let Some(socket) = self.sockets.get_mut(&sock) {
            (socket.round, socket.interval) = (round, interval);
        }
        agenda.after(interval.split(2), Event::BotTimer(Timer::Beat { sock, round }));
        let on = if self.faults.shares_timers { self.newest } else { sock };
        self.ask(agenda, on);
    }

    /// RESUME or IDENTIFY.
    fn ask(&mut self, agenda: &mut Agenda, sock: u64) {
        if let Some((session, seq)) = self.session.clone().filter(|_| self.faults.resumes) {
            return self.send(agenda, sock, Up::Resume { session, seq });
        }
        self.identifies += 1;
        let number = if self.faults.crashes_after.is_some() { self.identifies } else { 0 };
        let d = format!(r#"{{"token":"{TOKEN}","intents":1,"properties":{{"device":"{number}"}}}}"#);
        self.send(agenda, sock, Up::Identify { d });
    }

    fn ended(&mut self, agenda: &mut Agenda, sock: u64, code: Option<u16>) {
        self.sockets.remove(&sock);
        if let Some(4007 | 4009) = code {
            self.session = None;
        }
        if self.faults.shares_timers {
            self.shared = (0, Span::ZERO);
        }
        if self.faults.closes_twice {
            let again = agenda.distances.dial + Span::from_millis(800) + self.faults.wait;
            agenda.after(again, Event::Heard(Sock::Bot(sock), Down::Closed(code)));
        }
        let gives_up = self.faults.stops_at_4004 && code == Some(4004);
        if !gives_up && (self.faults.dials_per_close || sock == self.newest) {
            agenda.after(self.faults.wait, Event::BotTimer(Timer::Dial));
        }
    }

    /// When it starts.
    pub(super) fn start(&mut self, agenda: &mut Agenda) {
        debug_assert_eq!(agenda.now, Time::ZERO, "a day begins once");
        self.dial(agenda);
    }
}
