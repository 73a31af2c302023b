//! What a target of the Bot API means: `/bot<token>/<method>`, `/bot<token>/test/<method>`, `/file/bot<token>/<path>`.

/// A target, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// Not checked yet.
    pub(crate) token: &'a str,
    pub(crate) test: bool,
    pub(crate) what: What<'a>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// A method, by its name.
    Method(&'a str),
    /// A file.
    File,
}

/// Takes a path without its escapes, which the platform does not look at either; `None` where it is none of the Bot
/// API's.
pub(crate) fn parse(path: &str) -> Option<Target<'_>> {
    let (rest, file) = match path.strip_prefix("/file/bot") {
        Some(rest) => (rest, true),
        None => (path.strip_prefix("/bot")?, false),
    };
    let (token, method) = rest.split_once('/')?;
    let (method, test) = match method.strip_prefix("test/") {
        Some(method) => (method, true),
        None => (method, false),
    };
    Some(Target { token, test, what: if file { What::File } else { What::Method(method) } })
}
