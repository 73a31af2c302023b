//! What can go at the very moment at which its hold ends goes: by its peer's bucket and by the bot's, alone and among
//! others that wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidegate_core::governor::{Answer, Class, Governor, Input, Output, Ticket, Write};
use tidegate_core::policy::{Call, Policy};
use tidegate_core::{Gate, MethodKey, Peer, Span, Time};

/// How a write ended, and when in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Sent(u64),
    Refused(u64),
}
use End::{Refused, Sent};

/// A gate that tells how each write ended. It is called when it asks to be, and by every input.
struct Desk {
    gate: Governor,
    policy: Arc<Policy>,
    now_ms: u64,
    ends: BTreeMap<u64, End>,
    tickets: u64,
}

impl Desk {
    fn new(instant: bool) -> Self {
        let policy = Arc::new(Policy::load("telegram", &[]).unwrap());
        let gate = Governor::new(Arc::clone(&policy), instant);
        Self { gate, policy, now_ms: 0, ends: BTreeMap::new(), tickets: 0 }
    }

    fn tell(&mut self, input: Input) {
        self.gate.handle(Time::from_millis(self.now_ms), input);
        while let Some(output) = self.gate.poll_output() {
            let (ticket, end) = match output {
                Output::Send { ticket, .. } => (ticket, Sent(self.now_ms)),
                Output::Refuse { ticket, .. } => (ticket, Refused(self.now_ms)),
                other => panic!("{other:?}"),
            };
            assert_eq!(self.ends.insert(ticket.0, end), None, "{ticket:?} ended twice");
        }
    }

    /// To that moment, and what is due then.
    fn until(&mut self, at_ms: u64) {
        let due = |gate: &Governor| gate.poll_timeout().map(|(at, _)| at.as_micros().div_ceil(1000));
        while let Some(due) = due(&self.gate).filter(|due| *due <= at_ms) {
            self.now_ms = self.now_ms.max(due);
            self.tell(Input::Tick);
        }
        self.now_ms = at_ms;
    }

    fn write(&mut self, method: &str, chat: i64, class: Option<Class>, weight: u32, until_ms: u64) -> u64 {
        self.tickets += 1;
        let write = Write {
            ticket: Ticket(self.tickets),
            row: self.policy.row_of(&Call { method, has_chat: true, rich: false, paid: false }),
            method: MethodKey::of(method),
            peer: Some(Peer::Id(chat)),
            thread: None,
            message: None,
            class,
            weight,
            fields: Box::default(),
            max_hold: Some(Span::from_millis(until_ms - self.now_ms)),
            auto_hold: None,
            wider: None,
        };
        self.tell(Input::Write(write));
        self.tickets
    }

    fn send(&mut self, chat: i64, until_ms: u64) -> u64 {
        self.write("sendMessage", chat, None, 1, until_ms)
    }

    fn album(&mut self, chat: i64, weight: u32, until_ms: u64) -> u64 {
        self.write("sendMediaGroup", chat, None, weight, until_ms)
    }

    fn answer(&mut self, tickets: impl Iterator<Item = u64>) {
        for ticket in tickets {
            self.tell(Input::Done { ticket: Ticket(ticket), result: Answer::Ok });
        }
    }

    fn ends<const N: usize>(&self, tickets: [u64; N]) -> [Option<End>; N] {
        tickets.map(|ticket| self.ends.get(&ticket).copied())
    }
}

/// The bot's second is full. Five of it are answered at 400 ms, so that they lapse at 1,400; the others at 700. Whoever
/// comes at 400 is told 1,400, for then nobody knows that those are late.
fn five_at_1400() -> Desk {
    let mut desk = Desk::new(false);
    for chat in 1..=25 {
        desk.send(chat, 0);
    }
    desk.until(400);
    desk.answer(1..=5);
    desk
}

/// The others' answers come, and then the end of the holds.
fn on_to_the_end(desk: &mut Desk) {
    desk.until(700);
    desk.answer(6..=25);
    desk.until(1_400);
}

