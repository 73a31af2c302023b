//! `multipart/form-data`: the short fields between the files, found while the body comes in.

use memchr::memmem;

/// A longer field is not looked at.
const LONGEST_VALUE: usize = 1 << 20;

/// The boundary that a `Content-Type` names, in the form that stands between parts.
pub(super) fn boundary(content_type: &str) -> Option<Vec<u8>> {
    let at = content_type.to_ascii_lowercase().find("boundary=")?;
    let written = content_type.get(at + "boundary=".len()..)?;
    let name = match written.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => written.split(';').next()?.trim(),
    };
    (1..=70).contains(&name.len()).then(|| [b"\r\n--", name.as_bytes()].concat())
}

/// Reads a body from its beginning each time it has grown, without looking at a part twice.
#[derive(Debug)]
pub(crate) struct Multipart<'a> {
    /// `\r\n--` and the boundary.
    delimiter: &'a [u8],
    /// Where the next part's head begins; nothing before the first delimiter.
    part: Option<usize>,
    /// How far the end of that part was looked for already.
    searched: usize,
    ended: bool,
}

impl<'a> Multipart<'a> {
    pub(crate) fn new(delimiter: &'a [u8]) -> Self {
        Self { delimiter, part: None, searched: 0, ended: false }
    }

    /// Calls `each` with every field that is complete now and was not before.
    pub(crate) fn read(&mut self, body: &[u8], mut each: impl FnMut(&str, &str)) {
        while !self.ended {
            let Some(start) = self.part.or_else(|| self.first(body)) else { return };
            self.part = Some(start);
            match body.get(start..start + 2) {
                Some(b"--") => self.ended = true,
                Some(_) => {}
                None => return,
            }
            let Some(end) = self.end(body, start) else { return };
            if let Some((name, value)) = body.get(start..end).and_then(field) {
                each(name, value);
            }
            self.part = Some(end + self.delimiter.len());
            self.searched = end + self.delimiter.len();
        }
    }

    /// Behind the first delimiter, which may stand at the very beginning.
    fn first(&self, body: &[u8]) -> Option<usize> {
        let bare = self.delimiter.get(2..)?;
        if body.starts_with(bare) {
            return Some(bare.len());
        }
        memmem::find(body, self.delimiter).map(|at| at + self.delimiter.len())
    }

    fn end(&mut self, body: &[u8], start: usize) -> Option<usize> {
        let from = self.searched.max(start);
        if let Some(at) = memmem::find(body.get(from..)?, self.delimiter) {
            Some(from + at)
        } else {
            // A delimiter may be cut in two.
            self.searched = body.len().saturating_sub(self.delimiter.len()).max(start);
            None
        }
    }
}

/// A part's name and value, where it is a field and no file.
fn field(part: &[u8]) -> Option<(&str, &str)> {
    let split = memmem::find(part, b"\r\n\r\n")?;
    let head = str::from_utf8(&part[..split]).ok()?;
    let value = &part[split + 4..];
    if value.len() > LONGEST_VALUE {
        return None;
    }
    let disposition = head
        .split("\r\n")
        .find(|line| line.get(..20).is_some_and(|start| start.eq_ignore_ascii_case("content-disposition:")))?;
    let parameter = |wanted: &str| {
        disposition.split(';').skip(1).find_map(|word| {
            let (name, value) = word.trim().split_once('=')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"'))
        })
    };
    match parameter("filename") {
        Some(_) => None,
        None => Some((parameter("name")?, str::from_utf8(value).ok()?)),
    }
}
