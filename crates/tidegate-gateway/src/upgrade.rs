//! From a request to a WebSocket.

use std::sync::Arc;

use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, UPGRADE};
use hyper::{Method, Request, Response, StatusCode, Version};

use super::bot_connection::Guest;
use super::client::Client;
use super::close::Close;
use super::gateway::Fleets;
use super::wire::codec::Compression;

const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");
const VERSION: HeaderName = HeaderName::from_static("sec-websocket-version");
/// What a server answers a key with (RFC 6455, section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A WebSocket that a request asked for.
pub struct Upgrade {
    accepted: HeaderValue,
    address: Arc<str>,
    opening: Result<Compression, Close>,
}

/// Whether a request asks for a WebSocket.
pub fn is_asked_for<B>(request: &Request<B>) -> bool {
    names(request.headers(), &UPGRADE, "websocket")
}

impl Upgrade {
    /// Reads the handshake. What it asks for in vain it is told by the WebSocket's close.
    pub fn new<B>(fleets: &Fleets, request: &Request<B>) -> Result<Self, StatusCode> {
        let headers = request.headers();
        let is_handshake = request.method() == Method::GET
            && request.version() == Version::HTTP_11
            && names(headers, &CONNECTION, "upgrade");
        let key = headers.get(KEY).filter(|key| key.len() == 24 && is_handshake).ok_or(StatusCode::BAD_REQUEST)?;
        if headers.get(VERSION).is_none_or(|version| version != "13") {
            return Err(StatusCode::UPGRADE_REQUIRED);
        }
        let accepted = HeaderValue::try_from(accept(key.as_bytes())).map_err(|_| StatusCode::BAD_REQUEST)?;
        let address = fleets.address(headers)?;
        let opening = opening(request.uri().query().unwrap_or_default());
        Ok(Self { accepted, address, opening })
    }

    /// The answer to the handshake.
    pub fn response(&self) -> Response<()> {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(ACCEPT, self.accepted.clone());
        response
    }

    /// Serves the bot to its end.
    pub async fn serve(self, fleets: Arc<Fleets>, client: Client) {
        Guest::new(fleets, client, self.address, self.opening).run().await;
    }
}

/// Whether a header lists that word.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|listed| listed.trim().eq_ignore_ascii_case(word))
}

impl Fleets {
    /// Where the bot finds tidegate: what READY names in the place of Discord's address.
    pub fn address(&self, headers: &HeaderMap) -> Result<Arc<str>, StatusCode> {
        if let Some(url) = &self.depot.settings.public_url {
            return Ok(url.as_str().into());
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).ok_or(StatusCode::BAD_REQUEST)?;
        let authority: hyper::http::uri::Authority = host.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
        if authority.as_str().contains('@') {
            return Err(StatusCode::BAD_REQUEST);
        }
        Ok(format!("ws://{authority}").into())
    }
}

/// What the query asks for: each part may be missing.
fn opening(query: &str) -> Result<Compression, Close> {
    let mut compression = Compression::None;
    for pair in query.split('&') {
        match pair.split_once('=').unwrap_or((pair, "")) {
            ("encoding", name) if !matches!(name, "" | "json") => return Err(Close::ETF),
            ("v", number) if !matches!(number, "" | "10") => return Err(Close::VERSION),
            ("compress", name) => compression = Compression::named(name).ok_or(Close::COMPRESSION)?,
            _ => {}
        }
    }
    Ok(compression)
}

fn accept(key: &[u8]) -> String {
    let mut sha1 = sha1_smol::Sha1::from(key);
    sha1.update(GUID.as_bytes());
    base64(&sha1.digest().bytes())
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[bits >> (18 - 6 * place) & 0x3f];
            text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_answered_as_the_standard_says() {
        // The example of RFC 6455, section 1.3.
        assert_eq!(accept(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!([&b""[..], b"f", b"fo", b"foo"].map(base64), ["", "Zg==", "Zm8=", "Zm9v"]);
    }

    #[test]
    fn every_part_of_the_query_is_optional() {
        for (query, compression) in [
            ("", Compression::None),
            ("v=10", Compression::None),
            ("v=10&encoding=json&compress=zlib-stream", Compression::Zlib),
            ("compress=zstd-stream&v=10&encoding=json", Compression::Zstd),
            ("compress=&what=ever", Compression::None),
        ] {
            assert_eq!(opening(query), Ok(compression), "{query}");
        }
        for (query, code) in [("encoding=etf", 4012), ("v=6", 4012), ("compress=gzip", 4002)] {
            assert_eq!(opening(query).map_err(|close| close.code), Err(code), "{query}");
        }
    }
}
