//! How a bot's connection is ended: a code of Discord's, and words for whoever reads the bot's log.

use std::borrow::Cow;

use tidegate_core::Span;
use tidegate_core::discord::Fatal;

/// Resumable for every library.
const UNKNOWN: u16 = 4000;
const UNKNOWN_OPCODE: u16 = 4001;
const DECODE: u16 = 4002;
const NOT_AUTHENTICATED: u16 = 4003;
const AUTHENTICATION_FAILED: u16 = 4004;
const ALREADY_AUTHENTICATED: u16 = 4005;
const RATE_LIMITED: u16 = 4008;
const INVALID_SHARD: u16 = 4010;
const SHARDING_REQUIRED: u16 = 4011;
const INVALID_VERSION: u16 = 4012;
const INVALID_INTENTS: u16 = 4013;
const DISALLOWED_INTENTS: u16 = 4014;
const PROTOCOL: u16 = 1002;

/// A close frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// Discord's code.
    pub code: u16,
    pub(crate) reason: Cow<'static, str>,
}

impl Close {
    const fn fixed(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    pub(crate) const SUPERSEDED: Self = Self::fixed(UNKNOWN, "superseded by a newer connection");
    pub(crate) const TOO_SLOW: Self = Self::fixed(UNKNOWN, "too slow: what was sent is not read");
    pub(crate) const OVERTAKEN: Self = Self::fixed(UNKNOWN, "too slow: more events came than are kept");
    pub(crate) const NO_BEATS: Self = Self::fixed(UNKNOWN, "no heartbeat came for two intervals");
    pub(crate) const NOT_ASKED: Self = Self::fixed(UNKNOWN, "neither IDENTIFY nor a heartbeat came for two intervals");
    pub(crate) const DRAINING: Self = Self::fixed(UNKNOWN, "tidegate is going down; the session can be resumed");
    pub(crate) const TOO_MANY: Self = Self::fixed(UNKNOWN, "tidegate has as many bots or shards as it may");
    pub(crate) const NOT_JSON: Self = Self::fixed(DECODE, "a frame that is not a JSON object");
    pub(crate) const UNKNOWN_OP: Self = Self::fixed(UNKNOWN_OPCODE, "an op that Discord does not take");
    pub(crate) const NO_OP: Self = Self::fixed(DECODE, "a frame without a number as its op");
    pub(crate) const BAD_IDENTIFY: Self =
        Self::fixed(DECODE, "an IDENTIFY without a token, or with a shard that is none");
    pub(crate) const BAD_RESUME: Self = Self::fixed(DECODE, "a RESUME without token, session_id and seq");
    pub(crate) const NOT_IDENTIFIED: Self = Self::fixed(NOT_AUTHENTICATED, "a command before IDENTIFY or RESUME");
    pub(crate) const TWICE: Self = Self::fixed(ALREADY_AUTHENTICATED, "a second IDENTIFY or RESUME on one connection");
    pub(crate) const BAD_TOKEN: Self = Self::fixed(AUTHENTICATION_FAILED, "Discord does not take this token");
    pub(crate) const NOT_SERVED: Self = Self::fixed(AUTHENTICATION_FAILED, "this bot is not served here");
    pub(crate) const NO_SUCH_SHARD: Self = Self::fixed(INVALID_SHARD, "shard [id, count] needs 0 <= id < count");
    pub(crate) const ETF: Self = Self::fixed(INVALID_VERSION, "JSON is served here: encoding=json");
    pub(crate) const VERSION: Self = Self::fixed(INVALID_VERSION, "Gateway version 10 is served here: v=10");
    pub(crate) const COMPRESSION: Self =
        Self::fixed(DECODE, "compress is one of zlib-stream and zstd-stream, or left out");
    pub(crate) const FLOOD: Self =
        Self::fixed(RATE_LIMITED, "over 120 heartbeats, pings, IDENTIFYs and RESUMEs within a minute");

    /// A frame that Discord would not take.
    pub(crate) fn too_long(bytes: u64, most: usize) -> Self {
        let reason = format!("a frame of {bytes} bytes; Discord takes {most}");
        Self { code: DECODE, reason: reason.into() }
    }

    /// What came is no WebSocket.
    pub(crate) const fn protocol(reason: &'static str) -> Self {
        Self::fixed(PROTOCOL, reason)
    }

    /// A wait that a bot had better know of.
    pub(crate) fn waits(why: &str, left: Option<Span>) -> Self {
        let when =
            left.map_or_else(|| "until it is restarted".to_owned(), |left| format!("for {} s", left.as_secs_ceil()));
        Self { code: UNKNOWN, reason: format!("{why}: held {when}; come back, you are kept waiting quietly").into() }
    }

    /// Discord will not take the bot back.
    pub(crate) fn fatal(why: Fatal, again_in: Option<Span>) -> Self {
        let (code, what) = match why {
            Fatal::AuthenticationFailed => (AUTHENTICATION_FAILED, "authentication failed"),
            Fatal::InvalidShard => (INVALID_SHARD, "invalid shard"),
            Fatal::ShardingRequired => (SHARDING_REQUIRED, "sharding required"),
            Fatal::InvalidVersion => (INVALID_VERSION, "invalid API version"),
            Fatal::InvalidIntents => (INVALID_INTENTS, "invalid intents"),
            Fatal::DisallowedIntents => (DISALLOWED_INTENTS, "disallowed intents"),
        };
        let reason = match again_in {
            None => format!("Discord closed with this: {what}").into(),
            Some(left) => {
                let left = left.as_secs_ceil();
                format!("Discord closed with this before: {what}; the same IDENTIFY is tried again in {left} s").into()
            }
        };
        Self { code, reason }
    }
}
