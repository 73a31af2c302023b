//! The commands beside `serve`, `check` and `simulate`.

pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod sandbox;
pub(crate) mod status;
