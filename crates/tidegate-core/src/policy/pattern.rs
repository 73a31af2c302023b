//! Patterns of method names: `editMessage*`, `send*Draft`. Case does not matter.

use alloc::boxed::Box;
use core::fmt;

/// A method's name with at most one `*`.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern {
    head: Box<str>,
    /// `None`: the name is `head` to the letter.
    tail: Option<Box<str>>,
}

impl Pattern {
    /// Reads one; a second `*` is an error.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once('*') {
            None => Some(Self { head: text.into(), tail: None }),
            Some((_, tail)) if tail.contains('*') => None,
            Some((head, tail)) => Some(Self { head: head.into(), tail: Some(tail.into()) }),
        }
    }

    /// Whether a method is meant.
    pub fn matches(&self, method: &str) -> bool {
        let (name, head) = (method.as_bytes(), self.head.as_bytes());
        match &self.tail {
            None => name.eq_ignore_ascii_case(head),
            Some(tail) => {
                name.len() >= head.len() + tail.len()
                    && name[..head.len()].eq_ignore_ascii_case(head)
                    && name[name.len() - tail.len()..].eq_ignore_ascii_case(tail.as_bytes())
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        match &self.tail {
            None => Ok(()),
            Some(tail) => write!(f, "*{tail}"),
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
