//! Heads as they are written and read: a request's towards a platform, an answer's from it.

use std::io::Write as _;
use std::mem::MaybeUninit;

use bytes::Bytes;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};

use super::Base;
use super::fault::Fault;
use super::framing::Framing;
use crate::headers;

/// Of an answer; as many as a request may have.
const MOST_HEADERS: usize = 256;
/// Room for what tidegate adds to an answer.
const OWN_HEADERS: usize = 3;

/// The head of an answer, its headers fit for a client.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) framing: Framing,
    /// Whether the connection may be used again behind it.
    pub(super) keeps: bool,
}

/// Writes a request's head. Its framing is made anew, from the body: `length` is `None` where that is not known.
pub(super) fn write(out: &mut Vec<u8>, base: &Base, parts: &Parts, length: Option<u64>) {
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    for piece in [parts.method.as_str(), " ", base.prefix(), target, " HTTP/1.1\r\nhost: "] {
        out.extend_from_slice(piece.as_bytes());
    }
    out.extend_from_slice(base.host().as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in &parts.headers {
        let name = name.as_str();
        // The client's own connection is meant by them.
        if matches!(name, "host" | "connection" | "content-length" | "transfer-encoding") {
            continue;
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    // A vector takes all that is written.
    let _ = match length {
        None => out.write_all(b"transfer-encoding: chunked\r\n\r\n"),
        Some(0) if !matches!(parts.method.as_str(), "POST" | "PUT" | "PATCH") => out.write_all(b"\r\n"),
        Some(length) => write!(out, "content-length: {length}\r\n\r\n"),
    };
}

/// Reads the head of an answer to a request of that method.
pub(super) fn read(head: &Bytes, method: &Method) -> Result<Head, Fault> {
    let mut found = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut response, head, &mut found);
    match parsed {
        // One that ends before it seems to has bare line ends: nobody knows where its body begins.
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Ok(_) => return Err(Fault::Answer("its head ends too early")),
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::Answer("it has too many headers")),
        Err(_) => return Err(Fault::Answer("its head is malformed")),
    }
    let status = response.code.and_then(|code| StatusCode::from_u16(code).ok());
    let status = status.ok_or(Fault::Answer("its status is none"))?;
    let mut headers = HeaderMap::with_capacity(response.headers.len() + OWN_HEADERS);
    let mut told = Told::new(response.version);
    for header in response.headers.iter() {
        let name = name(header.name).ok_or(Fault::Answer("a header has no name"))?;
        let value = HeaderValue::from_maybe_shared(head.slice_ref(header.value));
        let value = value.map_err(|_| Fault::Answer("a header's value is malformed"))?;
        if told.is_connections(&name, &value)? {
            continue;
        }
        headers.append(name, value);
    }
    told.finish(&mut headers);
    let bodiless = *method == Method::HEAD || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let framing = if bodiless || status.is_informational() { Framing::Length(0) } else { told.framing() };
    Ok(Head { status, headers, keeps: told.keeps && !told.closes && framing != Framing::Close, framing })
}

/// Names that most of Discord's answers have and that no standard knows: made once, they need no memory in each answer.
static KNOWN: [HeaderName; 9] = [
    HeaderName::from_static("x-ratelimit-bucket"),
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
    HeaderName::from_static("x-ratelimit-reset-after"),
    HeaderName::from_static("cf-cache-status"),
    HeaderName::from_static("cf-ray"),
    HeaderName::from_static("nel"),
    HeaderName::from_static("report-to"),
];

fn name(written: &str) -> Option<HeaderName> {
    let known = KNOWN.iter().find(|known| known.as_str().eq_ignore_ascii_case(written));
    known.cloned().or_else(|| HeaderName::from_bytes(written.as_bytes()).ok())
}

/// What an answer's headers say of the connection and the body's framing.
struct Told {
    keeps: bool,
    /// Said anywhere it outweighs what else is said.
    closes: bool,
    length: Option<u64>,
    coding: Option<Coding>,
    /// Headers that `Connection` names.
    named: Vec<HeaderName>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Chunked,
    Other,
}

impl Told {
    /// `version`: of HTTP/1; before 1.1 nobody kept a connection who did not say so.
    fn new(version: Option<u8>) -> Self {
        Self { keeps: version == Some(1), closes: false, length: None, coding: None, named: Vec::new() }
    }

    /// Whether a header is the connection's own, or tidegate's, and goes no further.
    fn is_connections(&mut self, name: &HeaderName, value: &HeaderValue) -> Result<bool, Fault> {
        if *name == CONTENT_LENGTH {
            let length = length(value).ok_or(Fault::Answer("its length is malformed"))?;
            let before = self.length.replace(length);
            if before.is_some_and(|before| before != length) {
                return Err(Fault::Answer("it has two lengths"));
            }
            return Ok(before.is_some());
        }
        if *name == TRANSFER_ENCODING {
            let last = value.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
            let chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
            self.coding = Some(if chunked { Coding::Chunked } else { Coding::Other });
        } else if *name == CONNECTION {
            self.connection(value.as_bytes());
        }
        Ok(headers::is_connections(name.as_str()) || headers::is_own(name.as_str()))
    }

    fn connection(&mut self, value: &[u8]) {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            if word.eq_ignore_ascii_case(b"close") {
                self.closes = true;
            } else if word.eq_ignore_ascii_case(b"keep-alive") {
                self.keeps = true;
            } else if let Ok(name) = HeaderName::from_bytes(word) {
                self.named.push(name);
            }
        }
    }

    fn finish(&mut self, headers: &mut HeaderMap) {
        for name in self.named.iter().filter(|name| !name.as_str().starts_with("content-")) {
            headers.remove(name);
        }
        // With a coding the length says nothing, and who sends both is not to be trusted with another request.
        if self.coding.is_some() && headers.remove(CONTENT_LENGTH).is_some() {
            self.closes = true;
        }
    }

    fn framing(&self) -> Framing {
        match (self.coding, self.length) {
            (Some(Coding::Chunked), _) => Framing::chunked(),
            (Some(Coding::Other), _) | (None, None) => Framing::Close,
            (None, Some(length)) => Framing::Length(length),
        }
    }
}

/// Digits only: `+1` and `0x1` are no lengths.
fn length(value: &HeaderValue) -> Option<u64> {
    let digits = value.as_bytes();
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    str::from_utf8(digits).ok().filter(|_| plain)?.parse().ok()
}
