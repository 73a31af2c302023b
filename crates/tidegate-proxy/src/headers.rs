//! Headers that are one connection's own, and tidegate's own.

use hyper::HeaderMap;
use hyper::header::{CONNECTION, HeaderName, HeaderValue};

const OWN: &str = "x-tidegate-";

/// What a client may say to tidegate itself. None of it is forwarded.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) class: Option<HeaderValue>,
    pub(crate) max_hold: Option<HeaderValue>,
    pub(crate) peer: Option<HeaderValue>,
}

/// What one walk over a request's headers tells: that takes far less than to look for each that might be there.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// As they were sent, with what stands between names and values.
    pub(crate) bytes: usize,
    pub(crate) hosts: usize,
    coding: Coding,
    connection: bool,
    /// Some that go no further.
    dropped: bool,
    own: bool,
}

/// How a request says that its body is framed, beside its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Coding {
    #[default]
    None,
    Chunked,
    /// Something else, or more than one.
    Wrong,
}

pub(crate) fn look(headers: &HeaderMap) -> Seen {
    let mut seen = Seen::default();
    for (name, value) in headers {
        let name = name.as_str();
        seen.bytes += name.len() + value.len() + ": \r\n".len();
        match name {
            "host" => seen.hosts += 1,
            "connection" => seen.connection = true,
            "transfer-encoding" => {
                let chunked = value.as_bytes().eq_ignore_ascii_case(b"chunked");
                seen.coding = if chunked && seen.coding == Coding::None { Coding::Chunked } else { Coding::Wrong };
            }
            name if is_own(name) => seen.own = true,
            name => seen.dropped |= name == "expect" || is_connections(name),
        }
    }
    seen
}

/// Makes a request's headers fit to go upstream, in place; those of its framing stay, and are not written there. The error
/// says what is wrong with them.
pub(crate) fn forward(headers: &mut HeaderMap, seen: &Seen) -> Result<Asked, &'static str> {
    // One below the chunks would be lost with the header that names it.
    if seen.coding == Coding::Wrong {
        return Err("the one transfer coding taken is chunked, once");
    }
    if seen.connection {
        for name in named(headers)? {
            headers.remove(name);
        }
    }
    if seen.dropped {
        for name in matching(headers, |name| name == "expect" || is_connections(name)) {
            headers.remove(name);
        }
    }
    let mut asked = Asked::default();
    if !seen.own {
        return Ok(asked);
    }
    for name in matching(headers, is_own) {
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
    Ok(asked)
}

pub(crate) fn is_own(name: &str) -> bool {
    name.starts_with(OWN)
}

/// Whether a header is meant for one connection only, besides what `Connection` names.
pub(crate) fn is_connections(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authorization"
            | "proxy-authenticate"
    )
}

fn matching(headers: &HeaderMap, which: impl Fn(&str) -> bool) -> Vec<HeaderName> {
    headers.keys().filter(|name| which(name.as_str())).cloned().collect()
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
