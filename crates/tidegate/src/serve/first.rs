//! What the first words of a connection tell before it is served.

/// What is wrong with the first request, where the server would not say it: it speaks no HTTP/2, and of two framings it
/// drops one before anybody can see it (and ends the connection behind that request, the first or a later one, so that
/// nothing can be hidden between the two).
pub(super) fn fault(words: &[u8]) -> Option<&'static str> {
    if words.starts_with(b"PRI * HTTP/2") {
        return Some("HTTP/2 is not spoken here, HTTP/1.1 is");
    }
    let lines = words.trim_ascii_start().split(|byte| *byte == b'\n');
    let (mut length, mut coding) = (false, false);
    for line in lines.take_while(|line| !line.trim_ascii().is_empty()) {
        length |= named(line, b"content-length:").is_some();
        coding |= named(line, b"transfer-encoding:").is_some();
    }
    (length && coding).then_some("a body has a Content-Length or a Transfer-Encoding, not both")
}

/// The thread of the bot that a request names: in its path (Telegram) or its `Authorization` (Discord).
pub(super) fn thread_of(words: &[u8], threads: usize) -> usize {
    let path = words.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let in_path = path.split(|byte| *byte == b'/').find(|part| part.starts_with(b"bot"));
    let bot = in_path.or_else(|| {
        let header = |name: &[u8]| words.split(|byte| *byte == b'\n').find_map(|line| named(line, name));
        // A WebSocket names its bot later. Its key is another each time, so that they are spread.
        header(b"authorization:").or_else(|| header(b"sec-websocket-key:"))
    });
    let bot = bot.unwrap_or_default();
    // FNV-1a: it spreads well and needs no key, for a wrong guess costs nothing but balance.
    let hash = bot
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    usize::try_from(hash % threads.max(1) as u64).unwrap_or(0)
}

/// What a header line says, where it is of that name (in small letters, with the colon).
fn named<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, value) = line.split_at_checked(name.len())?;
    found.eq_ignore_ascii_case(name).then_some(value.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn two_framings_are_seen_in_a_head_and_nowhere_else() {
        let both = "content-LENGTH: 2\r\nTransfer-Encoding:chunked\r\n";
        for head in [format!("POST / HTTP/1.1\r\n{both}"), format!("\r\nPOST / HTTP/1.1\r\nHost: a\r\n{both}\r\nbody")]
        {
            assert!(fault(head.as_bytes()).is_some(), "{head:?}");
        }
        for head in [
            format!("POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n{both}"),
            format!("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n{both}"),
            "GET /content-length:/transfer-encoding: HTTP/1.1\r\nX-Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"
                .to_owned(),
            String::new(),
        ] {
            assert_eq!(fault(head.as_bytes()), None, "{head:?}");
        }
    }

    #[test]
    fn http_2_is_told_that_it_is_not_spoken() {
        assert!(fault(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").is_some());
        assert_eq!(fault(b"PRI * HTTP/1.1\r\n\r\n"), None);
    }
}
