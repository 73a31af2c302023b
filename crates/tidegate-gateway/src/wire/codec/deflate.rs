//! From payloads to a socket's messages.

use bytes::{Bytes, BytesMut};
use flate2::{Compress, FlushCompress};
use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

use super::{Broken, Compression, KEPT, LARGEST_MESSAGE, ROOM, start_over};

/// The fastest that compresses at all: the next one takes four times as long for an eighth less.
const ZLIB_LEVEL: u32 = 1;
/// As small as zlib's fastest in less time, for both sides: it leaves out a Huffman table per message.
const ZSTD_LEVEL: i32 = -1;
/// zstd looks back 2 to the power of this: 32 KiB as zlib does, for each connection has its context in memory. That takes
/// 270 KiB; four times the window would take 900 for a twentieth less.
const ZSTD_WINDOW_LOG: u32 = 15;
/// Messages that are made before their socket has taken them share pieces of memory of this size, in bytes.
const PIECE: usize = 8 << 10;

/// One connection's way out.
pub(crate) struct Deflate {
    stream: Stream,
    /// Where a message is made.
    message: Vec<u8>,
    /// Where made messages stand until they are sent.
    made: BytesMut,
}

enum Stream {
    None,
    Zlib(Compress),
    Zstd(Encoder<'static>),
}

impl Deflate {
    pub(crate) fn new(compression: Compression) -> Result<Self, Broken> {
        let stream = match compression {
            Compression::None => Stream::None,
            Compression::Zlib => Stream::Zlib(Compress::new(flate2::Compression::new(ZLIB_LEVEL), true)),
            Compression::Zstd => {
                let mut encoder = Encoder::new(ZSTD_LEVEL).map_err(|_| Broken::Failed)?;
                encoder.set_parameter(CParameter::WindowLog(ZSTD_WINDOW_LOG)).map_err(|_| Broken::Failed)?;
                Stream::Zstd(encoder)
            }
        };
        Ok(Self { stream, message: Vec::new(), made: BytesMut::new() })
    }

    /// Whether its messages are text; binary where not.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.stream, Stream::None)
    }

    /// Makes a payload a WebSocket message, flushed: whoever has all messages up to it can read it. After an error the
    /// stream is of no use.
    pub(crate) fn message(&mut self, payload: &Bytes) -> Result<Bytes, Broken> {
        if payload.len() > LARGEST_MESSAGE {
            return Err(Broken::TooLarge);
        }
        match &mut self.stream {
            Stream::None => return Ok(payload.clone()),
            Stream::Zlib(context) => zlib(context, payload, &mut self.message)?,
            Stream::Zstd(encoder) => zstd(encoder, payload, &mut self.message)?,
        }
        let message = self.hand_on();
        start_over(&mut self.message);
        Ok(message)
    }

    /// Bytes held for messages, apart from the context's and from messages that are not sent yet.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.message.capacity() + self.made.capacity()
    }

    fn hand_on(&mut self) -> Bytes {
        if self.message.len() > KEPT {
            return Bytes::copy_from_slice(&self.message);
        }
        if self.made.capacity() < self.message.len() {
            self.made.reserve(self.message.len().max(PIECE));
        }
        self.made.extend_from_slice(&self.message);
        self.made.split().freeze()
    }
}

fn zlib(context: &mut Compress, mut payload: &[u8], message: &mut Vec<u8>) -> Result<(), Broken> {
    loop {
        message.reserve(payload.len() / 2 + ROOM);
        let before = context.total_in();
        context.compress_vec(payload, message, FlushCompress::Sync).map_err(|_| Broken::Failed)?;
        let taken = usize::try_from(context.total_in() - before).map_err(|_| Broken::Failed)?;
        payload = payload.get(taken..).ok_or(Broken::Failed)?;
        // Room that is left means that all is flushed.
        if payload.is_empty() && message.len() < message.capacity() {
            return Ok(());
        }
    }
}

fn zstd(encoder: &mut Encoder<'_>, payload: &[u8], message: &mut Vec<u8>) -> Result<(), Broken> {
    let mut input = InBuffer::around(payload);
    loop {
        message.reserve(payload.len() / 2 + ROOM);
        let length = message.len();
        let mut output = OutBuffer::around_pos(message, length);
        if input.pos() < payload.len() {
            encoder.run(&mut input, &mut output).map_err(|_| Broken::Failed)?;
        }
        if input.pos() == payload.len() && encoder.flush(&mut output).map_err(|_| Broken::Failed)? == 0 {
            return Ok(());
        }
    }
}
