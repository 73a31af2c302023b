//! tidegate's side towards bots: their connections, and the sessions that they share with shards.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use tidegate_core::bot::ShardKey;
use tidegate_core::{Span, Time};

use super::net::{Agenda, Down, Up};
use tidegate_gateway::parts::{Act, Attachment, Bounds, Input, Order, Ring, Session, Times, Total, Word};

/// What HELLO says to bots.
const INTERVAL: Span = Span::from_millis(41_250);
pub(super) const TIMES: Times = Times {
    detach_timeout: Span::from_secs(60),
    logout_grace: Span::from_secs(5),
    place_hold: Span::from_secs(30),
    quiet_max: Span::from_secs(60),
    takeover_most: 3,
    takeover_window: Span::from_secs(300),
    takeover_wait: Span::from_secs(60),
};

/// A bot's connection, and the shard that it named.
struct Guest {
    attachment: Attachment,
    key: Option<ShardKey>,
}

struct Seat {
    session: Session,
    ring: Arc<Ring>,
}

/// What a session orders of a shard.
pub(super) type Orders = Vec<(ShardKey, Order)>;

pub(super) struct Guests {
    present: BTreeMap<u64, Guest>,
    seats: BTreeMap<ShardKey, Seat>,
    total: Arc<Total>,
}

impl Default for Guests {
    fn default() -> Self {
        Self { present: BTreeMap::new(), seats: BTreeMap::new(), total: Total::new(512 << 20) }
    }
}

impl Guests {
    fn seat(&mut self, key: ShardKey) -> &mut Seat {
        let total = &self.total;
        self.seats.entry(key).or_insert_with(|| Seat {
            session: Session::new(TIMES),
            ring: Ring::new(Bounds { events: 4_096, bytes: 16 << 20 }, total),
        })
    }

    /// Of a shard that bots have asked for.
    pub(super) fn ring(&self, key: ShardKey) -> Option<&Ring> {
        self.seats.get(&key).map(|seat| &*seat.ring)
    }

    /// What the IDENTIFY says that is to be written now.
    pub(super) fn identify(&mut self, key: ShardKey) -> Option<String> {
        let identify = self.seats.get_mut(&key)?.session.identify()?;
        String::from_utf8(identify.d.to_vec()).ok()
    }

    pub(super) fn next_at(&self) -> Option<Time> {
        let sessions = self.seats.values().filter_map(|seat| seat.session.due());
        let guests = self.present.values().map(|guest| guest.attachment.due()).filter(|due| *due < Time::NEVER);
        sessions.chain(guests).min()
    }

    pub(super) fn tick(&mut self, agenda: &mut Agenda) -> Orders {
        let now = agenda.now;
        let mut orders = Vec::new();
        let due = self.seats.iter().filter(|(_, seat)| seat.session.due().is_some_and(|due| due <= now));
        for key in due.map(|(key, _)| *key).collect::<Vec<_>>() {
            orders.extend(self.tell(agenda, key, Input::Tick));
        }
        let silent = self.present.iter().filter(|(_, guest)| guest.attachment.due() <= now);
        for sock in silent.map(|(sock, _)| *sock).collect::<Vec<_>>() {
            if let Some(Err(close)) = self.present.get(&sock).map(|guest| guest.attachment.tick(now)) {
                orders.extend(self.dismiss(agenda, sock, close.code));
            }
        }
        orders
    }

