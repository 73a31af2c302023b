//! What stands around a proxy that is measured: who asks, who answers, the programs, and a proxy without gates.

pub mod bare;
pub(crate) mod load;
pub(crate) mod mix;
pub(crate) mod program;
pub(crate) mod upstream;
