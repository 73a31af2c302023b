//! What both platforms' edges share: bodies, headers, targets, and the way upstream.

pub(crate) mod body;
pub(crate) mod budget;
pub(crate) mod client;
pub(crate) mod headers;
mod reach;
pub(crate) mod reply;
pub(crate) mod target;
pub(crate) mod upstream;

#[cfg(test)]
mod tests;
