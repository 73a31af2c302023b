//! What is said of a request that could not be read as HTTP, or was too large for that.

use bytes::Bytes;
use hyper::StatusCode;

/// Of the server's own words there is nothing longer.
const LONGEST: usize = 256;

/// A whole answer in both platforms' shapes, for one that the server made by itself: a status that says what is wrong
/// with the request, and nothing else.
pub(super) fn instead(written: &[u8]) -> Option<Bytes> {
    let head = Some(written).filter(|written| written.len() <= LONGEST)?;
    let head = str::from_utf8(head.strip_suffix(b"\r\n\r\n")?).ok()?;
    let mut lines = head.split("\r\n");
    let (version, status) = lines.next()?.split_once(' ')?;
    let code = status.get(..3)?.parse::<u16>().ok().filter(|code| (400..500).contains(code))?;
    let (mut empty, mut last) = (false, false);
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        match name {
            "content-length" => empty = value == "0",
            "connection" => last = value == "close",
            "date" => {}
            _ => return None,
        }
    }
    if !(empty && last) {
        return None;
    }
    let reason = StatusCode::from_u16(code).ok()?.canonical_reason()?;
    let body = crate::error_response::shaped(code, &format!("{reason}: the request cannot be read"));
    let length = body.len();
    let answer = format!(
        "{version} {code} {reason}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nvia: 1.1 tidegate\r\n\
         connection: close\r\n\r\n{body}"
    );
    Some(answer.into())
}
