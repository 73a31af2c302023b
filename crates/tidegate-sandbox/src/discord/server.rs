//! A [`Model`] behind a real port.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::call::{Answer, Call, Content};
use super::gateway::{GatewayStats, wire};
use super::model::{Gateway, Model, Settings};
use super::script::Script;
use super::stats::Stats;
use crate::control;
use crate::http::{BodyFault, Fields, fields};
use crate::server::{self, Platform, Shared, Wire};

/// How a [`serve`]d platform behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits, bounds, tokens and what is told of the Gateway. An `epoch_unix_ms` of 0 becomes the moment of the start.
    pub settings: Settings,
    /// Real seconds of one platform second, 0.001 to 1000: 0.1 makes every period a tenth as long. Numbers on the wire
    /// stay platform time.
    pub scale: f64,
    /// Real time from a call to its answer, on top of what the platform itself takes.
    pub latency: Duration,
    /// Up to this much more real time, different from call to call.
    pub latency_jitter: Duration,
    /// Every other answer is held for three times the latency, at least 40 ms: later ones overtake it.
    pub out_of_order: bool,
    /// Longest body taken, in bytes; longer ones are answered 413.
    pub body_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            scale: 1.0,
            latency: Duration::ZERO,
            latency_jitter: Duration::ZERO,
            out_of_order: false,
            body_max: 60 << 20,
        }
    }
}

/// A running Discord; [`Handle::url`](crate::Handle::url) and `/api` is what a library takes for its base.
pub type Handle = crate::Handle<Model>;

impl Handle {
    /// All figures.
    pub fn stats(&self) -> Stats {
        self.with(|model| model.stats())
    }

    /// All figures of the Gateway.
    pub fn gateway_stats(&self) -> GatewayStats {
        self.with(|model| model.gateway().stats())
    }

    /// Forces answers; false if too many scripts wait already.
    pub fn script(&self, script: Script) -> bool {
        self.with(|model| model.script(script))
    }
}

/// Listens on `addr` (port 0: any free one) and serves until the handle is stopped or dropped.
///
/// Must be called inside a tokio runtime; all tasks run there.
pub async fn serve(addr: SocketAddr, options: Options) -> io::Result<Handle> {
    serve_on(TcpListener::bind(addr).await?, options)
}

/// Like [`serve`], on a listener that is already bound.
pub fn serve_on(listener: TcpListener, options: Options) -> io::Result<Handle> {
    let Options { mut settings, scale, latency, latency_jitter, out_of_order, body_max } = options;
    let wire = Wire { scale, latency, latency_jitter, out_of_order, body_max };
    server::serve_on(listener, wire, |unix, mut addr| {
        if settings.gateway.url == Gateway::default().url {
            if addr.ip().is_unspecified() {
                addr.set_ip(Ipv4Addr::LOCALHOST.into());
            }
            settings.gateway.url = format!("ws://{addr}");
        }
        settings.gateway_judge.told_scale = wire.scale();
        if settings.epoch_unix_ms == 0 {
            settings.epoch_unix_ms = u64::try_from(unix.as_millis()).unwrap_or(0);
        }
        Model::new(settings)
    })
}

impl Platform for Model {
    type Content = Full<Bytes>;
    type Side = wire::Links;

    fn started(shared: &Arc<Shared<Self>>, links: &Arc<wire::Links>, stopped: &watch::Receiver<bool>) {
        tokio::spawn(wire::pump(Arc::clone(shared), Arc::clone(links), stopped.clone()));
    }

    async fn answer(
        shared: Arc<Shared<Self>>,
        links: Arc<wire::Links>,
        peer: IpAddr,
        request: Request<Incoming>,
    ) -> io::Result<Response<Full<Bytes>>> {
        if wire::wants_websocket(&request) {
            return wire::open(&shared, &links, peer, request);
        }
        let path = request.uri().path().to_owned();
        if let Some(what) = path.strip_prefix("/__sandbox/") {
            let (status, body) = control::answer(&shared, what, request).await;
            return Ok(reply(Answer { status, headers: Vec::new(), content: Content::Json, body }));
        }
        shared.notice(request.headers());
        let Some(path) = under_api(&path) else {
            return Ok(reply(Answer::error(404, 0, "404: Not Found")));
        };
        let authorization = request.headers().get(AUTHORIZATION);
        let authorization = authorization.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let mut call = Call { authorization, from: peer, ..Call::new(request.method().as_str(), path) };
        match fields(request, shared.body_max).await {
            Ok(fields) => fill(&mut call, fields),
            Err(BodyFault::TooLarge) => {
                return Ok(reply(Answer::error(413, 40005, "Request entity too large")));
            }
            Err(BodyFault::Malformed(_)) => {
                return Ok(reply(Answer::error(400, 50109, "The request body contains invalid JSON.")));
            }
            Err(BodyFault::Cut) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        take(&shared, call).await
    }
}

/// What stands behind `/api` or `/api/vN`.
fn under_api(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/api")?;
    let (first, further) = match rest.strip_prefix('/')?.split_once('/') {
        Some((first, _)) => (first, rest.get(first.len() + 1..)?),
        None => return Some(rest),
    };
    let version = first.strip_prefix('v').is_some_and(|digits| digits.parse::<u16>().is_ok());
    Some(if version { further } else { rest })
}

fn fill(call: &mut Call, fields: Fields) {
    call.query = fields.query;
    call.files = fields.files;
    call.body = match fields.list {
        Some(list) => Value::Array(list),
        None if !fields.json.is_empty() => Value::Object(fields.json),
        None => {
            let payload = fields.pairs.iter().find(|(name, _)| name == "payload_json");
            payload.and_then(|(_, json)| serde_json::from_str(json).ok()).unwrap_or(Value::Null)
        }
    };
    if call.body.is_null() && !fields.pairs.is_empty() {
        // Old libraries send `content` as a field beside the file.
        call.body = fields.pairs.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    }
}

async fn take(shared: &Shared<Model>, mut call: Call) -> io::Result<Response<Full<Bytes>>> {
    let latency = shared.latency();
    call.answer_after = shared.platform(latency);
    let verdict = shared.model().call(shared.now(), &call);
    shared.news.notify_waiters();
    let delay = shared.real(verdict.delay).saturating_add(latency);
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    if verdict.cut {
        return Err(io::Error::other("cut by a script"));
    }
    Ok(reply(verdict.answer))
}

fn reply(answer: Answer) -> Response<Full<Bytes>> {
    // Nothing behind the type: libraries compare the whole value.
    let kind = match answer.content {
        Content::Empty => None,
        Content::Json => Some("application/json"),
        Content::Html => Some("text/html; charset=UTF-8"),
        Content::Text => Some("text/plain; charset=UTF-8"),
    };
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(kind) = kind {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::under_api;

    #[test]
    fn any_version_is_taken_off() {
        assert_eq!(under_api("/api/v10/users/@me"), Some("/users/@me"));
        assert_eq!(under_api("/api/users/@me"), Some("/users/@me"));
        assert_eq!(under_api("/api/v6/gateway"), Some("/gateway"));
        assert_eq!((under_api("/api/gateway"), under_api("/api/vx/a")), (Some("/gateway"), Some("/vx/a")));
        assert_eq!((under_api("/apiv10/a"), under_api("/x"), under_api("/api")), (None, None, None));
    }
}
