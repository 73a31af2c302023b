//! Compression as Discord does it, as far as is known: zlib at its own default and zstd at its own.

use anyhow::{Result, ensure};
use bytes::Bytes;
use flate2::{Compress, FlushCompress};
use zstd::stream::raw::{Encoder, InBuffer, Operation as _, OutBuffer};

use super::wire::codec::Compression;

/// More than any message here.
const ROOM: usize = 64 << 10;

/// One connection's stream.
pub(super) enum Discord {
    None,
    Zlib(Compress),
    Zstd(Encoder<'static>),
}

impl Discord {
    pub(super) fn new(compression: Compression) -> Result<Self> {
        Ok(match compression {
            Compression::None => Self::None,
            Compression::Zlib => Self::Zlib(Compress::new(flate2::Compression::default(), true)),
            Compression::Zstd => Self::Zstd(Encoder::new(zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    pub(super) fn message(&mut self, payload: &Bytes) -> Result<Bytes> {
        let mut message = Vec::with_capacity(ROOM);
        match self {
            Self::None => return Ok(payload.clone()),
            Self::Zlib(context) => {
                let before = context.total_in();
                context.compress_vec(payload, &mut message, FlushCompress::Sync)?;
                ensure!(context.total_in() - before == payload.len() as u64, "a message is larger than its room");
            }
            Self::Zstd(encoder) => {
                let mut input = InBuffer::around(payload);
                let mut output = OutBuffer::around(&mut message);
                encoder.run(&mut input, &mut output)?;
                let left = encoder.flush(&mut output)?;
                ensure!(input.pos() == payload.len() && left == 0, "a message is larger than its room");
            }
        }
        Ok(Bytes::copy_from_slice(&message))
    }
}
