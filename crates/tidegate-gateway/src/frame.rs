//! What a bot says, read as far as it has to be.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hyper::header::HeaderValue;
use serde::Deserialize;
use serde_json::value::RawValue;
use tidegate_core::bot::ShardKey;
use tidegate_core::send_queue::Guild;

use super::close::Close;
use super::effect::{Answer, Effect, Voice};
use super::wire::Malformed;
use super::wire::object::Members;
use super::wire::scan::strict;
use tidegate_net::{Token, keyed};

const BEAT: u64 = 1;
const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;
const VOICE_STATE: u64 = 4;
const MEMBERS: u64 = 8;
const SUBSCRIBE_ONE: u64 = 14;
const SOUNDS: u64 = 31;
const SUBSCRIBE: u64 = 37;
const CHANNEL_INFO: u64 = 43;
/// What only a server says.
const SERVERS: [u64; 5] = [0, 7, 9, 10, 11];

/// One frame.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Beat,
    Identify(Arc<Identify>),
    Resume(Resume),
    Command(Command),
}

/// An IDENTIFY. Its data holds the token, so it cannot be printed.
#[derive(Clone)]
pub struct Identify {
    pub(crate) token: Token,
    /// Which shard it is for.
    pub key: ShardKey,
    /// Its data as it came, but for `compress`, which is between the bot and tidegate.
    pub d: Bytes,
    /// Stands for the data where it is compared.
    pub(crate) digest: u64,
    pub(crate) identity: Identity,
}

/// A bot's token, as it wrote it and as its calls over HTTP carry it. It cannot be printed.
#[derive(Clone)]
pub struct Identity {
    pub(crate) written: Arc<str>,
    pub(crate) authorization: HeaderValue,
}

/// A RESUME.
#[derive(Clone, Debug)]
pub struct Resume {
    pub(crate) token: Token,
    pub(crate) identity: Identity,
    /// The session's id.
    pub session: Box<str>,
    /// The last dispatch that the bot had.
    pub seq: u64,
}

/// Anything else: it goes through the send queue.
#[derive(Clone, Debug)]
pub struct Command {
    pub(crate) op: u8,
    pub(crate) kind: Kind,
    /// What shows that it did what it was for, where a dispatch does.
    pub(crate) effect: Option<Effect>,
    /// The frame as it came.
    pub(crate) frame: Bytes,
}

/// What the send queue has to know of a command.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Plain,
    /// The bot's voice state in a guild.
    Voice {
        guild: Guild,
    },
    /// A request for guild members; `all` of them, or some.
    Members {
        guild: Guild,
        all: bool,
    },
    /// What the client wants to see of each guild.
    Subscribe(Vec<(Guild, Bytes)>),
}

/// Reads one frame.
pub(crate) fn said(frame: &Bytes) -> Result<Said, Close> {
    let read = strict(frame).map_err(|malformed| match malformed {
        Malformed::NotJson => Close::NOT_JSON,
        Malformed::NoOp | Malformed::Field(_) => Close::NO_OP,
    })?;
    let d = read.d.map_or("null", RawValue::get);
    match read.op {
        BEAT => Ok(Said::Beat),
        IDENTIFY => identify(d).map(Arc::new).map(Said::Identify),
        RESUME => resume(d).map(Said::Resume),
        op => {
            let number = u8::try_from(op).ok().filter(|_| !SERVERS.contains(&op)).ok_or(Close::UNKNOWN_OP)?;
            let (kind, effect) = match op {
                VOICE_STATE => voice(d),
                MEMBERS => members(d),
                SOUNDS => (None, sounds(d)),
                CHANNEL_INFO => (None, channel_info(d)),
                SUBSCRIBE => (subscribe(d), None),
                SUBSCRIBE_ONE => (subscribe_one(d), None),
                _ => (None, None),
            };
            let kind = kind.unwrap_or(Kind::Plain);
            Ok(Said::Command(Command { op: number, kind, effect, frame: frame.clone() }))
        }
    }
}

fn identify(d: &str) -> Result<Identify, Close> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        token: Cow<'a, str>,
        #[serde(borrow, default)]
        shard: Option<&'a RawValue>,
    }
    let data: Data<'_> = serde_json::from_str(d).map_err(|_| Close::BAD_IDENTIFY)?;
    let (token, identity) = token(&data.token)?;
    let key = match data.shard.map(RawValue::get) {
        None | Some("null") => ShardKey { id: 0, count: 1 },
        Some(shard) => {
            let [id, count]: [i64; 2] = serde_json::from_str(shard).map_err(|_| Close::BAD_IDENTIFY)?;
            match (u32::try_from(id), u32::try_from(count)) {
                (Ok(id), Ok(count)) if id < count => ShardKey { id, count },
                _ => return Err(Close::NO_SUCH_SHARD),
            }
        }
    };
    let d = without(d, "compress").ok_or(Close::BAD_IDENTIFY)?;
    Ok(Identify { token, key, digest: keyed(&*d), d: d.into(), identity })
}

