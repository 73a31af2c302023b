//! The server's half of a WebSocket (RFC 6455): pure frames, and no more than a Gateway needs of them.
//!
//! Of its own because frames are packed straight into one buffer that is written at once, because a frame that is too long
//! is refused by its head and answered with a close code of Discord's, and because nothing that a client sends may make
//! what waits to be written grow without bound.

mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use self::reader::{Broken, Frame, Reader};
pub(crate) use self::writer::{Kind, Writer};

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;
const FINAL: u8 = 0x80;
/// Of a control frame's payload, and so of a close reason with its code.
const CONTROL_MOST: usize = 125;
