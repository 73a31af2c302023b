//! A Gateway payload between the socket and whoever decides: compression, and the few words that are read of it.

pub(crate) mod codec;
pub(crate) mod object;
pub(crate) mod ready;
pub(crate) mod scan;

/// A payload that is not one of the Gateway's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// It is no JSON object, or ends in the midst of one.
    #[error("not a JSON object")]
    NotJson,
    /// It has no `op`.
    #[error("a payload without an op")]
    NoOp,
    /// A field that is read here is not of its kind.
    #[error("{0} is not of its type")]
    Field(&'static str),
}
