//! Headers that are one connection's own, and tidegate's own.

use hyper::HeaderMap;
use hyper::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};

const OWN: &str = "x-tidegate-";

/// What a client may say to tidegate itself. None of it is forwarded.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) class: Option<HeaderValue>,
    pub(crate) max_hold: Option<HeaderValue>,
    pub(crate) peer: Option<HeaderValue>,
}

/// Makes a request's headers fit to go upstream, in place. The error says what is wrong with them.
pub(crate) fn forward(headers: &mut HeaderMap) -> Result<Asked, &'static str> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    // One below the chunks would be lost with the header that names it.
    if codings.next().is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
        || codings.next().is_some()
    {
        return Err("the one transfer coding taken is chunked, once");
    }
    drop_connection(headers)?;
    let mut asked = Asked::default();
    for name in own(headers) {
        let mut values = headers.get_all(&name).iter();
        let value = values.next().filter(|value| plain(value)).cloned();
        if value.is_none() || values.next().is_some() {
            return Err("an X-Tidegate header has one value of at most 64 characters of [A-Za-z0-9@_:.-]");
        }
        headers.remove(&name);
        match name.as_str() {
            "x-tidegate-class" => asked.class = value,
            "x-tidegate-max-hold" => asked.max_hold = value,
            "x-tidegate-peer" => asked.peer = value,
            _ => {}
        }
    }
    headers.remove(HOST);
    // The framing is made anew, from the body.
    headers.remove(CONTENT_LENGTH);
    if headers.keys().any(|name| *name == EXPECT) {
        headers.remove(EXPECT);
    }
    Ok(asked)
}

/// Makes an answer's headers fit for the client, in place.
pub(crate) fn backward(headers: &mut HeaderMap) {
    // A platform that names such headers is not worth an error towards the bot.
    let _ = drop_connection(headers);
    for name in own(headers) {
        headers.remove(name);
    }
}

/// tidegate's own of them; mostly none, and then nothing is allocated.
fn own(headers: &HeaderMap) -> Vec<HeaderName> {
    headers.keys().filter(|name| name.as_str().starts_with(OWN)).cloned().collect()
}

fn drop_connection(headers: &mut HeaderMap) -> Result<(), &'static str> {
    // To walk over what is there takes far less than to look for each that might be.
    let (mut connection, mut others) = (false, false);
    for name in headers.keys() {
        connection |= *name == CONNECTION;
        others |= is_other(name.as_str());
    }
    if connection {
        for name in named(headers)? {
            headers.remove(name);
        }
        headers.remove(CONNECTION);
    }
    if others {
        let others: Vec<HeaderName> = headers.keys().filter(|name| is_other(name.as_str())).cloned().collect();
        for name in others {
            headers.remove(name);
        }
    }
    Ok(())
}

/// Besides `Connection` and what that names.
fn is_other(name: &str) -> bool {
    matches!(
        name,
        "te" | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authorization"
            | "proxy-authenticate"
    )
}

/// The headers that `Connection` names.
fn named(headers: &HeaderMap) -> Result<Vec<HeaderName>, &'static str> {
    let mut named = Vec::new();
    for value in headers.get_all(CONNECTION) {
        // What nearly everybody says names no header of its own.
        if matches!(value.as_bytes(), b"keep-alive" | b"close") {
            continue;
        }
        let text = value.to_str().map_err(|_| "the Connection header is not plain text")?;
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let word = word.to_ascii_lowercase();
            if word == "authorization" || word == "host" || word.starts_with("content-") || word.starts_with(OWN) {
                return Err("the Connection header names one that is not the connection's own");
            }
            if let Ok(name) = word.parse() {
                named.push(name);
            }
        }
    }
    Ok(named)
}

fn plain(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    (1..=64).contains(&bytes.len()) && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"@_:.-".contains(byte))
}
