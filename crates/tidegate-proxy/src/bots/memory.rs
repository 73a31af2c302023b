//! What is remembered of a bot beside its budgets: the last delivered form of some messages, names whose chat is known,
//! and what was refused lately.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tidegate_core::{MessageKey, Peer, Time};

const MESSAGES: usize = 64;
const LARGEST_MESSAGE: usize = 16 << 10;
const NAMES: usize = 1024;
const REFUSALS: usize = 32;

/// Bounded, per bot.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    messages: VecDeque<(Peer, MessageKey, Bytes)>,
    names: HashSet<Arc<str>>,
    refusals: VecDeque<Refused>,
    /// The platform refused the bot itself until then.
    bot_cools: Time,
}

/// A refusal by the platform.
#[derive(Clone, Debug)]
pub struct Refused {
    /// What was refused, as the policy names it.
    pub surface: Box<str>,
    /// Where it was refused; `None` for everywhere.
    pub peer: Option<Peer>,
    /// When it is over.
    pub until: Time,
}

impl Memory {
    /// A message as the platform last gave it (a JSON object). Large ones are not kept.
    pub(crate) fn keep(&self, peer: &Peer, message: MessageKey, object: &[u8]) {
        if object.len() > LARGEST_MESSAGE {
            return;
        }
        let mut inner = self.inner();
        inner.messages.retain(|(p, m, _)| (p, m) != (peer, &message));
        if inner.messages.len() >= MESSAGES {
            inner.messages.pop_front();
        }
        // Not a part of the answer that it came in, all of which would be kept.
        inner.messages.push_back((peer.clone(), message, Bytes::copy_from_slice(object)));
    }

    pub(crate) fn message(&self, peer: &Peer, message: MessageKey) -> Option<Bytes> {
        let inner = self.inner();
        inner.messages.iter().find(|(p, m, _)| (p, m) == (peer, &message)).map(|(.., object)| object.clone())
    }

    /// Whether the chat of a name was not known until now.
    pub(crate) fn is_news(&self, name: &Arc<str>) -> bool {
        let mut inner = self.inner();
        if inner.names.len() >= NAMES {
            inner.names.clear();
        }
        inner.names.insert(Arc::clone(name))
    }

    pub(crate) fn knows(&self, name: &Arc<str>) -> bool {
        self.inner().names.contains(name)
    }

    pub(crate) fn refused(&self, surface: &str, peer: Option<&Peer>, until: Time) {
        let mut inner = self.inner();
        inner.refusals.retain(|old| *old.surface != *surface || old.peer.as_ref() != peer);
        if inner.refusals.len() >= REFUSALS {
            inner.refusals.pop_front();
        }
        inner.refusals.push_back(Refused { surface: surface.into(), peer: peer.cloned(), until });
    }

    /// The platform refuses all of the bot's calls until then.
    pub(crate) fn cool_bot(&self, until: Time) {
        let mut inner = self.inner();
        inner.bot_cools = inner.bot_cools.max(until);
    }

    pub(crate) fn bot_cools_until(&self) -> Time {
        self.inner().bot_cools
    }

    /// Refusals that have not run out.
    pub(crate) fn refusals(&self, now: Time) -> Vec<Refused> {
        self.inner().refusals.iter().filter(|refused| refused.until > now).cloned().collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