/// A bot's token is written with and without `Bot `; both are one bot.
/// The bot of a token, written with or without `Bot `.
pub fn identity(written: &str) -> Option<(Token, Identity)> {
    token(written).ok()
}

fn token(written: &str) -> Result<(Token, Identity), Close> {
    let bare = written.trim().trim_start_matches("Bot ");
    let full = format!("Bot {bare}");
    let token = Token::discord(&full).ok_or(Close::BAD_TOKEN)?;
    let mut authorization = HeaderValue::try_from(full).map_err(|_| Close::BAD_TOKEN)?;
    authorization.set_sensitive(true);
    Ok((token, Identity { written: written.into(), authorization }))
}

/// An object without one of its members.
fn without(object: &str, member: &str) -> Option<String> {
    let members: Vec<_> = Members::new(object.as_bytes(), 0).ok()?.collect::<Result<_, _>>().ok()?;
    if members.iter().all(|found| found.name != member) {
        return Some(object.to_owned());
    }
    let kept = members.iter().filter(|found| found.name != member);
    let written = kept
        .map(|found| Some(format!("{}:{}", serde_json::to_string(&found.name).ok()?, &object[found.value.clone()])));
    Some(format!("{{{}}}", written.collect::<Option<Vec<_>>>()?.join(",")))
}

fn resume(d: &str) -> Result<Resume, Close> {
    #[derive(Deserialize)]
    struct Data<'a> {
        #[serde(borrow)]
        token: Cow<'a, str>,
        session_id: Box<str>,
        seq: u64,
    }
    let data: Data<'_> = serde_json::from_str(d).map_err(|_| Close::BAD_RESUME)?;
    let (token, identity) = token(&data.token)?;
    Ok(Resume { token, identity, session: data.session_id, seq: data.seq })
}

fn voice(d: &str) -> (Option<Kind>, Option<Effect>) {
    let Ok(voice) = serde_json::from_str::<Voice>(d) else { return (None, None) };
    (Some(Kind::Voice { guild: (&*voice.guild_id).into() }), Some(Effect::Voice(voice)))
}

fn sounds(d: &str) -> Option<Effect> {
    #[derive(Deserialize)]
    struct Data {
        guild_ids: Vec<Box<str>>,
    }
    let data: Data = serde_json::from_str(d).ok()?;
    Some(Effect::Each { of: Answer::Sounds, guilds: data.guild_ids })
}

fn channel_info(d: &str) -> Option<Effect> {
    #[derive(Deserialize)]
    struct Data {
        guild_id: Box<str>,
    }
    let data: Data = serde_json::from_str(d).ok()?;
    Some(Effect::Each { of: Answer::ChannelInfo, guilds: vec![data.guild_id] })
}

/// Nothing where it names no guild: then it is a command like any other, and Discord's to judge.
fn members(d: &str) -> (Option<Kind>, Option<Effect>) {
    #[derive(Deserialize)]
    struct Data {
        guild_id: Box<str>,
        #[serde(default)]
        query: Option<Box<str>>,
        #[serde(default)]
        limit: Option<u64>,
        #[serde(default)]
        nonce: Option<Box<str>>,
    }
    let Ok(data) = serde_json::from_str::<Data>(d) else { return (None, None) };
    let all = data.query.is_some_and(|query| query.is_empty()) && data.limit == Some(0);
    let effect = Effect::chunks(&data.guild_id, data.nonce);
    (Some(Kind::Members { guild: data.guild_id.into(), all }), Some(effect))
}

fn subscribe(d: &str) -> Option<Kind> {
    let of = |text: &str, name: &str| {
        let members = Members::new(text.as_bytes(), 0).ok()?;
        members.filter_map(Result::ok).find(|found| found.name == name).map(|found| found.value)
    };
    let map = &d[of(d, "subscriptions")?];
    let guilds = Members::new(map.as_bytes(), 0).ok()?;
    let snapshots = guilds.map(|guild| {
        let guild = guild.ok()?;
        Some((Guild::from(&*guild.name), Bytes::copy_from_slice(&map.as_bytes()[guild.value])))
    });
    Some(Kind::Subscribe(snapshots.collect::<Option<_>>()?))
}

fn subscribe_one(d: &str) -> Option<Kind> {
    #[derive(Deserialize)]
    struct Data {
        guild_id: Box<str>,
    }
    let data: Data = serde_json::from_str(d).ok()?;
    Some(Kind::Subscribe(vec![(data.guild_id.into(), without(d, "guild_id")?.into())]))
}

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identify").field("token", &self.token).field("key", &self.key).finish_non_exhaustive()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

#[cfg(test)]
mod tests;
