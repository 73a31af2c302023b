//! The request that asks for a WebSocket (RFC 6455, 4.2).

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use super::links::Links;
use super::socket;
use crate::discord::Model;
use crate::discord::gateway::Handshake;
use crate::http::form;
use crate::server::Shared;

fn lists(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|it| it.trim().eq_ignore_ascii_case(word))
}

pub(crate) fn wants_websocket<B>(request: &Request<B>) -> bool {
    *request.method() == Method::GET && lists(request.headers(), UPGRADE, "websocket")
}

/// Answers the request; the WebSocket goes on in a task of its own. No extension is taken, `permessage-deflate` least of
/// all.
pub(crate) fn open(
    shared: &Arc<Shared<Model>>,
    links: &Arc<Links>,
    peer: IpAddr,
    mut request: Request<Incoming>,
) -> io::Result<Response<Full<Bytes>>> {
    let headers = request.headers();
    let key = headers.get(SEC_WEBSOCKET_KEY).map(|key| key.as_bytes().to_vec());
    let Some(key) = key.filter(|key| key.len() == 24 && lists(headers, CONNECTION, "upgrade")) else {
        return Ok(plain(400, "Bad Request"));
    };
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let mut response = plain(426, "Upgrade Required");
        response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return Ok(response);
    }
    let handshake = Handshake {
        from: peer,
        path: request.uri().path().to_owned(),
        query: form(request.uri().query().unwrap_or_default()),
    };
    let now = shared.now();
    let mut model = shared.model();
    // Joined under the model's lock: no output comes before the link stands.
    let joined = model.gateway.connect(now, &handshake).map(|accepted| (accepted, links.join(accepted.conn)));
    drop(model);
    let (accepted, link) = match joined {
        Ok(joined) => joined,
        Err(refused) => return Ok(plain(refused.status, &refused.body)),
    };
    let upgrade = hyper::upgrade::on(&mut request);
    shared.news.notify_waiters();
    tokio::spawn(socket::run(Arc::clone(shared), Arc::clone(links), accepted, upgrade, link));
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, HeaderValue::try_from(accept_key(&key)).map_err(io::Error::other)?);
    Ok(response)
}

fn plain(status: u16, body: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_owned())));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=UTF-8"));
    response
}

/// The proof that the key was read.
fn accept_key(key: &[u8]) -> String {
    let mut sha = sha1_smol::Sha1::new();
    sha.update(key);
    sha.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    base64(&sha.digest().bytes())
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let three = [0, 1, 2].map(|at| u32::from(chunk.get(at).copied().unwrap_or(0)));
        let bits = three[0] << 16 | three[1] << 8 | three[2];
        for at in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or(0);
            text.push(if at <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_answered_as_the_standard_shows() {
        assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!((base64(b""), base64(b"a"), base64(b"ab")), (String::new(), "YQ==".into(), "YWI=".into()));
    }
}
