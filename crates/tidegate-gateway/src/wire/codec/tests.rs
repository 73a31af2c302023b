use std::io::Read as _;

use bytes::Bytes;
use proptest::prelude::*;

use super::*;

const KINDS: [Compression; 3] = [Compression::None, Compression::Zlib, Compression::Zstd];

fn pair(kind: Compression) -> (Deflate, Inflate) {
    (Deflate::new(kind).unwrap(), Inflate::new(kind).unwrap())
}

fn deflate(deflate: &mut Deflate, payload: &[u8]) -> Bytes {
    deflate.message(&Bytes::copy_from_slice(payload)).unwrap()
}

#[test]
fn names_are_those_of_the_query() {
    for kind in KINDS {
        assert_eq!(Compression::named(kind.name().unwrap_or_default()), Some(kind));
    }
    assert_eq!(Compression::named("gzip"), None);
}

#[test]
fn a_zlib_stream_is_one_stream_with_a_flush_per_message() {
    let (mut out, _) = pair(Compression::Zlib);
    let messages =
        [deflate(&mut out, b"{\"op\":10}"), deflate(&mut out, b"{\"op\":11}"), deflate(&mut out, b"{\"op\":7}")];
    assert!(messages.iter().all(|message| message.ends_with(&FLUSHED)));
    // Another program's reader, that knows nothing of messages.
    let mut text = String::new();
    let end = flate2::read::ZlibDecoder::new(&*messages.concat()).read_to_string(&mut text);
    assert!(end.is_err(), "the stream is not ended");
    assert_eq!(text, "{\"op\":10}{\"op\":11}{\"op\":7}");
}

#[test]
fn a_zstd_stream_is_one_frame_with_a_flush_per_message() {
    let (mut out, _) = pair(Compression::Zstd);
    let messages = [deflate(&mut out, b"{\"op\":10}"), deflate(&mut out, b"{\"op\":11}")];
    let mut decoder = zstd::stream::raw::Decoder::new().unwrap();
    for (message, payload) in messages.iter().zip(["{\"op\":10}", "{\"op\":11}"]) {
        use zstd::stream::raw::Operation as _;
        let mut plain = [0; 64];
        let status = decoder.run_on_buffers(message, &mut plain).unwrap();
        assert_eq!((status.bytes_read, &plain[..status.bytes_written]), (message.len(), payload.as_bytes()));
        assert_ne!(status.remaining, 0, "the frame is not ended");
    }
}

#[test]
fn a_zlib_message_may_come_in_pieces() {
    let (mut out, mut back) = pair(Compression::Zlib);
    for payload in ["{\"op\":10}".repeat(100), "{\"op\":11}".to_owned()] {
        let message = deflate(&mut out, payload.as_bytes());
        for piece in message[..message.len() - 1].chunks(1) {
            assert_eq!(back.message(piece), Ok(None));
        }
        assert_eq!(back.message(&message[message.len() - 1..]), Ok(Some(payload.as_bytes())));
    }
}

#[test]
fn the_largest_message_passes_and_one_byte_more_does_not() {
    for kind in KINDS {
        for (length, error) in [(LARGEST_MESSAGE, None), (LARGEST_MESSAGE + 1, Some(Broken::TooLarge))] {
            let payload = vec![b' '; length];
            let message = compressed(kind, &payload);
            let mut back = Inflate::new(kind).unwrap();
            assert_eq!(
                back.message(&message).map(|payload| payload.map(<[u8]>::len)).err(),
                error,
                "{kind:?} {length}"
            );
            let made = Deflate::new(kind).unwrap().message(&Bytes::from(payload));
            assert_eq!(made.err(), error, "{kind:?} {length}");
        }
    }
}

/// Compressed by the libraries themselves, without a bound.
fn compressed(kind: Compression, payload: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    match kind {
        Compression::None => payload.to_vec(),
        Compression::Zlib => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(payload).unwrap();
            encoder.flush().unwrap();
            encoder.get_ref().clone()
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.write_all(payload).unwrap();
            encoder.flush().unwrap();
            encoder.get_ref().clone()
        }
    }
}

