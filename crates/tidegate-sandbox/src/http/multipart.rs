//! `multipart/form-data`, read as it comes: fields are kept, uploads only counted.

use memchr::memmem;

use super::BodyFault;

const HEADERS_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 256;

enum State {
    /// Before the first delimiter, or behind the last.
    Outside,
    /// Behind a delimiter: its line must end, or it was the last.
    Delimiter,
    Headers,
    Part(Part),
    End,
}

struct Part {
    name: String,
    file: bool,
    bytes: u64,
    value: Vec<u8>,
}

type Found = (Vec<(String, String)>, Vec<(String, u64)>);

/// A parser that is fed chunks, however they are cut.
pub(super) struct Multipart {
    delimiter: Vec<u8>,
    buffer: Vec<u8>,
    state: State,
    kept: usize,
    kept_max: usize,
    pairs: Vec<(String, String)>,
    files: Vec<(String, u64)>,
}

impl Multipart {
    pub(super) fn new(boundary: &str, kept_max: usize) -> Self {
        Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            // The first delimiter may stand at the very beginning, without a line end of its own.
            buffer: b"\r\n".to_vec(),
            state: State::Outside,
            kept: 0,
            kept_max,
            pairs: Vec::new(),
            files: Vec::new(),
        }
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) -> Result<(), BodyFault> {
        if matches!(self.state, State::End) {
            return Ok(());
        }
        self.buffer.extend_from_slice(chunk);
        while self.step()? {}
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Found, BodyFault> {
        match self.state {
            State::End => Ok((self.pairs, self.files)),
            _ => Err(BodyFault::Malformed("multipart body is not closed")),
        }
    }

    /// Works off what the buffer holds; false when more is needed.
    fn step(&mut self) -> Result<bool, BodyFault> {
        match self.state {
            State::End => {
                self.buffer.clear();
                Ok(false)
            }
            State::Outside | State::Part(_) => self.content(),
            State::Delimiter => self.delimiter(),
            State::Headers => self.headers(),
        }
    }

    fn content(&mut self) -> Result<bool, BodyFault> {
        let found = memmem::find(&self.buffer, &self.delimiter);
        // What could be the beginning of a delimiter stays.
        let end = found.unwrap_or_else(|| self.buffer.len().saturating_sub(self.delimiter.len() - 1));
        if let State::Part(part) = &mut self.state {
            part.bytes += end as u64;
            if !part.file {
                self.kept += end;
                if self.kept > self.kept_max {
                    return Err(BodyFault::TooLarge);
                }
                part.value.extend_from_slice(self.buffer.get(..end).unwrap_or_default());
            }
        }
        self.buffer.drain(..end);
        if found.is_none() {
            return Ok(false);
        }
        self.buffer.drain(..self.delimiter.len());
        if let State::Part(part) = std::mem::replace(&mut self.state, State::Delimiter) {
            if self.pairs.len() + self.files.len() >= FIELDS_MAX {
                return Err(BodyFault::TooLarge);
            }
            if part.file {
                self.files.push((part.name, part.bytes));
            } else {
                self.pairs.push((part.name, String::from_utf8_lossy(&part.value).into_owned()));
            }
        }
        Ok(true)
    }

    fn delimiter(&mut self) -> Result<bool, BodyFault> {
        if self.buffer.starts_with(b"--") {
            self.state = State::End;
            return Ok(true);
        }
        match memmem::find(&self.buffer, b"\r\n") {
            Some(at) => {
                // The line end stays: a part without headers begins with an empty line.
                self.buffer.drain(..at);
                self.state = State::Headers;
                Ok(true)
            }
            None if self.buffer.len() > 256 => Err(BodyFault::Malformed("multipart delimiter does not end")),
            None => Ok(false),
        }
    }

    fn headers(&mut self) -> Result<bool, BodyFault> {
        let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") else {
            if self.buffer.len() > HEADERS_MAX {
                return Err(BodyFault::Malformed("multipart headers are too long"));
            }
            return Ok(false);
        };
        let text = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).into_owned();
        let (name, file) = disposition(&text).ok_or(BodyFault::Malformed("multipart part has no name"))?;
        self.kept += name.len();
        // An empty part's delimiter may share its line end with the headers' last one.
        self.buffer.drain(..end + 2);
        if !self.buffer.starts_with(&self.delimiter) {
            self.buffer.drain(..2);
        }
        self.state = State::Part(Part { name, file, bytes: 0, value: Vec::new() });
        Ok(true)
    }
}

/// Name of a part and whether it is an upload.
fn disposition(headers: &str) -> Option<(String, bool)> {
    let line = headers.lines().find(|line| {
        line.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"))
    })?;
    let name = parameter(line, "name")?;
    Some((name, parameter(line, "filename").is_some() || line.contains("filename*=")))
}

fn parameter(line: &str, wanted: &str) -> Option<String> {
    line.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"').to_owned())
    })
}

#[cfg(test)]
#[path = "multipart_tests.rs"]
mod tests;
