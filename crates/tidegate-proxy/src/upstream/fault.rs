//! What can go wrong on the way to a platform and back.

use std::io;

/// Why there is no answer, or no more of one.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The connection failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
    /// The platform closed it.
    #[error("the platform closed the connection")]
    Closed,
    /// What came is no answer.
    #[error("what came is no answer: {0}")]
    Answer(&'static str),
    /// The client's body broke off.
    #[error("the client's body broke off")]
    Client(#[source] hyper::Error),
}
