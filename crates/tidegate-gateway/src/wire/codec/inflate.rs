//! From a socket's messages to payloads.

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use super::{Broken, Compression, FLUSHED, LARGEST_MESSAGE, make_room, start_over};

/// zstd's window is at most 2 to the power of this: 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;

/// One connection's way in.
pub(crate) struct Inflate {
    stream: Stream,
    /// The payload that is being put together, or was last.
    payload: Vec<u8>,
    complete: bool,
}

enum Stream {
    None,
    Zlib {
        context: Decompress,
        /// The last bytes that came, for the mark of a message's end may come in two pieces.
        tail: [u8; 4],
    },
    Zstd(Decoder<'static>),
}

impl Inflate {
    pub(crate) fn new(compression: Compression) -> Result<Self, Broken> {
        let stream = match compression {
            Compression::None => Stream::None,
            Compression::Zlib => Stream::Zlib { context: Decompress::new(true), tail: [0; 4] },
            Compression::Zstd => {
                let mut decoder = Decoder::new().map_err(|_| Broken::Failed)?;
                decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(|_| Broken::Failed)?;
                Stream::Zstd(decoder)
            }
        };
        Ok(Self { stream, payload: Vec::new(), complete: true })
    }

    /// Takes a WebSocket message and gives the payload that it completes: one message is one payload, but zlib's may come
    /// in several. After an error the stream is of no use.
    pub(crate) fn message<'a>(&'a mut self, message: &'a [u8]) -> Result<Option<&'a [u8]>, Broken> {
        if self.complete {
            start_over(&mut self.payload);
        }
        self.complete = match &mut self.stream {
            Stream::None if message.len() > LARGEST_MESSAGE => return Err(Broken::TooLarge),
            Stream::None => return Ok(Some(message)),
            Stream::Zlib { context, tail } => zlib(context, tail, message, &mut self.payload)?,
            Stream::Zstd(decoder) => zstd(decoder, message, &mut self.payload)?,
        };
        Ok(self.complete.then_some(&*self.payload))
    }

    /// Bytes held for payloads, apart from the context's.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.payload.capacity()
    }
}

fn zlib(
    context: &mut Decompress,
    tail: &mut [u8; 4],
    mut message: &[u8],
    payload: &mut Vec<u8>,
) -> Result<bool, Broken> {
    if let Some(last) = message.last_chunk() {
        *tail = *last;
    } else {
        tail.rotate_left(message.len());
        tail[4 - message.len()..].copy_from_slice(message);
    }
    loop {
        if !make_room(payload) {
            return Err(Broken::TooLarge);
        }
        let before = context.total_in();
        let status = context.decompress_vec(message, payload, FlushDecompress::Sync).map_err(|_| Broken::Data)?;
        let taken = usize::try_from(context.total_in() - before).map_err(|_| Broken::Data)?;
        message = message.get(taken..).ok_or(Broken::Data)?;
        if status == Status::StreamEnd {
            return Err(Broken::Ended);
        }
        // Room that is left means that nothing more is to be had.
        if payload.len() < payload.capacity() {
            if !message.is_empty() {
                return Err(Broken::Data);
            }
            break;
        }
    }
    if payload.len() > LARGEST_MESSAGE {
        return Err(Broken::TooLarge);
    }
    Ok(*tail == FLUSHED)
}

fn zstd(decoder: &mut Decoder<'_>, message: &[u8], payload: &mut Vec<u8>) -> Result<bool, Broken> {
    let mut input = InBuffer::around(message);
    loop {
        if !make_room(payload) {
            return Err(Broken::TooLarge);
        }
        let length = payload.len();
        let mut output = OutBuffer::around_pos(payload, length);
        decoder.run(&mut input, &mut output).map_err(|_| Broken::Data)?;
        if payload.len() < payload.capacity() && input.pos() == message.len() {
            break;
        }
    }
    if payload.len() > LARGEST_MESSAGE {
        return Err(Broken::TooLarge);
    }
    Ok(true)
}