    /// Something comes from a bot.
    pub(super) fn hear(&mut self, agenda: &mut Agenda, sock: u64, up: &Up) -> Orders {
        let now = agenda.now;
        let frame = match up {
            Up::Dial { .. } => {
                self.present.insert(sock, Guest { attachment: Attachment::new(now, INTERVAL), key: None });
                agenda.tell_bot(sock, Down::Opened);
                agenda.tell_bot(sock, Down::Hello { interval: INTERVAL });
                return Vec::new();
            }
            Up::Close(code) => return self.left(agenda, sock, *code),
            Up::Beat => r#"{"op":1,"d":null}"#.to_owned(),
            Up::Identify { d } => format!(r#"{{"op":2,"d":{d}}}"#),
            Up::Resume { session, seq } => {
                let token = super::discord::TOKEN;
                format!(r#"{{"op":6,"d":{{"token":"{token}","session_id":"{session}","seq":{seq}}}}}"#)
            }
        };
        let Some(guest) = self.present.get_mut(&sock) else { return Vec::new() };
        match guest.attachment.frame(now, &Bytes::from(frame)) {
            Ok(Act::Ack) => agenda.tell_bot(sock, Down::Ack),
            Ok(Act::Identify(identify)) => {
                let key = identify.key;
                guest.key = Some(key);
                return self.tell(agenda, key, Input::Identify { bot: sock, identify });
            }
            Ok(Act::Resume(resume)) => {
                let named = |seat: &Seat| seat.session.id() == Some(&*resume.session);
                let Some(key) = self.seats.iter().find(|(_, seat)| named(seat)).map(|(key, _)| *key) else {
                    guest.attachment.invalid(now);
                    agenda.tell_bot(sock, Down::Invalid { resumable: false });
                    return Vec::new();
                };
                guest.key = Some(key);
                return self.tell(agenda, key, Input::Resume { bot: sock, seq: resume.seq });
            }
            Ok(Act::Command(_) | Act::Nothing) => {}
            Err(close) => return self.dismiss(agenda, sock, close.code),
        }
        Vec::new()
    }

    /// It broke the protocol.
    fn dismiss(&mut self, agenda: &mut Agenda, sock: u64, code: u16) -> Orders {
        agenda.tell_bot(sock, Down::Closed(Some(code)));
        self.left(agenda, sock, Some(code))
    }

    fn left(&mut self, agenda: &mut Agenda, sock: u64, code: Option<u16>) -> Orders {
        let Some(key) = self.present.remove(&sock).and_then(|guest| guest.key) else { return Vec::new() };
        self.tell(agenda, key, Input::Left { bot: sock, code })
    }

    /// Tells a session, and its bots what it says; what it orders of the shard is the caller's to do.
    pub(super) fn tell(&mut self, agenda: &mut Agenda, key: ShardKey, input: Input) -> Orders {
        let wanted = matches!(input, Input::Identify { .. } | Input::Resume { .. });
        if !wanted && !self.seats.contains_key(&key) {
            return Vec::new();
        }
        let seat = self.seat(key);
        seat.session.handle(agenda.now, input, &*seat.ring);
        let mut orders = Vec::new();
        while let Some(order) = self.seat(key).session.order() {
            match order {
                Order::Tell { bot, word } => self.say(agenda, key, bot, word),
                other => orders.push((key, other)),
            }
        }
        orders
    }

    fn say(&mut self, agenda: &mut Agenda, key: ShardKey, bot: u64, word: Word) {
        let (session, seq) = {
            let seat = self.seat(key);
            (seat.session.id().unwrap_or_default().to_owned(), seat.ring.head().1)
        };
        let Some(guest) = self.present.get_mut(&bot) else { return };
        match word {
            Word::Begin => {
                guest.attachment.live(agenda.now);
                agenda.tell_bot(bot, Down::Ready { session, seq });
            }
            Word::Replay(_) | Word::Resumed => {
                guest.attachment.live(agenda.now);
                agenda.tell_bot(bot, Down::Resumed { seq });
            }
            Word::Follow => {}
            Word::Invalid => {
                guest.attachment.invalid(agenda.now);
                agenda.tell_bot(bot, Down::Invalid { resumable: false });
            }
            Word::Close(close) => {
                self.present.remove(&bot);
                agenda.tell_bot(bot, Down::Closed(Some(close.code)));
            }
        }
    }
}
