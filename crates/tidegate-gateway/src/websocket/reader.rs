//! What a client sends.

use bytes::{Buf as _, Bytes, BytesMut};

use super::{BINARY, CLOSE, CONTINUATION, CONTROL_MOST, FINAL, PING, PONG, TEXT};

/// One whole message, or one control frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Text or binary, put together from its fragments.
    Message(Bytes),
    Ping(Bytes),
    Pong,
    /// With its code, where there is one.
    Close(Option<u16>),
}

/// Why no more can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// A message of at least so many bytes; more than there may be.
    TooLong(u64),
    /// What came is no WebSocket.
    Protocol(&'static str),
}

/// Takes frames apart. It holds at most one message, and what one read from the socket brought beyond it.
#[derive(Debug)]
pub(crate) struct Reader {
    /// The longest message.
    most: usize,
    buffer: BytesMut,
    message: BytesMut,
    in_message: bool,
}

struct Head {
    opcode: u8,
    is_final: bool,
    length: u64,
    mask: [u8; 4],
    size: usize,
}

impl Reader {
    /// `most`: bytes of a message. `early`: what was read of the client before it was upgraded.
    pub(crate) fn new(most: usize, early: &[u8]) -> Self {
        Self { most, buffer: BytesMut::from(early), message: BytesMut::new(), in_message: false }
    }

    /// Where to read more into.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        self.buffer.reserve(512);
        &mut self.buffer
    }

    /// Bytes that wait for the rest of a frame or message.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.buffer.len() + self.message.len()
    }

    /// The next one that is there whole.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Broken> {
        loop {
            let Some(head) = head(&self.buffer)? else { return Ok(None) };
            let so_far = if head.opcode == CONTINUATION { self.message.len() } else { 0 };
            let whole = head.length.saturating_add(so_far as u64);
            // A control frame's length is bounded already.
            if head.opcode < CLOSE && whole > self.most as u64 {
                return Err(Broken::TooLong(whole));
            }
            let length = usize::try_from(head.length).unwrap_or(usize::MAX);
            if self.buffer.len() - head.size < length {
                return Ok(None);
            }
            self.buffer.advance(head.size);
            let mut payload = self.buffer.split_to(length);
            for (byte, key) in payload.iter_mut().zip(head.mask.iter().cycle()) {
                *byte ^= key;
            }
            if let Some(frame) = self.take(&head, payload)? {
                return Ok(Some(frame));
            }
        }
    }

    fn take(&mut self, head: &Head, payload: BytesMut) -> Result<Option<Frame>, Broken> {
        match head.opcode {
            PING => Ok(Some(Frame::Ping(payload.freeze()))),
            PONG => Ok(Some(Frame::Pong)),
            CLOSE => close(&payload).map(|code| Some(Frame::Close(code))),
            TEXT | BINARY if self.in_message => Err(Broken::Protocol("a message within a message")),
            CONTINUATION if !self.in_message => Err(Broken::Protocol("a continuation of nothing")),
            TEXT | BINARY if head.is_final => Ok(Some(Frame::Message(payload.freeze()))),
            _ => {
                self.message.unsplit(payload);
                self.in_message = !head.is_final;
                Ok(head.is_final.then(|| Frame::Message(std::mem::take(&mut self.message).freeze())))
            }
        }
    }
}

/// A close frame's code, where it has one. Of the codes that may stand there (RFC 6455, section 7.4) those of no meaning
/// yet are taken too: what a bot closes with is said back to it.
fn close(payload: &[u8]) -> Result<Option<u16>, Broken> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(None) } else { Err(Broken::Protocol("a close frame with half a code")) };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) || std::str::from_utf8(reason).is_err() {
        return Err(Broken::Protocol("a close frame with a code or a reason that is none"));
    }
    Ok(Some(code))
}

fn head(bytes: &[u8]) -> Result<Option<Head>, Broken> {
    let [first, second, rest @ ..] = bytes else { return Ok(None) };
    let (opcode, is_final) = (first & 0x0f, first & FINAL != 0);
    if first & 0x70 != 0 {
        return Err(Broken::Protocol("an extension that was not agreed on"));
    }
    if second & 0x80 == 0 {
        return Err(Broken::Protocol("a frame of a client without a mask"));
    }
    let (length, wide) = match second & 0x7f {
        126 => (rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 2),
        127 => (rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)), 8),
        short => (Some(u64::from(short)), 0),
    };
    match opcode {
        CONTINUATION | TEXT | BINARY => {}
        CLOSE | PING | PONG if is_final && usize::from(second & 0x7f) <= CONTROL_MOST => {}
        CLOSE | PING | PONG => return Err(Broken::Protocol("a control frame that is too long or in parts")),
        _ => return Err(Broken::Protocol("an opcode that means nothing")),
    }
    let Some(length) = length else { return Ok(None) };
    // What is too long is told before its mask has come.
    let mask = rest.get(wide..).and_then(<[u8]>::first_chunk).copied();
    let Some(mask) = mask else { return Ok(None) };
    Ok(Some(Head { opcode, is_final, length, mask, size: 2 + wide + 4 }))
}
