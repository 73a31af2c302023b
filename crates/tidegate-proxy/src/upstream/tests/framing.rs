//! Where bodies end, without a connection.

use bytes::BytesMut;

use super::super::framing::{Framing, Next};
/// What is read of these pieces, and what is left of them.
fn read(mut framing: Framing, pieces: &[&[u8]]) -> Result<(Vec<u8>, Option<Vec<u8>>), String> {
    let (mut buffer, mut body) = (BytesMut::new(), Vec::new());
    let mut pieces = pieces.iter();
    loop {
        match framing.next(&mut buffer).map_err(|fault| fault.to_string())? {
            Next::Data(data) => {
                assert!(!data.is_empty());
                body.extend_from_slice(&data);
            }
            Next::More => match pieces.next() {
                Some(piece) => buffer.extend_from_slice(piece),
                None => return Ok((body, None)),
            },
            Next::Over => {
                assert!(framing.is_over());
                let mut rest = buffer.to_vec();
                rest.extend(pieces.copied().flatten());
                return Ok((body, Some(rest)));
            }
        }
    }
}

fn chunked(text: &str) -> Result<(String, Option<String>), String> {
    let (body, rest) = read(Framing::chunked(), &[text.as_bytes()])?;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok((text(body), rest.map(text)))
}

#[test]
fn chunks_are_read_alike_however_they_come() {
    let text =
        b"5\r\nhello\r\n1;a=\"b;c\"\r\n,\r\n00a \t;x\r\n wor\r\nld!!\r\n0;last\r\nx-sum: 1\r\nx-b: 2\r\n\r\nHTTP";
    let want = (b"hello, wor\r\nld!!".to_vec(), Some(b"HTTP".to_vec()));
    assert_eq!(read(Framing::chunked(), &[text]).unwrap(), want);
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let pieces = [&text[..first], &text[first..second], &text[second..]];
            assert_eq!(read(Framing::chunked(), &pieces).unwrap(), want, "{first} {second}");
        }
    }
    let bytes: Vec<&[u8]> = text.chunks(1).collect();
    assert_eq!(read(Framing::chunked(), &bytes).unwrap(), want);
}

#[test]
fn every_beginning_of_a_body_is_not_yet_all_of_it() {
    let text = "3\r\nabc\r\n0\r\nx: y\r\n\r\n";
    for end in 0..text.len() {
        let (body, rest) = chunked(&text[..end]).unwrap();
        assert!("abc".starts_with(&body) && rest.is_none(), "{end}");
    }
    assert_eq!(chunked(text).unwrap(), ("abc".to_owned(), Some(String::new())));
}

#[test]
fn what_is_no_size() {
    for size in ["", " 5", "+5", "-5", "0x5", "5 5", "g", "5\r", ";x", "5,5", "10000000000000000", "00000000000000005"]
    {
        let error = chunked(&format!("{size}\r\nhello\r\n0\r\n\r\n")).unwrap_err();
        assert_eq!(error, "what came is no answer: a chunk has no size", "{size:?}");
    }
    // As long as can be said.
    assert_eq!(chunked("ffffFFFFffffffff\r\nabc").unwrap(), ("abc".to_owned(), None));
}

#[test]
fn line_ends_that_are_none() {
    for text in ["5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\n\n"] {
        let error = chunked(text).unwrap_err();
        assert_eq!(error, "what came is no answer: a line of its framing is malformed", "{text:?}");
    }
    let error = chunked("5\r\nhello!\r\n0\r\n\r\n").unwrap_err();
    assert_eq!(error, "what came is no answer: a chunk is longer than it says");
}

#[test]
fn lines_have_a_bound() {
    let fits = "x".repeat(4 << 10);
    let body = |extension: &str, trailer: &str| chunked(&format!("1;{extension}\r\na\r\n0\r\n{trailer}\r\n\r\n"));
    assert_eq!(body(&fits[3..], &fits[1..]).unwrap().0, "a");
    assert!(body(&fits, "x").is_err());
    assert!(body("x", &format!("{fits}x")).is_err());
    // One that never ends is not waited for.
    assert_eq!(chunked(&format!("1;{fits}{fits}")).unwrap_err(), "what came is no answer: a line is too long");
    assert_eq!(chunked(&"0".repeat(5 << 10)).unwrap_err(), "what came is no answer: a line is too long");
}

#[test]
fn trailers_have_a_bound_together() {
    let trailers = |count| format!("1\r\na\r\n0\r\n{}\r\n", "x-a: 23\r\n".repeat(count));
    assert_eq!(chunked(&trailers((16 << 10) / 7)).unwrap().0, "a");
    let error = chunked(&trailers((16 << 10) / 7 + 1)).unwrap_err();
    assert_eq!(error, "what came is no answer: its trailers are too long");
}

#[test]
fn lengths_and_ends() {
    assert_eq!(read(Framing::Length(0), &[b"abc"]).unwrap(), (Vec::new(), Some(b"abc".to_vec())));
    assert_eq!(read(Framing::Length(2), &[b"a", b"bc"]).unwrap(), (b"ab".to_vec(), Some(b"c".to_vec())));
    assert_eq!(read(Framing::Length(4), &[b"a", b"bc"]).unwrap(), (b"abc".to_vec(), None));
    assert_eq!(read(Framing::Length(u64::MAX), &[b"abc"]).unwrap(), (b"abc".to_vec(), None));
    assert_eq!(read(Framing::Close, &[b"a", b"bc"]).unwrap(), (b"abc".to_vec(), None));
    assert_eq!(Framing::Length(u64::MAX).left(), Some(u64::MAX));
    assert_eq!((Framing::Close.left(), Framing::chunked().left()), (None, None));
}
