//! Where budgets live beside the gates: counted once more in one place, so that processes can share them.

use std::future::{Future, ready};

use tidegate_core::Span;

/// What a store says of a write that a gate has released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Counted: it may go.
    Counted,
    /// A bucket is dry: not before this long from now. Goes back into the gate as deferred.
    Deferred {
        /// The bucket's name.
        bucket: Box<str>,
        /// How long from now.
        wait: Span,
    },
}

/// A place where released writes are counted.
pub trait Store: Send + Sync + 'static {
    /// Counts `weight` units of a write of `bot` (a keyed hash, never a token) in each of its `buckets`.
    fn count(&self, bot: u64, buckets: &[(&str, &str)], weight: u32) -> impl Future<Output = Verdict> + Send;
}

/// No store: what the gates know is all there is, and it ends with the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Store for InMemory {
    fn count(&self, _bot: u64, _buckets: &[(&str, &str)], _weight: u32) -> impl Future<Output = Verdict> + Send {
        ready(Verdict::Counted)
    }
}