#[test]
fn alone_at_its_peers_bucket() {
    for chat in [77, -5] {
        let mut desk = Desk::new(true);
        for _ in 0..3 {
            desk.send(chat, 0);
        }
        desk.until(400);
        let last = desk.send(chat, 1_000);
        desk.until(2_000);
        assert_eq!(desk.ends([last]), [Some(Sent(1_000))]);
    }
}

#[test]
fn alone_at_the_bots_bucket() {
    let mut desk = Desk::new(true);
    for chat in 1..=25 {
        desk.send(chat, 0);
    }
    desk.until(400);
    let last = desk.send(77, 1_000);
    desk.until(2_000);
    assert_eq!(desk.ends([last]), [Some(Sent(1_000))]);
}

#[test]
fn from_its_peers_bucket_to_the_bots() {
    let mut desk = Desk::new(true);
    for _ in 0..3 {
        desk.send(77, 0);
    }
    for chat in 1..=22 {
        desk.send(chat, 0);
    }
    desk.until(400);
    // The bot's bucket has a line when the peer's has a token.
    let other = desk.send(78, 1_000);
    let last = desk.send(77, 1_000);
    desk.until(2_000);
    assert_eq!(desk.ends([other, last]), [Some(Sent(1_000)); 2]);
}

#[test]
fn as_many_as_the_bots_bucket_has_room_for() {
    let mut desk = five_at_1400();
    let all: [u64; 8] = std::array::from_fn(|at| desk.send(100 + i64::try_from(at).unwrap(), 1_400));
    on_to_the_end(&mut desk);
    let [first @ .., _, _, _] = desk.ends(all);
    assert_eq!(first, [Some(Sent(1_400)); 5]);
    assert_eq!(desk.ends([all[5], all[6], all[7]]), [Some(Refused(1_400)); 3]);
}

#[test]
fn what_is_too_heavy_gives_way_to_whoever_has_room() {
    let mut desk = five_at_1400();
    let heavy = desk.album(99, 10, 1_400);
    let all: [u64; 6] = std::array::from_fn(|at| desk.send(100 + i64::try_from(at).unwrap(), 1_400));
    on_to_the_end(&mut desk);
    let [first @ .., last] = desk.ends(all);
    assert_eq!(desk.ends([heavy]), [Some(Refused(1_400))]);
    assert_eq!((first, last), ([Some(Sent(1_400)); 5], Some(Refused(1_400))));
}

#[test]
fn what_is_too_heavy_gives_way_to_its_own_peers() {
    let mut desk = five_at_1400();
    let heavy = desk.album(99, 10, 1_400);
    // A deletion waits behind no send, but one peer has one place in the ring.
    let other = desk.write("deleteMessage", 99, None, 1, 1_400);
    // What waits behind the place that is kept for the album does not go before it.
    let behind = desk.send(99, 1_400);
    on_to_the_end(&mut desk);
    assert_eq!(desk.ends([heavy, other, behind]), [Some(Refused(1_400)), Some(Sent(1_400)), Some(Refused(1_400))]);
}

#[test]
fn whoever_waits_on_keeps_the_turn() {
    let mut desk = five_at_1400();
    let heavy = desk.album(99, 10, 5_000);
    let behind = desk.send(100, 1_400);
    on_to_the_end(&mut desk);
    assert_eq!(desk.ends([heavy, behind]), [None, Some(Refused(1_400))]);
    desk.until(5_000);
    assert_eq!(desk.ends([heavy]), [Some(Sent(1_700))]);
}

#[test]
fn without_a_hold_by_its_peers_turn() {
    let mut desk = Desk::new(true);
    for chat in 1..=20 {
        desk.send(chat, 0);
    }
    // Five are left, and the album has the turn.
    let heavy = desk.album(99, 10, 2_000);
    let urgent = desk.write("sendMessage", 99, Some(Class::Interactive), 1, 0);
    let other = desk.send(100, 0);
    desk.until(2_000);
    assert_eq!(desk.ends([heavy, urgent, other]), [Some(Sent(1_000)), Some(Sent(0)), Some(Refused(0))]);
}
