//! The names that gates count by. None of them can carry a token.

use alloc::sync::Arc;
use core::fmt;

/// What a platform counts writes by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// A chat or channel, by its id. Telegram's groups are negative.
    Id(i64),
    /// A chat known by its public name only (`@name`), in lower case.
    Name(Arc<str>),
    /// A message sent through inline mode, by its id.
    Inline(Arc<str>),
    /// Writes without a peer wait for the bot's budget by their method.
    Method(MethodKey),
}

impl Peer {
    /// The peer a client names: a number, `inline:` and an id, or any other text as a name.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Ok(id) = text.parse() {
            return Self::Id(id);
        }
        match text.strip_prefix("inline:") {
            Some(id) => Self::Inline(id.into()),
            None => Self::Name(text.to_lowercase().into()),
        }
    }

    /// Which buckets of a table apply to it.
    pub fn kind(&self) -> PeerKind {
        match self {
            Self::Id(id) if *id >= 0 => PeerKind::Private,
            Self::Id(_) | Self::Name(_) => PeerKind::Group,
            Self::Inline(_) | Self::Method(_) => PeerKind::Loose,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => f.write_str(name),
            Self::Inline(id) => write!(f, "inline:{id}"),
            Self::Method(_) => f.write_str("none"),
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Which kind of peer a bucket or row may apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// A chat with one user (ids ≥ 0), or a Discord channel.
    Private,
    /// A group or channel (negative ids and names).
    Group,
    /// No chat at all: inline messages, and writes without a peer. No bucket of a peer applies.
    Loose,
}

/// A method (Telegram) or route (Discord), by the hash of its name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodKey(pub u64);

impl MethodKey {
    /// The key of a method's name, in any case.
    pub fn of(name: &str) -> Self {
        Self(fnv(name.bytes().map(|byte| byte.to_ascii_lowercase())))
    }
}

/// A message or draft within a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey(pub u64);

impl MessageKey {
    const HASHED: u64 = 1 << 63;

    /// The key of a message's id: the number itself, or a hash of any other text.
    pub fn of(id: &str) -> Self {
        Self(match id.trim().parse::<u64>() {
            Ok(number) if number < Self::HASHED => number,
            _ => fnv(id.trim().bytes()) | Self::HASHED,
        })
    }

    /// Whether it is a number that the platform gave, not a name for a message.
    pub(crate) fn is_id(self) -> bool {
        self.0 < Self::HASHED
    }
}

/// The hash of a body's top-level key, as [`Write::fields`](crate::governor::Write) holds it.
pub fn field(name: &str) -> u64 {
    fnv(name.bytes())
}

/// Stands among a write's fields where they cannot all be told: it may change anything.
pub const UNKNOWN_FIELDS: u64 = 0;

/// FNV-1a, 64 bits: the same on every machine, so that recorded keys can be replayed.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