#[test]
fn a_bomb_in_pieces_is_bounded_too() {
    let message = compressed(Compression::Zlib, &vec![0; 64 << 20]);
    let mut back = Inflate::new(Compression::Zlib).unwrap();
    let mut broken = None;
    for piece in message.chunks(1000) {
        broken = back.message(piece).err();
        assert!(back.held() <= LARGEST_MESSAGE + 1);
        if broken.is_some() {
            break;
        }
    }
    assert_eq!(broken, Some(Broken::TooLarge));
}

#[test]
fn bad_data_is_an_error() {
    for kind in [Compression::Zlib, Compression::Zstd] {
        assert_eq!(Inflate::new(kind).unwrap().message(b"{\"op\":10,\"d\":{}}"), Err(Broken::Data), "{kind:?}");
        let (mut out, mut back) = pair(kind);
        let first = deflate(&mut out, b"{\"op\":10}");
        assert!(back.message(&first).is_ok());
        // The same again is no continuation: its header is data in the wrong place.
        assert_ne!(back.message(&first), Ok(Some(&b"{\"op\":10}"[..])), "{kind:?}");
    }
}

#[test]
fn a_stream_that_ends_is_an_error() {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"{\"op\":10}").unwrap();
    let ended = encoder.finish().unwrap();
    assert_eq!(Inflate::new(Compression::Zlib).unwrap().message(&ended), Err(Broken::Ended));
}

#[test]
fn a_window_over_8_mib_is_refused() {
    for (log, passes) in [(23, true), (24, false)] {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        std::io::Write::write_all(&mut encoder, b"{\"op\":10}").unwrap();
        std::io::Write::flush(&mut encoder).unwrap();
        let read = Inflate::new(Compression::Zstd).unwrap().message(encoder.get_ref()).is_ok();
        assert_eq!(read, passes, "{log}");
    }
}

#[test]
fn a_large_message_is_not_kept() {
    for kind in [Compression::Zlib, Compression::Zstd] {
        let (mut out, mut back) = pair(kind);
        let mut random = 1_u32;
        let noise = std::iter::repeat_with(|| {
            random = random.wrapping_mul(1664525).wrapping_add(1013904223);
            b' ' + u8::try_from(random >> 26).unwrap()
        });
        let large: Vec<u8> = noise.take(1 << 20).collect();
        let message = deflate(&mut out, &large);
        assert_eq!(back.message(&message), Ok(Some(&*large)));
        back.message(&deflate(&mut out, b"{}")).unwrap();
        assert!(back.held() <= KEPT, "{kind:?} {}", back.held());
        assert!(out.held() <= 2 * KEPT, "{kind:?} {}", out.held());
    }
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let text = ("[a-f ]{0,40}", 0..2000_usize).prop_map(|(text, times)| text.repeat(times).into_bytes());
    let noise = prop::collection::vec(any::<u8>(), 0..5000);
    prop::collection::vec(prop_oneof![text, noise], 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_goes_in_comes_out(payloads in messages()) {
        for kind in KINDS {
            let (mut out, mut back) = pair(kind);
            // All are made before the first is read, as where a socket is behind.
            let made: Vec<_> = payloads.iter().map(|payload| deflate(&mut out, payload)).collect();
            for (message, payload) in made.iter().zip(&payloads) {
                prop_assert_eq!(back.message(message), Ok(Some(&**payload)), "{:?}", kind);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_fall(bytes in prop::collection::vec(any::<u8>(), 0..400), at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        for kind in KINDS {
            let _ = Inflate::new(kind).unwrap().message(&bytes);
            let (mut out, mut back) = pair(kind);
            let mut message = deflate(&mut out, &bytes).to_vec();
            if !message.is_empty() {
                let at = at.index(message.len());
                message[at] ^= 1_u8 << bit;
            }
            let _ = back.message(&message);
            let _ = back.message(&message);
        }
    }
}
