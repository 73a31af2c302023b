//! A governor that is sent writes to many peers, and answers of a platform, while time moves.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use tidegate_core::discord::Headers;
use tidegate_core::governor::{Answer, Governor, Input, Outcome, Output, Ticket, Write};
use tidegate_core::policy::{Call, Policy, RowId};
use tidegate_core::{Gate as _, MethodKey, Peer, Span, Time};

/// Which platform's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A message to a group: its two buckets, the bot's, and the class.
    Telegram,
    /// A message to a channel, whose answer tells of its route's bucket.
    Discord,
}

/// A bot that sends to one peer after another.
#[derive(Debug)]
pub struct Sends {
    gate: Governor,
    shape: Shape,
    row: RowId,
    method: MethodKey,
    now: Time,
    step: Span,
    last: u64,
}

impl Shape {
    /// The shape of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "telegram" => Some(Self::Telegram),
            "discord" => Some(Self::Discord),
            _ => None,
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Discord => "discord",
        }
    }

    const fn method(self) -> &'static str {
        match self {
            Self::Telegram => "sendMessage",
            Self::Discord => "POST /channels/{channel}/messages",
        }
    }
}

impl Sends {
    /// Writes leave `step` after one another. The bot's own window is as wide as that needs, else no more than
    /// 25 peers could be live at once.
    pub fn new(shape: Shape, step: Span) -> Result<Self> {
        let a_second = 1_000_000_u64.div_ceil(step.as_micros().max(1)) * 11 / 10 + 200;
        let changes = [("buckets.bot_second.window".to_owned(), format!("{a_second}/1s").into())];
        let policy = Policy::load(shape.table(), &changes).map_err(|error| anyhow!("{error}"))?;
        let row = policy.row_of(&Call { method: shape.method(), has_chat: true, rich: false });
        let gate = Governor::new(Arc::new(policy), false);
        let method = MethodKey::of(shape.method());
        Ok(Self { gate, shape, row, method, now: Time::ZERO, step, last: 0 })
    }

    /// The peer with that number: groups of Telegram are negative.
    pub fn peer(&self, number: u64) -> Peer {
        let id = i64::try_from(number).unwrap_or(0) + 1_000_000;
        Peer::Id(if self.shape == Shape::Telegram { -id } else { id })
    }

    /// One write; whether it went at once and nothing else came of it.
    #[inline(never)]
    pub fn write(&mut self, peer: Peer) -> Option<Ticket> {
        self.now += self.step;
        self.last += 1;
        let ticket = Ticket(self.last);
        let write = Write {
            ticket,
            row: self.row,
            method: self.method,
            peer: Some(peer),
            wider: None,
            thread: None,
            message: None,
            class: None,
            weight: 1,
            fields: Box::default(),
            max_hold: None,
            auto_hold: Some(Span::from_secs(4)),
        };
        self.gate.handle(self.now, Input::Write(write));
        let output = self.gate.poll_output();
        let more = self.gate.poll_output().is_some();
        // A driver asks each time.
        black_box(self.gate.poll_timeout());
        let admitted = matches!(output, Some(Output::Send { outcome: Outcome::Admitted, .. }));
        (admitted && !more).then_some(ticket)
    }

    /// The platform's answer to a write that went.
    #[inline(never)]
    pub fn answer(&mut self, ticket: Ticket) {
        if self.shape == Shape::Discord {
            let headers = Headers { hash: 7, limit: 5, remaining: 4, reset_after: Span::from_secs(5) };
            self.gate.handle(self.now, Input::Learned { ticket, headers: Some(headers) });
            self.drain();
        }
        self.gate.handle(self.now, Input::Done { ticket, result: Answer::Ok });
        self.drain();
    }

    fn drain(&mut self) {
        while self.gate.poll_output().is_some() {}
        black_box(self.gate.poll_timeout());
    }

    /// Nothing comes for so long, but the gate is called whenever it wants to be.
    pub fn rest(&mut self, span: Span) {
        let end = self.now + span;
        while let Some((at, _)) = self.gate.poll_timeout().filter(|(at, _)| *at <= end) {
            self.now = self.now.max(at);
            self.gate.handle(self.now, Governor::tick());
            self.drain();
        }
        self.now = end;
        self.gate.handle(self.now, Governor::tick());
        self.drain();
    }

    /// Peers that the governor knows.
    pub fn peers(&self) -> usize {
        self.gate.peers()
    }
}
