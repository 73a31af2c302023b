//! Transport compression: one context per connection and direction, one flush per message.

mod deflate;
mod inflate;

pub(crate) use self::deflate::Deflate;
pub(crate) use self::inflate::Inflate;

/// A message's bound in plain bytes, either way.
pub(crate) const LARGEST_MESSAGE: usize = 16 << 20;
/// What a buffer keeps between messages, in bytes.
const KEPT: usize = 16 << 10;
/// The least room a buffer offers.
const ROOM: usize = 4 << 10;
/// How a zlib stream marks the end of a message: the empty block that a sync flush leaves.
const FLUSHED: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// How a connection's messages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compression {
    /// Not at all: text messages.
    #[default]
    None,
    /// `compress=zlib-stream`.
    Zlib,
    /// `compress=zstd-stream`.
    Zstd,
}

impl Compression {
    /// As the query's `compress` names it; none where there is no such compression.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "" => Some(Self::None),
            "zlib-stream" => Some(Self::Zlib),
            "zstd-stream" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Its name in the query, where it has one.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Zlib => Some("zlib-stream"),
            Self::Zstd => Some("zstd-stream"),
        }
    }
}

/// A compressed stream that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    /// It is not of the kind it should be, or damaged.
    #[error("bad compressed data")]
    Data,
    /// The stream was ended in the midst of the connection.
    #[error("the compressed stream has ended")]
    Ended,
    /// A message over [`LARGEST_MESSAGE`].
    #[error("a message over 16 MiB")]
    TooLarge,
    /// The library has no memory for it, or failed in another way of its own.
    #[error("compression failed")]
    Failed,
}

/// Makes room in a buffer that holds a message so far. False where the message is too large.
fn make_room(buffer: &mut Vec<u8>) -> bool {
    if buffer.capacity() > buffer.len() {
        return true;
    }
    if buffer.len() > LARGEST_MESSAGE {
        return false;
    }
    // One byte above the bound, so that what is exactly as large shows its end.
    let more = buffer.len().clamp(ROOM, LARGEST_MESSAGE).min(LARGEST_MESSAGE + 1 - buffer.len());
    buffer.reserve_exact(more);
    true
}

/// Empties a buffer for the next message, and gives back what an uncommonly large one took.
fn start_over(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEPT {
        *buffer = Vec::with_capacity(KEPT);
    }
}

#[cfg(test)]
mod tests;
