//! What a target of the Bot API means: `/bot<token>/<method>`, `/bot<token>/test/<method>`, `/file/bot<token>/<path>`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// A target, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Not checked yet.
    pub(crate) token: Cow<'a, str>,
    pub(crate) test: bool,
    pub(crate) what: What<'a>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// A method, by its name as written.
    Method(&'a str),
    /// A file.
    File,
}

/// `None` where the target is none of the Bot API's.
pub(crate) fn parse(path: &str) -> Option<Target<'_>> {
    let (rest, file) = match path.strip_prefix("/file/bot") {
        Some(rest) => (rest, true),
        None => (path.strip_prefix("/bot")?, false),
    };
    let (token, method) = rest.split_once('/')?;
    // Some clients escape the colon.
    let token = percent_decode_str(token).decode_utf8().ok()?;
    let (method, test) = match method.strip_prefix("test/") {
        Some(method) => (method, true),
        None => (method, false),
    };
    Some(Target { token, test, what: if file { What::File } else { What::Method(method) } })
}
