//! What clients write, read strictly: whatever is wrong is an error and never a panic.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A frame of a client.
#[derive(Debug)]
pub(crate) enum Incoming {
    Beat,
    Identify(Identify),
    Resume(Resume),
    Members(Members),
    /// A command that is counted and has no answer here.
    Command(u8),
    Unknown(i64),
}

/// `d` of IDENTIFY.
#[derive(Deserialize)]
pub(crate) struct Identify {
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) shard: Option<Value>,
    #[serde(default)]
    pub(crate) intents: Option<Value>,
}

/// `d` of RESUME.
#[derive(Deserialize)]
pub(crate) struct Resume {
    pub(crate) token: String,
    pub(crate) session_id: String,
    #[serde(default)]
    pub(crate) seq: Option<i64>,
}

/// `d` of a request for members of a guild.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) guild: u64,
    /// All of them: an empty query, no limit and no ids.
    pub(crate) all: bool,
    pub(crate) limit: usize,
    pub(crate) users: Vec<u64>,
    /// At most 32 bytes; a longer one is not answered.
    pub(crate) nonce: Option<String>,
}

impl fmt::Debug for Identify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identify").field("shard", &self.shard).field("intents", &self.intents).finish_non_exhaustive()
    }
}

impl fmt::Debug for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume").field("seq", &self.seq).finish_non_exhaustive()
    }
}

/// Not JSON, without an opcode, or with a `d` that its opcode does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecodable;

#[derive(Deserialize)]
struct Envelope<'a> {
    op: i64,
    #[serde(borrow, default)]
    d: Option<&'a RawValue>,
}

impl Incoming {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Undecodable> {
        let text = std::str::from_utf8(bytes).map_err(|_| Undecodable)?;
        let envelope: Envelope<'_> = object(text)?;
        let d = envelope.d.map_or("null", RawValue::get);
        Ok(match envelope.op {
            1 => serde_json::from_str::<Option<u64>>(d).map(|_| Self::Beat).map_err(|_| Undecodable)?,
            2 => Self::Identify(object(d)?),
            6 => Self::Resume(object(d)?),
            8 => Self::Members(Members::read(d).ok_or(Undecodable)?),
            3 => Self::command(3, d)?,
            4 => Self::command(4, d)?,
            14 => Self::command(14, d)?,
            31 => Self::command(31, d)?,
            37 => Self::command(37, d)?,
            43 => Self::command(43, d)?,
            other => Self::Unknown(other),
        })
    }

    fn command(op: u8, d: &str) -> Result<Self, Undecodable> {
        if d.starts_with('{') { Ok(Self::Command(op)) } else { Err(Undecodable) }
    }
}

/// Reads an object; serde would take a list of its values as well.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Undecodable> {
    if !text.trim_start().starts_with('{') {
        return Err(Undecodable);
    }
    serde_json::from_str(text).map_err(|_| Undecodable)
}

impl Members {
    fn read(d: &str) -> Option<Self> {
        let d: Map<String, Value> = serde_json::from_str(d).ok()?;
        let id = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
        // Libraries of before send a list of one.
        let guild = d.get("guild_id")?;
        let guild = guild.as_array().and_then(|list| list.first()).unwrap_or(guild);
        let users: Vec<u64> = match d.get("user_ids") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) if list.len() <= 100 => list.iter().filter_map(id).collect(),
            Some(one) => vec![id(one)?],
        };
        let query = d.get("query").and_then(Value::as_str);
        let limit = d.get("limit").and_then(Value::as_u64).unwrap_or(0);
        let nonce = d.get("nonce").and_then(Value::as_str).filter(|nonce| nonce.len() <= 32).map(str::to_owned);
        if query.is_none() && users.is_empty() {
            return None;
        }
        Some(Self {
            guild: id(guild)?,
            all: users.is_empty() && query == Some("") && limit == 0,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            users,
            nonce,
        })
    }
}

/// A token without the word before it that some libraries write.
pub(crate) fn bare(token: &str) -> &str {
    token.strip_prefix("Bot ").unwrap_or(token).trim()
}

/// `[id, count]`; missing is the only shard there is.
pub(crate) fn shard(value: Option<&Value>) -> Option<(u32, u32)> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Some((0, 1)) };
    let [id, count] = value.as_array()?.as_slice() else { return None };
    let (id, count) = (u32::try_from(id.as_u64()?).ok()?, u32::try_from(count.as_u64()?).ok()?);
    (id < count).then_some((id, count))
}

/// Bits that have a meaning.
const INTENTS: u64 = 0x1_ffff | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25;

/// The intents, if they are some.
pub(crate) fn intents(value: Option<&Value>, version: u8) -> Option<u64> {
    match value {
        // Before version 8 whoever named none had all.
        None | Some(Value::Null) if version < 8 => Some(INTENTS),
        Some(value) => value.as_u64().or_else(|| value.as_str()?.parse().ok()).filter(|bits| bits & !INTENTS == 0),
        None => None,
    }
}
