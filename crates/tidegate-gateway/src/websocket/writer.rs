//! What a client is sent.

use std::io::IoSlice;

use super::{BINARY, CLOSE, CONTROL_MOST, FINAL, PONG, TEXT};

/// A buffer that once had to be larger than this is not kept.
const KEPT: usize = 256 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Binary,
    Pong,
}

/// Frames that wait to be written, packed one after another.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    packed: Vec<u8>,
    /// Of those, written already.
    written: usize,
    /// Bytes of answers that were packed since all was written last.
    answers: usize,
}

impl Writer {
    /// One frame. A server's are not masked.
    pub(crate) fn put(&mut self, kind: Kind, payload: &[u8]) {
        let opcode = match kind {
            Kind::Text => TEXT,
            Kind::Binary => BINARY,
            Kind::Pong => PONG,
        };
        self.frame(opcode, payload);
    }

    /// The last frame. A reason is cut at what a frame holds.
    pub(crate) fn close(&mut self, code: Option<u16>, reason: &str) {
        let Some(code) = code else { return self.frame(CLOSE, &[]) };
        let mut most = reason.len().min(CONTROL_MOST - 2);
        while !reason.is_char_boundary(most) {
            most -= 1;
        }
        let mut payload = code.to_be_bytes().to_vec();
        payload.extend_from_slice(&reason.as_bytes()[..most]);
        self.frame(CLOSE, &payload);
    }

    fn frame(&mut self, opcode: u8, payload: &[u8]) {
        let length = payload.len();
        self.packed.push(FINAL | opcode);
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ ..=125), _) => self.packed.push(short),
            (_, Ok(length)) => {
                self.packed.push(126);
                self.packed.extend_from_slice(&length.to_be_bytes());
            }
            _ => {
                self.packed.push(127);
                self.packed.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        self.packed.extend_from_slice(payload);
    }

    /// So much of what was packed last answers something: what a client sends must not make it grow for ever.
    pub(crate) fn answered(&mut self, bytes: usize) {
        self.answers += bytes;
    }

    /// Bytes of answers that wait at most.
    pub(crate) fn answers(&self) -> usize {
        self.answers
    }

    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.packed.len() - self.written
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What waits.
    pub(crate) fn slice(&self) -> IoSlice<'_> {
        IoSlice::new(&self.packed[self.written..])
    }

    /// So much of it was written.
    pub(crate) fn advance(&mut self, written: usize) {
        self.written += written;
        if !self.is_empty() {
            return;
        }
        self.written = 0;
        self.answers = 0;
        if self.packed.capacity() > KEPT {
            self.packed = Vec::new();
        } else {
            self.packed.clear();
        }
    }
}
