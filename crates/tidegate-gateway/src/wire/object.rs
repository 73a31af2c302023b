//! The members of one JSON object, found without reading what they hold.

use std::borrow::Cow;
use std::ops::Range;

use super::Malformed;

/// One member: its name, and where in the text its value stands, without the space around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: Range<usize>,
}

/// Walks the members of the object that a text begins with.
///
/// It trusts that what it passes over is JSON: brackets are counted and strings are found, no more. Where the text ends
/// too early, or where something else stands in a member's or the end's place, it says so.
#[derive(Clone, Debug)]
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
    first: bool,
}

impl<'a> Members<'a> {
    /// `from` is where the object begins; space before it is passed over.
    pub(crate) fn new(text: &'a [u8], from: usize) -> Result<Self, Malformed> {
        let mut members = Self { text, at: from, first: true };
        members.expect(b'{')?;
        Ok(members)
    }

    fn name(&mut self) -> Result<Option<Cow<'a, str>>, Malformed> {
        match self.after_space()? {
            b'}' => {
                self.at += 1;
                return Ok(None);
            }
            b',' if !self.first => {
                self.at += 1;
                self.after_space()?;
            }
            _ if self.first => {}
            _ => return Err(Malformed::NotJson),
        }
        self.first = false;
        let start = self.at;
        self.expect(b'"')?;
        self.at = end_of_string(self.text, self.at)?;
        let name = string(&self.text[start..self.at])?;
        self.expect(b':')?;
        self.after_space()?;
        Ok(Some(name))
    }

    /// Whether nothing but space stands behind the object; to be asked after its last member.
    pub(crate) fn is_all(&self) -> bool {
        self.text[self.at..].iter().all(u8::is_ascii_whitespace)
    }

    fn after_space(&mut self) -> Result<u8, Malformed> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let space = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
        let space = space.ok_or(Malformed::NotJson)?;
        self.at += space;
        Ok(rest[space])
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.after_space()? != byte {
            return Err(Malformed::NotJson);
        }
        self.at += 1;
        Ok(())
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let name = self.name().transpose()?;
        Some(name.and_then(|name| {
            let start = self.at;
            self.at = end_of_value(self.text, start)?;
            Ok(Member { name, value: start..self.at })
        }))
    }
}

/// What a JSON string says; `quoted` has its quotes.
pub(crate) fn string(quoted: &[u8]) -> Result<Cow<'_, str>, Malformed> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).ok_or(Malformed::NotJson)?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).map(Cow::Borrowed).map_err(|_| Malformed::NotJson);
    }
    serde_json::from_slice(quoted).map(Cow::Owned).map_err(|_| Malformed::NotJson)
}

/// Behind the closing quote of the string whose first character is at `at`.
fn end_of_string(text: &[u8], mut at: usize) -> Result<usize, Malformed> {
    loop {
        let found = memchr::memchr2(b'"', b'\\', &text[at..]).ok_or(Malformed::NotJson)?;
        at += found + 1;
        if text[at - 1] == b'"' {
            return Ok(at);
        }
        // What is escaped is passed over, so that an escaped quote ends nothing.
        at += 1;
        if at > text.len() {
            return Err(Malformed::NotJson);
        }
    }
}

fn end_of_value(text: &[u8], at: usize) -> Result<usize, Malformed> {
    match text.get(at).ok_or(Malformed::NotJson)? {
        b'"' => end_of_string(text, at + 1),
        b'{' => end_of_nest(text, at + 1, b'{', b'}'),
        b'[' => end_of_nest(text, at + 1, b'[', b']'),
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let scalar = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            let length = text[at..].iter().position(|byte| !scalar(byte));
            Ok(length.map_or(text.len(), |length| at + length))
        }
        _ => Err(Malformed::NotJson),
    }
}

/// Behind the bracket that closes the one before `at`. The other kind of bracket is balanced within.
fn end_of_nest(text: &[u8], mut at: usize, opening: u8, closing: u8) -> Result<usize, Malformed> {
    let mut depth = 1_usize;
    loop {
        let found = memchr::memchr3(b'"', opening, closing, &text[at..]).ok_or(Malformed::NotJson)?;
        at += found + 1;
        match text[at - 1] {
            b'"' => at = end_of_string(text, at)?,
            byte if byte == opening => depth += 1,
            _ => depth -= 1,
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}
