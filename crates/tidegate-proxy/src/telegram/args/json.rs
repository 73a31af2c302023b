//! The top level of a JSON object, found without reading what lies deeper. A body cut short gives what stands before the cut.

use std::borrow::Cow;

/// Calls `each` with every complete member of an object: its name and its value as written.
pub(super) fn members(written: &[u8], mut each: impl FnMut(&str, &[u8])) {
    let mut at = Scan { bytes: written, at: 0 };
    if !at.take(b'{') {
        return;
    }
    loop {
        let Some(name) = at.value() else { return };
        let Some(name) = name.first().filter(|byte| **byte == b'"').map(|_| text(name)) else { return };
        if !at.take(b':') {
            return;
        }
        let Some(value) = at.value() else { return };
        each(&name, value);
        if !at.take(b',') {
            return;
        }
    }
}

/// How many elements an array has; `None` where it is none, or cut short.
pub(super) fn length(written: &[u8]) -> Option<u32> {
    let mut at = Scan { bytes: written, at: 0 };
    if !at.take(b'[') {
        return None;
    }
    if at.take(b']') {
        return Some(0);
    }
    let mut count = 0;
    loop {
        at.value()?;
        count += 1;
        if !at.take(b',') {
            return at.take(b']').then_some(count);
        }
    }
}

/// A value as Telegram takes it: a string's content, anything else as written.
pub(super) fn text(value: &[u8]) -> Cow<'_, str> {
    if value.first() == Some(&b'"') {
        let inner = value.get(1..value.len().saturating_sub(1)).unwrap_or_default();
        if memchr::memchr(b'\\', inner).is_some() {
            return serde_json::from_slice::<String>(value).map(Cow::Owned).unwrap_or_default();
        }
        return lossy(inner);
    }
    lossy(value)
}

/// As `from_utf8_lossy`, in less time where nothing is wrong.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(there);
        there
    }

    /// The next whole value as written.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.space();
        let start = self.at;
        match self.bytes.get(start)? {
            b'"' => self.string()?,
            b'{' | b'[' => self.nested()?,
            b',' | b':' | b'}' | b']' => return None,
            _ => self.word()?,
        }
        self.bytes.get(start..self.at)
    }

    fn string(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.bytes.get(self.at..)?)?;
            self.at += found;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Some(());
            }
            self.at += 2;
        }
    }

    fn nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// A number, `true`, `false` or `null`. One that runs to the cut may go on behind it.
    fn word(&mut self) -> Option<()> {
        let rest = self.bytes.get(self.at..)?;
        let end = rest.iter().position(|byte| b",:}] \t\r\n".contains(byte))?;
        self.at += end;
        Some(())
    }
}
