//! `application/x-www-form-urlencoded`, as in queries.

use std::borrow::Cow;

use percent_encoding::percent_decode;

/// Calls `each` with every name and value. Arguments that are not UTF-8 are left out.
pub(super) fn pairs(written: &[u8], mut each: impl FnMut(&str, &str)) {
    for pair in written.split(|byte| *byte == b'&') {
        let (name, value) = match memchr::memchr(b'=', pair) {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &[][..]),
        };
        if let (Some(name), Some(value)) = (decoded(name), decoded(value)) {
            each(&name, &value);
        }
    }
}

fn decoded(written: &[u8]) -> Option<Cow<'_, str>> {
    if !written.iter().any(|byte| matches!(byte, b'%' | b'+')) {
        return str::from_utf8(written).ok().map(Cow::Borrowed);
    }
    let spaced: Vec<u8> = written.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let bytes: Vec<u8> = percent_decode(&spaced).collect();
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
