//! What is read of every payload: `op`, `s` and `t`. What `d` holds is nobody's business here.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Malformed;
use super::object::{Members, string};

/// What stands around a payload's data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    pub(crate) op: u64,
    /// The dispatch's number; none where it is missing or null.
    pub(crate) s: Option<u64>,
    /// The dispatch's name; none where it is missing or null.
    pub(crate) t: Option<Cow<'a, str>>,
    /// Where the data stands in the payload.
    pub(crate) d: Option<Range<usize>>,
}

/// Reads what Discord sent, trusting that its data is JSON. Of a name that comes twice the last counts.
pub(crate) fn scan(payload: &[u8]) -> Result<Envelope<'_>, Malformed> {
    if let Some(envelope) = dispatch(payload) {
        return Ok(envelope);
    }
    let mut members = Members::new(payload, 0)?;
    let (mut op, mut s, mut t, mut d) = (None, None, None, None);
    while let Some(member) = members.next().transpose()? {
        let value = &payload[member.value.clone()];
        match &*member.name {
            "op" => op = Some(number(value).ok_or(Malformed::Field("op"))?),
            "s" => s = nullable("s", value, number)?,
            "t" => t = nullable("t", value, text)?,
            "d" => d = Some(member.value),
            _ => {}
        }
    }
    if !members.is_all() {
        return Err(Malformed::NotJson);
    }
    Ok(Envelope { op: op.ok_or(Malformed::NoOp)?, s, t, d })
}

/// Reads a dispatch in the very form in which Discord writes it, as nearly all that ever comes is. All behind its head is
/// taken for its data, by the look of the first and the last brackets: to walk through it would cost ten times as much.
fn dispatch(payload: &[u8]) -> Option<Envelope<'_>> {
    let rest = payload.strip_prefix(b"{\"t\":\"")?;
    let (name, rest) = split(rest, |byte| byte.is_ascii_uppercase() || byte == b'_')?;
    let (seq, rest) = split(rest.strip_prefix(b"\",\"s\":")?, |byte| byte.is_ascii_digit())?;
    let data = rest.strip_prefix(b",\"op\":0,\"d\":")?.strip_suffix(b"}")?;
    let d = payload.len() - 1 - data.len()..payload.len() - 1;
    let looks_right = data.starts_with(b"{") && data.ends_with(b"}");
    let t = Cow::Borrowed(std::str::from_utf8(name).ok()?);
    looks_right.then_some(Envelope { op: 0, s: Some(number(seq)?), t: Some(t), d: Some(d) })
}

fn split(text: &[u8], first: impl Fn(u8) -> bool) -> Option<(&[u8], &[u8])> {
    text.split_at_checked(text.iter().position(|byte| !first(*byte))?)
}

fn nullable<'a, T>(
    name: &'static str,
    value: &'a [u8],
    read: impl Fn(&'a [u8]) -> Option<T>,
) -> Result<Option<T>, Malformed> {
    if value == b"null" { Ok(None) } else { read(value).map(Some).ok_or(Malformed::Field(name)) }
}

fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    value.starts_with(b"\"").then(|| string(value).ok()).flatten()
}

/// A JSON number without sign, fraction or exponent.
fn number(value: &[u8]) -> Option<u64> {
    if value.len() > 1 && value[0] == b'0' {
        return None;
    }
    value.iter().try_fold(None, |sum: Option<u64>, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.unwrap_or(0).checked_mul(10)?.checked_add(digit).map(Some)
    })?
}

/// A frame that a bot sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BotFrame<'a> {
    pub(crate) op: u64,
    /// Its data, as it came.
    pub(crate) d: Option<&'a RawValue>,
}

/// Reads what a bot sent: all of it must be JSON. Of a name that comes twice the last counts.
pub(crate) fn strict(payload: &[u8]) -> Result<BotFrame<'_>, Malformed> {
    let mut json = serde_json::Deserializer::from_slice(payload);
    let (op, d) = json.deserialize_map(Fields).map_err(|_| Malformed::NotJson)?;
    json.end().map_err(|_| Malformed::NotJson)?;
    let op = op.ok_or(Malformed::NoOp)?.get();
    Ok(BotFrame { op: number(op.as_bytes()).ok_or(Malformed::Field("op"))?, d })
}

struct Fields;

type Raw<'a> = Option<&'a RawValue>;

impl<'de> Visitor<'de> for Fields {
    type Value = (Raw<'de>, Raw<'de>);

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a Gateway payload")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut op, mut d) = (None, None);
        while let Some(name) = map.next_key::<Name>()? {
            let value: &'de RawValue = map.next_value()?;
            match name {
                Name::Op => op = Some(value),
                Name::D => d = Some(value),
                Name::Other => {}
            }
        }
        Ok((op, d))
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Name {
    Op,
    D,
    #[serde(other)]
    Other,
}

#[cfg(test)]
mod tests;
