//! The few payloads whose data is read: what a session begins, beats and ends with.

use std::borrow::Cow;
use std::ops::Range;

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::Deserialize;

use super::Malformed;
use super::object::{Members, string};

/// What READY says of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) session_id: String,
    pub(crate) resume_gateway_url: String,
    /// The bot's own id, where it is told.
    pub(crate) user_id: Option<String>,
}

/// Reads READY's data. `payload` is the whole dispatch, `d` where its data stands.
pub(crate) fn ready(payload: &[u8], d: &Range<usize>) -> Result<Ready, Malformed> {
    let (mut session_id, mut url, mut user_id) = (None, None, None);
    for member in Members::new(payload, d.start)? {
        let member = member?;
        let read = |field| match &payload[member.value.clone()] {
            value if value.starts_with(b"\"") => Ok(Some(string(value)?.into_owned())),
            _ => Err(Malformed::Field(field)),
        };
        match &*member.name {
            "session_id" => session_id = read("session_id")?,
            "resume_gateway_url" => url = read("resume_gateway_url")?,
            "user" => user_id = id(&payload[member.value.clone()]),
            _ => {}
        }
    }
    Ok(Ready {
        session_id: session_id.ok_or(Malformed::Field("session_id"))?,
        resume_gateway_url: url.ok_or(Malformed::Field("resume_gateway_url"))?,
        user_id,
    })
}

fn id(user: &[u8]) -> Option<String> {
    let id = Members::new(user, 0).ok()?.filter_map(Result::ok).find(|member| member.name == "id")?;
    string(&user[id.value]).ok().map(Cow::into_owned)
}

/// The same dispatch with another `resume_gateway_url` in its data. No other byte is changed.
pub(crate) fn with_resume_url(payload: &[u8], d: &Range<usize>, url: &str) -> Result<Bytes, Malformed> {
    let url = serde_json::to_vec(url).map_err(|_| Malformed::Field("resume_gateway_url"))?;
    let mut rewritten = BytesMut::with_capacity(payload.len() + url.len());
    let mut copied = 0;
    for member in Members::new(payload, d.start)? {
        let member = member?;
        if member.name == "resume_gateway_url" {
            rewritten.put_slice(&payload[copied..member.value.start]);
            rewritten.put_slice(&url);
            copied = member.value.end;
        }
    }
    rewritten.put_slice(&payload[copied..]);
    Ok(rewritten.freeze())
}

/// How often HELLO wants a heartbeat, in milliseconds; at least 1.
pub(crate) fn hello(d: &[u8]) -> Result<u64, Malformed> {
    #[derive(Deserialize)]
    struct Hello {
        heartbeat_interval: u64,
    }
    let hello: Hello = serde_json::from_slice(d).map_err(|_| Malformed::Field("heartbeat_interval"))?;
    Some(hello.heartbeat_interval).filter(|interval| *interval > 0).ok_or(Malformed::Field("heartbeat_interval"))
}

/// What op 9 says of a RESUME. Anything but `true` means that the session is gone.
pub(crate) fn resumable(d: Option<&[u8]>) -> bool {
    d == Some(b"true")
}

/// A `RATE_LIMITED` dispatch's data: a request was dropped.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct RateLimited {
    /// Of the dropped request.
    pub(crate) opcode: u8,
    /// Seconds.
    pub(crate) retry_after: f64,
    #[serde(default)]
    pub(crate) meta: RateLimitedMeta,
}

/// What a `RATE_LIMITED` dispatch says of the dropped request. Only op 8 has any
/// (<https://discord.com/developers/docs/events/gateway-events#rate-limited>).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct RateLimitedMeta {
    #[serde(default)]
    pub(crate) guild_id: Option<String>,
    #[serde(default)]
    pub(crate) nonce: Option<String>,
}

/// Reads a `RATE_LIMITED` dispatch's data.
pub(crate) fn rate_limited(d: &[u8]) -> Result<RateLimited, Malformed> {
    let limited: RateLimited = serde_json::from_slice(d).map_err(|_| Malformed::Field("RATE_LIMITED"))?;
    if limited.retry_after >= 0.0 { Ok(limited) } else { Err(Malformed::Field("retry_after")) }
}

#[cfg(test)]
mod tests;
