//! Webhooks that Discord says do not exist: calling them on and on is what it restricts addresses for.

use alloc::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::key::Peer;
use crate::time::{Span, Time};

/// How long a webhook is taken for dead.
const FOR: Span = Span::from_secs(600);
/// Dead webhooks remembered at once, the oldest out.
const MOST: usize = 10_000;

/// Webhooks that answered 404 with code 10015.
#[derive(Debug)]
pub struct DeadWebhooks {
    since: HashMap<Peer, Time, FixedState>,
    order: VecDeque<(Peer, Time)>,
}

impl Default for DeadWebhooks {
    fn default() -> Self {
        Self { since: HashMap::with_hasher(FixedState::with_seed(6)), order: VecDeque::new() }
    }
}

impl DeadWebhooks {
    /// Discord said that it does not know this webhook.
    pub fn bury(&mut self, now: Time, webhook: &Peer) {
        self.since.insert(webhook.clone(), now);
        self.order.push_back((webhook.clone(), now));
        while let Some((oldest, at)) = self.order.front() {
            let passed = *at + FOR <= now;
            if !passed && self.since.len() <= MOST && self.order.len() <= 2 * MOST {
                break;
            }
            if self.since.get(oldest) == Some(at) {
                self.since.remove(oldest);
            }
            self.order.pop_front();
        }
    }

    /// How much longer it is taken for dead.
    pub fn left(&self, now: Time, webhook: &Peer) -> Option<Span> {
        let since = *self.since.get(webhook)?;
        (since + FOR > now).then(|| (since + FOR).since(now))
    }
}
