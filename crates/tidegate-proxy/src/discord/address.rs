//! What Discord holds against the address, whichever bot it was: bans, invalid requests, webhooks that are gone.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tidegate_core::discord::{AddressBan, DeadWebhooks, INVALID_REFUSE, INVALID_WARN, InvalidGuard};
use tidegate_core::{Peer, Span, Time};

/// One upstream address.
#[derive(Debug, Default)]
pub(crate) struct Address(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ban: AddressBan,
    invalid: InvalidGuard,
    dead: DeadWebhooks,
    /// What the operator was told of the invalid requests.
    told: Told,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    #[default]
    Nothing,
    Warned,
    Refusing,
}

/// Why a call may not go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barrier {
    /// The address is banned, for so long.
    Ban(Span),
    /// Calls like it are what the address is nearly banned for.
    Invalid(Span),
    /// Its webhook is gone.
    DeadWebhook,
}

/// Figures for operators.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Invalid requests of the last ten minutes.
    pub invalid: u32,
    /// How long the address stays banned.
    pub banned: Option<Span>,
}

impl Address {
    /// What stands in the way of a call of this kind, to this webhook if it is one.
    pub(super) fn barrier(&self, now: Time, kind: u64, webhook: Option<&Peer>) -> Option<Barrier> {
        let mut state = self.state();
        if let Some(left) = state.ban.left(now) {
            return Some(Barrier::Ban(left));
        }
        if webhook.is_some_and(|webhook| state.dead.left(now, webhook).is_some()) {
            return Some(Barrier::DeadWebhook);
        }
        state.invalid.refuse(now, kind).map(Barrier::Invalid)
    }

    /// Discord answered a call of this kind. `invalid`: an answer that it counts.
    pub(super) fn answered(&self, now: Time, kind: u64, invalid: bool) {
        let mut state = self.state();
        state.ban.lifted(now);
        state.invalid.answered(now, kind, invalid);
        let count = state.invalid.count(now);
        let tell = match count {
            INVALID_REFUSE.. => Told::Refusing,
            INVALID_WARN.. => Told::Warned,
            _ => Told::Nothing,
        };
        let before = std::mem::replace(&mut state.told, tell);
        drop(state);
        if tell <= before {
            return;
        }
        if tell == Told::Refusing {
            tracing::error!(
                invalid = count,
                "calls that only fail are refused from now on: Discord bans an address at 10,000 invalid requests in \
                 ten minutes"
            );
        } else {
            tracing::warn!(invalid = count, "half of the 10,000 invalid requests that Discord bans an address for");
        }
    }

    /// An answer of a ban came; how long it lasts.
    pub(super) fn struck(&self, now: Time, retry_after: Option<Span>) -> Span {
        let mut state = self.state();
        let before = state.ban.left(now);
        state.ban.struck(now, retry_after);
        let left = state.ban.left(now).unwrap_or(Span::ZERO);
        drop(state);
        if before.is_none() {
            tracing::error!(
                seconds = left.as_secs_ceil(),
                "Discord has banned this address: nothing is sent meanwhile"
            );
        }
        left
    }

    pub(super) fn bury(&self, now: Time, webhook: &Peer) {
        self.state().dead.bury(now, webhook);
    }

    pub(crate) fn figures(&self, now: Time) -> Figures {
        let mut state = self.state();
        Figures { invalid: state.invalid.count(now), banned: state.ban.left(now) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
