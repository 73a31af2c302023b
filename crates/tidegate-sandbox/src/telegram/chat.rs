//! A chat of one bot: who it is, its budgets and its bans.

use serde_json::{Value, json};

use super::ban::Ban;
use super::journal::Tally;
use super::limits::{Limits, Rate};
use super::meter::Meter;
use super::methods::Family;
use crate::marks::Flow;

/// What the judge counts by: a chat, or an inline message, of one bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChatKey {
    pub(crate) bot: u64,
    pub(crate) peer: Peer,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Peer {
    Chat(i64),
    Inline(String),
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Chat(id) => write!(f, "{id}"),
            Self::Inline(id) => write!(f, "inline:{id}"),
        }
    }
}

/// The limits of one family in one chat, and the ban on it.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) meters: Vec<Meter>,
    pub(crate) ban: Option<Ban>,
}

impl Gate {
    pub(crate) fn new(rates: &[Rate]) -> Self {
        Self { meters: Meter::all(rates), ban: None }
    }
}

#[derive(Default)]
pub(crate) struct Chat {
    pub(crate) username: Option<String>,
    pub(crate) message: Gate,
    pub(crate) typing: Option<Box<Gate>>,
    pub(crate) draft: Option<Box<Gate>>,
    pub(crate) last_message: i64,
    pub(crate) migrated_to: Option<i64>,
    pub(crate) tally: Tally,
    pub(crate) flow: Flow,
}

impl Chat {
    pub(crate) fn new(peer: &Peer, limits: &Limits) -> Self {
        let rates = match peer {
            Peer::Inline(_) => &limits.inline,
            Peer::Chat(id) if *id < 0 => &limits.group,
            Peer::Chat(_) => &limits.private,
        };
        Self { message: Gate::new(rates), ..Self::default() }
    }

    /// The gate of a family that is counted by chat.
    pub(crate) fn gate(&mut self, family: Family, limits: &Limits) -> Option<&mut Gate> {
        match family {
            Family::Message => Some(&mut self.message),
            Family::Typing => Some(self.typing.get_or_insert_with(|| Box::new(Gate::new(&limits.typing)))),
            Family::Draft => Some(self.draft.get_or_insert_with(|| Box::new(Gate::new(&limits.draft)))),
            Family::Profile | Family::Free => None,
        }
    }

    pub(crate) fn bans(&self) -> impl Iterator<Item = (&'static str, Ban)> {
        let typing = self.typing.as_ref().and_then(|gate| gate.ban);
        let draft = self.draft.as_ref().and_then(|gate| gate.ban);
        [("message", self.message.ban), ("typing", typing), ("draft", draft)]
            .into_iter()
            .filter_map(|(family, ban)| Some((family, ban?)))
    }
}

/// The numeric id of a channel's `@name`: always the same for the same name, whatever its case.
pub fn channel_id(name: &str) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in name.trim_start_matches('@').bytes() {
        hash = (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3);
    }
    -1_000_000_000_000 - i64::try_from(hash % 9_000_000_000).unwrap_or(0) - 1
}

/// The `Chat` object of an answer.
pub(crate) fn object(id: i64, username: Option<&str>) -> Value {
    match username {
        Some(name) => json!({"id": id, "title": format!("Channel {name}"), "username": name, "type": "channel"}),
        None if id > 0 => json!({"id": id, "first_name": format!("User {id}"), "type": "private"}),
        None if id < -1_000_000_000_000 => json!({"id": id, "title": format!("Group {id}"), "type": "supergroup"}),
        None => json!({
            "id": id,
            "title": format!("Group {id}"),
            "type": "group",
            "all_members_are_administrators": false,
            "accepted_gift_types": {"unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
                "premium_subscription": false, "gifts_from_channels": false},
        }),
    }
}
