//! Request targets that mean one thing here and another one upstream.

use std::borrow::Cow;

use hyper::Uri;
use memchr::{memchr, memchr3};
use percent_encoding::percent_decode_str;

/// A path that was checked, without its escapes: what it is known by. Whoever could write a route in several ways would
/// have a budget for each.
pub(crate) fn plain(path: &str) -> Cow<'_, str> {
    // Mostly there are none.
    if memchr(b'%', path.as_bytes()).is_none() {
        return Cow::Borrowed(path);
    }
    percent_decode_str(path).decode_utf8_lossy()
}

/// What is wrong with a target, if anything.
pub(crate) fn check(uri: &Uri) -> Result<(), &'static str> {
    if uri.scheme().is_some() || uri.authority().is_some() {
        return Err("the target must be a path");
    }
    let path = uri.path();
    if !path.is_ascii() {
        return Err("the path must be ASCII");
    }
    if memchr3(b'%', b'.', b'\\', path.as_bytes()).is_none() {
        return Ok(());
    }
    path.split('/').try_for_each(segment)
}

fn segment(segment: &str) -> Result<(), &'static str> {
    let decoded = decode(segment)?;
    if matches!(decoded.as_slice(), b"." | b"..") {
        return Err("the path has a dot segment");
    }
    if decoded.iter().any(|byte| matches!(byte, b'/' | b'\\')) {
        return Err("the path has an encoded slash");
    }
    if decoded.iter().any(u8::is_ascii_control) {
        return Err("the path has a control character");
    }
    // Digits of other scripts, which some servers take for numbers.
    let digits =
        str::from_utf8(&decoded).map_err(|_| "the path is not UTF-8")?.chars().any(|c| !c.is_ascii() && c.is_numeric());
    if digits { Err("the path has digits that are not ASCII") } else { Ok(()) }
}

fn decode(segment: &str) -> Result<Vec<u8>, &'static str> {
    let wrong = "the path has a broken escape";
    let mut decoded = Vec::with_capacity(segment.len());
    let mut bytes = segment.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16)).ok_or(wrong);
        let value = digit()? * 16 + digit()?;
        decoded.push(u8::try_from(value).map_err(|_| wrong)?);
    }
    Ok(decoded)
}
