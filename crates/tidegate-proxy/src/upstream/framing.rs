//! Where the body of an answer ends.

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::memchr;

use super::fault::Fault;

/// A chunk's size with its extensions, and all trailers together.
const LONGEST_LINE: usize = 4 << 10;
const LONGEST_TRAILERS: usize = 16 << 10;

/// How a body is framed, and how far it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes more.
    Length(u64),
    Chunked(Chunk),
    /// All until the platform closes.
    Close,
}

/// What comes next of a chunked body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    Size,
    Data(u64),
    /// The end of a chunk's data.
    End,
    /// Trailers, of which so many bytes were read.
    Trailers(usize),
    Over,
}

/// What a look at the bytes at hand gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Data(Bytes),
    /// More must be read.
    More,
    Over,
}

impl Framing {
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunk::Size)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(Chunk::Over))
    }

    /// How much is left, where that is known.
    pub(super) fn left(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked(_) | Self::Close => None,
        }
    }

    /// Takes what there is of the body.
    pub(super) fn next(&mut self, read: &mut BytesMut) -> Result<Next, Fault> {
        match self {
            _ if self.is_over() => Ok(Next::Over),
            _ if read.is_empty() => Ok(Next::More),
            Self::Length(left) => Ok(Next::Data(take(left, read))),
            Self::Close => Ok(Next::Data(read.split().freeze())),
            Self::Chunked(chunk) => chunk.next(read),
        }
    }
}

impl Chunk {
    fn next(&mut self, read: &mut BytesMut) -> Result<Next, Fault> {
        loop {
            *self = match self {
                Self::Over => return Ok(Next::Over),
                Self::Data(_) if read.is_empty() => return Ok(Next::More),
                Self::Data(left) => {
                    let data = take(left, read);
                    if *left == 0 {
                        *self = Self::End;
                    }
                    return Ok(Next::Data(data));
                }
                Self::Size | Self::End | Self::Trailers(_) => match line(read)? {
                    Some(line) => self.behind(&line)?,
                    None => return Ok(Next::More),
                },
            };
        }
    }

    /// What comes behind a line.
    fn behind(&self, line: &[u8]) -> Result<Self, Fault> {
        Ok(match self {
            Self::Size => match size(line).ok_or(Fault::Answer("a chunk has no size"))? {
                0 => Self::Trailers(0),
                size => Self::Data(size),
            },
            Self::End if line.is_empty() => Self::Size,
            Self::End => return Err(Fault::Answer("a chunk is longer than it says")),
            Self::Trailers(_) if line.is_empty() => Self::Over,
            Self::Trailers(read) if read + line.len() <= LONGEST_TRAILERS => Self::Trailers(read + line.len()),
            _ => return Err(Fault::Answer("its trailers are too long")),
        })
    }
}

fn take(left: &mut u64, read: &mut BytesMut) -> Bytes {
    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(read.len());
    *left -= length as u64;
    read.split_to(length).freeze()
}

/// A line without its end, if there is a whole one.
fn line(read: &mut BytesMut) -> Result<Option<BytesMut>, Fault> {
    let Some(end) = memchr(b'\n', read) else {
        let fits = read.len() <= LONGEST_LINE;
        return if fits { Ok(None) } else { Err(Fault::Answer("a line is too long")) };
    };
    let mut line = read.split_to(end);
    read.advance(1);
    if line.len() > LONGEST_LINE || line.last() != Some(&b'\r') {
        return Err(Fault::Answer("a line of its framing is malformed"));
    }
    line.truncate(line.len() - 1);
    Ok(Some(line))
}

/// A chunk's size; extensions are let go.
fn size(line: &[u8]) -> Option<u64> {
    let mut digits = line.split(|byte| *byte == b';').next()?;
    while let [before @ .., b' ' | b'\t'] = digits {
        digits = before;
    }
    let plain = (1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    u64::from_str_radix(str::from_utf8(digits).ok().filter(|_| plain)?, 16).ok()
}
