//! Compression of what is written: one context for a connection, flushed behind each message.

use std::io::Write as _;

use bytes::Bytes;
use flate2::{Compress as Zlib, Compression, FlushCompress};
use tokio_websockets::Message;

use crate::discord::gateway::Compress;

/// Makes messages of texts.
pub(crate) enum Writer {
    Plain,
    Zlib(Box<Zlib>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Vec<u8>>>),
}

impl Writer {
    /// `None` where no context can be made.
    pub(crate) fn new(compress: Compress) -> Option<Self> {
        Some(match compress {
            Compress::None => Self::Plain,
            Compress::Zlib => Self::Zlib(Box::new(Zlib::new(Compression::fast(), true))),
            Compress::Zstd => Self::Zstd(Box::new(zstd::stream::write::Encoder::new(Vec::new(), 1).ok()?)),
        })
    }

    /// One message; `None` if the context is broken.
    pub(crate) fn message(&mut self, text: &Bytes) -> Option<Message> {
        match self {
            Self::Plain => Some(Message::text(text.clone())),
            Self::Zlib(zlib) => deflate(zlib, text).map(Message::binary),
            Self::Zstd(encoder) => {
                encoder.write_all(text).ok()?;
                encoder.flush().ok()?;
                Some(Message::binary(std::mem::take(encoder.get_mut())))
            }
        }
    }
}

/// A sync flush ends in `00 00 ff ff`, by which clients know a message's end.
fn deflate(zlib: &mut Zlib, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 2 + 64);
    let start = zlib.total_in();
    loop {
        let done = usize::try_from(zlib.total_in() - start).ok()?;
        zlib.compress_vec(text.get(done..)?, &mut out, FlushCompress::Sync).ok()?;
        let done = usize::try_from(zlib.total_in() - start).ok()?;
        // Space left over says that nothing waits inside.
        if done == text.len() && out.len() < out.capacity() {
            return Some(out);
        }
        out.reserve(out.len().max(256));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    const TEXTS: [&str; 3] = [r#"{"op":10}"#, r#"{"op":0,"t":"READY"}"#, r#"{"op":11}"#];

    fn payloads(compress: Compress) -> Vec<Vec<u8>> {
        let mut writer = Writer::new(compress).unwrap();
        let long =
            Bytes::from((0..200_000_u64).flat_map(|n| (n * n * 977).to_string().into_bytes()).collect::<Vec<u8>>());
        let texts = TEXTS.iter().map(|text| Bytes::from_static(text.as_bytes())).chain([long]);
        texts.map(|text| writer.message(&text).unwrap().into_payload().to_vec()).collect()
    }

    #[test]
    fn each_zlib_message_ends_in_the_suffix_and_can_be_read_at_once() {
        let mut inflate = flate2::Decompress::new(true);
        for (index, bytes) in payloads(Compress::Zlib).iter().enumerate() {
            assert!(bytes.ends_with(&[0, 0, 0xff, 0xff]), "{index}");
            let mut text = Vec::with_capacity(4 << 20);
            inflate.decompress_vec(bytes, &mut text, flate2::FlushDecompress::Sync).unwrap();
            match TEXTS.get(index) {
                Some(wanted) => assert_eq!(String::from_utf8_lossy(&text), *wanted),
                None => assert!(text.len() > 1_000_000, "{}", text.len()),
            }
        }
    }

    #[test]
    fn zstd_messages_are_one_frame_that_does_not_end() {
        let all: Vec<u8> = payloads(Compress::Zstd).concat();
        let mut decoder = zstd::stream::read::Decoder::new(all.as_slice()).unwrap();
        let mut text = vec![0; TEXTS.concat().len()];
        decoder.read_exact(&mut text).unwrap();
        assert_eq!(String::from_utf8_lossy(&text), TEXTS.concat());
        assert!(decoder.read_to_end(&mut Vec::new()).is_err(), "the frame ended");
    }
}
