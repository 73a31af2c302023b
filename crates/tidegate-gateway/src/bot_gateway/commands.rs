//! The frames of commands, while the send queue knows them by their numbers.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::effect::{Answer, Effect, Told};

/// The frames of one shard's commands. They are as many as the send queue remembers, whose bounds hold here too.
#[derive(Debug, Default)]
pub(super) struct Commands {
    frames: BTreeMap<u64, Frame>,
    /// How many await an answer of each kind.
    awaited: [usize; Answer::KINDS],
}

#[derive(Debug)]
struct Frame {
    op: u8,
    payload: Bytes,
    effect: Option<Effect>,
    /// How often it went.
    went: u32,
    /// Its effect was seen since it went last.
    seen: bool,
}

impl Frame {
    /// What it awaits.
    fn awaited(&mut self) -> Option<&mut Effect> {
        self.effect.as_mut().filter(|_| self.went > 0 && !self.seen)
    }
}

impl Commands {
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// A command waits.
    pub(super) fn put(&mut self, id: u64, op: u8, frame: &[u8], effect: Option<Effect>) {
        // A copy, exactly as long: a piece of the socket's buffer would keep all of that.
        let payload = Bytes::copy_from_slice(frame);
        self.frames.insert(id, Frame { op, payload, effect, went: 0, seen: false });
        self.count();
    }

    /// It goes: its opcode, its frame, and whether it went before.
    pub(super) fn goes(&mut self, id: u64) -> Option<(u8, Bytes, bool)> {
        let frame = self.frames.get_mut(&id)?;
        if let Some(effect) = &mut frame.effect {
            effect.goes();
        }
        (frame.went, frame.seen) = (frame.went.saturating_add(1), false);
        let goes = (frame.op, frame.payload.clone(), frame.went > 1);
        self.count();
        Some(goes)
    }

    /// Those that the send queue does not know any more are over.
    pub(super) fn retain(&mut self, knows: impl Fn(u64) -> bool) {
        self.frames.retain(|id, _| knows(*id));
        self.count();
    }

    /// Whether something awaits such a dispatch.
    pub(super) fn awaits(&self, answer: Answer) -> bool {
        self.awaited[answer as usize] > 0
    }

    /// A dispatch tells something: the command that it is the last answer to. The oldest it may be meant for is.
    pub(super) fn told(&mut self, told: &Told) -> Option<u64> {
        let is_told = |frame: &mut Frame| frame.awaited().is_some_and(|effect| effect.is_told(told));
        let (id, frame) = self.frames.iter_mut().find_map(|(id, frame)| is_told(frame).then_some((*id, frame)))?;
        frame.seen = frame.effect.as_ref().is_some_and(|effect| effect.is_over(told));
        let seen = frame.seen.then_some(id);
        self.count();
        seen
    }

    fn count(&mut self) {
        self.awaited = [0; Answer::KINDS];
        for effect in self.frames.values_mut().filter_map(Frame::awaited) {
            self.awaited[effect.awaits() as usize] += 1;
        }
    }
}
