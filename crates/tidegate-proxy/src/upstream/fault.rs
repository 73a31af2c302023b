//! What can go wrong on the way to a platform and back.

use std::io;

/// Why there is no answer, or no more of one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the connection failed")]
    Io(#[from] io::Error),
    #[error("the platform closed the connection")]
    Closed,
    #[error("what came is no answer: {0}")]
    Answer(&'static str),
    #[error("the client's body broke off")]
    Client(#[source] hyper::Error),
}
