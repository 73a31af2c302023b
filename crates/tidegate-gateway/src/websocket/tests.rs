use bytes::BufMut as _;

use super::{Broken, Frame, Kind, Reader, Writer};

const MASK: [u8; 4] = [1, 2, 3, 4];

/// A client's frame, its length written in `wide` bytes (0, 2 or 8).
fn client(first: u8, wide: usize, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match wide {
        0 => frame.push(0x80 | u8::try_from(payload.len()).unwrap()),
        2 => {
            frame.push(0x80 | 0x7e);
            frame.put_u16(u16::try_from(payload.len()).unwrap());
        }
        _ => {
            frame.push(0x80 | 0x7f);
            frame.put_u64(payload.len() as u64);
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

fn all(bytes: &[u8], most: usize) -> Result<Vec<Frame>, Broken> {
    let mut reader = Reader::new(most, bytes);
    std::iter::from_fn(|| reader.next().transpose()).collect()
}

fn message(text: &'static str) -> Frame {
    Frame::Message(bytes::Bytes::from_static(text.as_bytes()))
}

#[test]
fn text_binary_and_fragments_with_a_ping_between_are_messages() {
    let mut bytes = client(0x81, 0, b"one");
    bytes.extend(client(0x82, 2, b"two"));
    bytes.extend(client(0x01, 0, b"th"));
    bytes.extend(client(0x89, 0, b"?"));
    bytes.extend(client(0x00, 0, b"r"));
    bytes.extend(client(0x80, 8, b"ee"));
    bytes.extend(client(0x88, 0, &[0x0f, 0xa0, b'x']));
    let ping = Frame::Ping(bytes::Bytes::from_static(b"?"));
    let expected = [message("one"), message("two"), ping, message("three"), Frame::Close(Some(4000))];
    assert_eq!(all(&bytes, 5).unwrap(), expected);
}

#[test]
fn it_does_not_matter_how_the_bytes_come() {
    let bytes = [client(0x01, 0, b"th"), client(0x80, 2, b"ree"), client(0x88, 0, b"")].concat();
    let mut reader = Reader::new(5, b"");
    let mut frames = Vec::new();
    for byte in bytes {
        reader.buffer().put_u8(byte);
        frames.extend(reader.next().unwrap());
    }
    assert_eq!(frames, [message("three"), Frame::Close(None)]);
}

#[test]
fn a_message_too_long_is_refused_by_its_head_alone() {
    assert_eq!(all(&client(0x81, 2, &[b'x'; 4096]), 4096).unwrap().len(), 1);
    let mut head = client(0x82, 8, &[]);
    head[2..10].copy_from_slice(&10_000_000_u64.to_be_bytes());
    assert_eq!(all(&head, 4096), Err(Broken::TooLong(10_000_000)));
    let parts = [client(0x01, 2, &[b'x'; 4096]), client(0x00, 0, b"x")].concat();
    assert_eq!(all(&parts, 4096), Err(Broken::TooLong(4097)));
    head[2..10].copy_from_slice(&u64::MAX.to_be_bytes());
    assert_eq!(all(&head, 4096), Err(Broken::TooLong(u64::MAX)));
}

#[test]
fn what_is_no_frame_of_a_client_is_told_apart() {
    let mut unmasked = client(0x81, 0, b"");
    unmasked[1] = 0;
    for (bytes, what) in [
        (unmasked, "without a mask"),
        (client(0xc1, 0, b""), "an extension"),
        (client(0x83, 0, b""), "an opcode"),
        (client(0x09, 0, b""), "a control frame"),
        (client(0x88, 2, &[0; 126]), "a control frame"),
        (client(0x80, 0, b""), "a continuation"),
        ([client(0x01, 0, b""), client(0x81, 0, b"")].concat(), "within a message"),
    ] {
        let Err(Broken::Protocol(reason)) = all(&bytes, 4096) else { panic!("{what} is taken") };
        assert!(reason.contains(what), "{reason}");
    }
}

#[test]
fn frames_are_packed_with_the_shortest_head() {
    for (length, head) in [(0, 2), (125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
        let mut writer = Writer::default();
        writer.put(Kind::Binary, &vec![7; length]);
        assert_eq!(writer.len(), head + length);
        assert_eq!(writer.slice()[0], 0x82);
    }
    let mut writer = Writer::default();
    writer.put(Kind::Text, b"ab");
    writer.put(Kind::Pong, b"");
    assert_eq!(&*writer.slice(), [0x81, 2, b'a', b'b', 0x8a, 0]);
    writer.advance(3);
    assert_eq!((&*writer.slice(), writer.len()), (&[b'b', 0x8a, 0][..], 3));
    writer.advance(3);
    assert!(writer.is_empty());
}

#[test]
fn a_close_reason_is_cut_between_letters() {
    let mut writer = Writer::default();
    writer.close(Some(4000), &"ü".repeat(100));
    assert_eq!(writer.slice()[1], 2 + 122);
    assert_eq!(&writer.slice()[2..4], [0x0f, 0xa0]);
    assert!(std::str::from_utf8(&writer.slice()[4..]).is_ok());
    let mut bare = Writer::default();
    bare.close(None, "unheard");
    assert_eq!(&*bare.slice(), [0x88, 0]);
}

#[test]
fn no_bytes_make_the_reader_fall_or_grow() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let (mut whole, mut broken) = (0, 0);
    for _ in 0..2_000 {
        let mut reader = Reader::new(64, b"");
        for _ in 0..50 {
            // Mostly frames, in any order and cut anywhere; else anything.
            let bytes = if next().is_multiple_of(8) {
                next().to_be_bytes().to_vec()
            } else {
                let first = [0x01, 0x00, 0x80, 0x81, 0x82, 0x89, 0x8a, 0x88][usize::try_from(next() % 8).unwrap()];
                let mut frame = client(first, 0, &vec![7; usize::try_from(next() % 60).unwrap()]);
                if next().is_multiple_of(16) {
                    frame.truncate(usize::try_from(next() % 10).unwrap());
                }
                frame
            };
            reader.buffer().put_slice(&bytes);
            let frames: Result<Vec<_>, _> = std::iter::from_fn(|| reader.next().transpose()).collect();
            let Ok(frames) = frames else {
                broken += 1;
                break;
            };
            whole += frames.len();
            assert!(reader.held() <= 64 + 64 + 14 + 60, "one message, one frame, and what came last");
        }
    }
    assert!(whole > 1_000 && broken > 1_000, "{whole} {broken}");
}

#[test]
fn a_close_is_only_said_back_with_a_code_that_may_be_said() {
    for code in [1000, 1001, 1011, 3000, 4000, 4999_u16] {
        assert_eq!(all(&client(0x88, 0, &code.to_be_bytes()), 5).unwrap(), [Frame::Close(Some(code))]);
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, u16::MAX] {
        assert!(matches!(all(&client(0x88, 0, &code.to_be_bytes()), 5), Err(Broken::Protocol(_))), "{code}");
    }
    for payload in [&b"\x0f"[..], b"\x0f\xa0\xff"] {
        assert!(matches!(all(&client(0x88, 0, payload), 5), Err(Broken::Protocol(_))));
    }
}

#[test]
fn answers_that_nobody_reads_are_counted_until_all_is_written() {
    let mut writer = Writer::default();
    writer.put(Kind::Text, b"dispatch");
    for _ in 0..3 {
        let before = writer.len();
        writer.put(Kind::Pong, b"12");
        writer.answered(writer.len() - before);
    }
    writer.advance(12);
    assert_eq!((writer.len(), writer.answers()), (10, 12));
    writer.advance(10);
    assert_eq!((writer.len(), writer.answers()), (0, 0));
}
