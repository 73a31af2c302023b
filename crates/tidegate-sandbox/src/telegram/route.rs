//! From a request to the model and back.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;

use super::call::{Answer, Call, PollTicket, Verdict};
use super::file;
use super::model::Model;
use super::tokens::bot_id;
use crate::control;
use crate::http::{BodyFault, fields};
use crate::server::Shared;

type Reply = Response<Either<Full<Bytes>, Made>>;

pub(super) async fn answer(shared: Arc<Shared<Model>>, request: Request<Incoming>) -> io::Result<Reply> {
    let path = request.uri().path().to_owned();
    if let Some(what) = path.strip_prefix("/__sandbox/") {
        let (status, body) = control::answer(&shared, what, request).await;
        return Ok(reply(Answer { status, retry_after_s: None, body }));
    }
    shared.notice(request.headers());
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return Ok(reply(Answer::error(405, "Method Not Allowed")));
    }
    if let Some(rest) = path.strip_prefix("/file/bot") {
        return Ok(download(&shared, rest));
    }
    let Some((token, method)) = path.strip_prefix("/bot").and_then(|rest| rest.split_once('/')) else {
        return Ok(reply(Answer::error(404, "Not Found")));
    };
    let method = method.strip_prefix("test/").unwrap_or(method);
    let mut call = Call::new(decoded(token), decoded(method));
    match fields(request, shared.body_max).await {
        Ok(fields) if fields.list.is_some() => {
            return Ok(reply(Answer::error(400, "Bad Request: can't parse request as JSON object")));
        }
        Ok(fields) => {
            for (name, value) in fields.query.into_iter().chain(fields.pairs) {
                call.args.push(name, value);
            }
            call.args.extend_json(fields.json);
            for (name, bytes) in fields.files {
                call.args.push(name, format!("upload of {bytes} bytes"));
            }
        }
        Err(BodyFault::TooLarge) => return Ok(reply(Answer::error(413, "Request Entity Too Large"))),
        Err(BodyFault::Malformed(text)) => return Ok(reply(Answer::error(400, &format!("Bad Request: {text}")))),
        Err(BodyFault::Cut) => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    let verdict = take(&shared, &call).await;
    if verdict.cut {
        return Err(io::Error::other("cut by a script"));
    }
    Ok(reply(verdict.answer))
}

fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

async fn take(shared: &Arc<Shared<Model>>, call: &Call) -> Verdict {
    let verdict = shared.model().call(shared.now(), call);
    let name = call.method.to_ascii_lowercase();
    if name == "getupdates" || name == "setwebhook" {
        shared.news.notify_waiters();
    }
    let verdict = match verdict.poll {
        Some(ticket) => wait(shared, ticket, verdict).await,
        None => verdict,
    };
    let delay = shared.real(verdict.delay).saturating_add(shared.latency());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    verdict
}

/// Holds a long poll until it has an answer. A client that leaves ends it.
async fn wait(shared: &Arc<Shared<Model>>, ticket: PollTicket, verdict: Verdict) -> Verdict {
    let mut waiting = Waiting { shared: Arc::clone(shared), ticket: Some(ticket) };
    let end = tokio::time::sleep(shared.real(verdict.delay));
    tokio::pin!(end);
    loop {
        let news = shared.news.notified();
        tokio::pin!(news);
        news.as_mut().enable();
        let found = shared.model().poll(shared.now(), ticket);
        if let Some(found) = found {
            waiting.ticket = None;
            return found;
        }
        tokio::select! {
            () = &mut end => {
                // A timer may fire a moment before the platform's clock is there.
                end.as_mut().reset(tokio::time::Instant::now() + std::time::Duration::from_millis(1));
            }
            () = news => {}
        }
    }
}

struct Waiting {
    shared: Arc<Shared<Model>>,
    ticket: Option<PollTicket>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.shared.model().poll_gone(ticket);
        }
    }
}

fn reply(answer: Answer) -> Reply {
    let kind = if answer.body.starts_with('<') { "text/html" } else { "application/json" };
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(answer.body))));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some(retry_after_s) = answer.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    response
}

/// `/file/bot<token>/documents/<file_id>.bin`.
fn download(shared: &Shared<Model>, rest: &str) -> Reply {
    let Some((token, path)) = rest.split_once('/') else { return reply(Answer::error(404, "Not Found")) };
    let token = decoded(token);
    if bot_id(&token).is_none() {
        return reply(Answer::error(404, "Not Found"));
    }
    if !shared.model().settings().tokens.take(&token) {
        return reply(Answer::error(401, "Unauthorized"));
    }
    let size = file::size_bytes(path);
    if !path.starts_with("documents/") || size > file::SIZE_MAX {
        return reply(Answer::error(404, "Not Found"));
    }
    let mut response = Response::new(Either::Right(Made { left: size }));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
    response
}

/// A file's content, made as it is sent.
pub(crate) struct Made {
    left: u64,
}

impl Body for Made {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        static BLOCK: [u8; 16 << 10] = [b'.'; 16 << 10];
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(BLOCK.len());
        self.left -= length as u64;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(BLOCK.get(..length).unwrap_or_default())))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
