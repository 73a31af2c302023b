//! Who may ask: names in `Host` against pages that rebind theirs, the token, and what a change needs besides.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, EXPECT, HOST, HeaderName, ORIGIN, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, Response};

use tidegate_net::base64;
use tidegate_proxy::{closes, is_proxied, shaped, unwanted};

use crate::app::App;

/// Nothing here reads a body. What is sent all the same is let go by, or the answer says that the connection ends.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let stays = body.is_end_stream() || unwanted(body, head.headers.contains_key(EXPECT)).await;
    let mut response = guarded(&app, Request::from_parts(head, Body::empty()), next).await;
    if !stays {
        closes(response.headers_mut());
    }
    response
}

async fn guarded(app: &App, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_proxied(path) {
        return lost(app);
    }
    match check(app, &request) {
        Ok(()) => next.run(request).await,
        Err((StatusCode::UNAUTHORIZED, reason)) => {
            // A browser asks for Basic, and knows nothing of Bearer.
            let ways = AppendHeaders([(WWW_AUTHENTICATE, "Bearer"), (WWW_AUTHENTICATE, "Basic realm=\"tidegate\"")]);
            (StatusCode::UNAUTHORIZED, ways, reason).into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

/// A bot at the wrong port, told so in the shape that it reads.
fn lost(app: &App) -> Response {
    let listen = app.config.listen;
    let told = format!("Not Found: this is the operators' port (admin); bots go to http://{listen} (listen)");
    (StatusCode::NOT_FOUND, [(CONTENT_TYPE, "application/json")], shaped(404, &told)).into_response()
}

fn check(app: &App, request: &Request) -> Result<(), (StatusCode, &'static str)> {
    let text = |name: HeaderName| request.headers().get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST).ok_or((StatusCode::BAD_REQUEST, "Host is missing\n"))?;
    if !is_known(app, host) {
        return Err((StatusCode::FORBIDDEN, "this Host is not served; name it in admin_hosts\n"));
    }
    let health = matches!(request.uri().path(), "/healthz" | "/readyz");
    if let Some(token) = app.config.admin_token.as_ref().filter(|_| !health)
        && !text(AUTHORIZATION).and_then(given).is_some_and(|given| token.matches(&given))
    {
        let needed = "the admin_token is needed: Authorization: Bearer, or as the password of any user\n";
        return Err((StatusCode::UNAUTHORIZED, needed));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    // A page of another site can make a browser send a form, but not this.
    if text(CONTENT_TYPE).is_none_or(|kind| kind.split(';').next().is_none_or(|kind| kind.trim() != "application/json"))
    {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "a change needs Content-Type: application/json\n"));
    }
    let own = |origin: &str| origin.split_once("://").is_some_and(|(_, named)| named == host);
    if text(ORIGIN).is_some_and(|origin| !own(origin)) {
        return Err((StatusCode::FORBIDDEN, "another site may change nothing here\n"));
    }
    Ok(())
}

/// The token in `Authorization`: a bearer's, or any user's password.
fn given(value: &str) -> Option<Cow<'_, str>> {
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("Bearer") {
        return Some(Cow::Borrowed(rest));
    }
    let decoded = Some(rest.trim()).filter(|_| scheme.eq_ignore_ascii_case("Basic")).and_then(base64)?;
    let (_, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some(Cow::Owned(password.to_owned()))
}

/// Loopback, the address listened on, or a configured name.
fn is_known(app: &App, host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let listed = app.config.admin_hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    let own = name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == app.config.admin.ip());
    listed || own || name.eq_ignore_ascii_case("localhost")
}
