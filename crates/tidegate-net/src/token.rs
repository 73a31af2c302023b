//! Tokens, which are never printed.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, LazyLock};

/// Keyed anew in every process, so that a hash tells nothing of a token.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A keyed hash, different in every process.
pub fn keyed(what: impl Hash) -> u64 {
    KEY.hash_one(what)
}

/// A bot's token. It prints as the bot's public id and a keyed hash.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The token as written and behind it the public id: one piece of memory for both, which most calls meet cold.
    text: Arc<str>,
    /// Where the id begins.
    id: usize,
    hash: u64,
    /// The platform's test environment has bots of its own.
    test: bool,
}

impl Token {
    fn new(written: &str, id: &str, hash: u64, test: bool) -> Self {
        Self { text: [written, id].concat().into(), id: written.len(), hash, test }
    }

    /// Telegram's form: digits, a colon, and letters, digits, `_` and `-`.
    pub fn telegram(written: &str, test: bool) -> Option<Self> {
        let (id, secret) = written.split_once(':')?;
        let id_fits = (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
        let secret_fits = (1..=128).contains(&secret.len())
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        (id_fits && secret_fits).then(|| Self::new(written, id, Self::hash_of(written, test), test))
    }

    /// What Discord takes in `Authorization`: a kind (`Bot`, `Bearer`, `Basic`) and the token, or the token alone. Another
    /// kind is another caller.
    pub fn discord(written: &str) -> Option<Self> {
        let (kind, secret) = written.split_once(' ').unwrap_or(("", written));
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain(kind) || !plain(secret) || !(1..=2048).contains(&secret.len()) {
            return None;
        }
        let hash = Self::hash_of(written, false);
        let id = application(secret).unwrap_or_else(|| format!("{:08x}", hash >> 32));
        Some(Self::new(written, &id, hash, false))
    }

    /// The keyed hash of a token as written.
    pub fn hash_of(written: &str, test: bool) -> u64 {
        keyed((written, test))
    }

    /// Stands for all calls that carry no token of a bot.
    pub fn none() -> Self {
        Self::new("", "tokenless", keyed("tokenless"), false)
    }

    /// Stands for a bot of Discord's whose token was never seen.
    pub fn nameless(id: &str) -> Self {
        Self::new("", id, keyed(("nameless", id)), false)
    }

    /// Whether it stands for one that was never seen.
    pub fn is_nameless(&self) -> bool {
        self.id == 0
    }

    /// The bot's public id: what stands before the colon (Telegram), the application's id (Discord), or a hash.
    pub fn id(&self) -> &str {
        &self.text[self.id..]
    }

    /// The keyed hash, different in every process.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether this is the token in that text.
    pub fn is(&self, written: &str, test: bool) -> bool {
        self.text[..self.id] == *written && self.test == test
    }
}

/// The application's id, which the first part of a bot's token is in base64.
fn application(secret: &str) -> Option<String> {
    let id = String::from_utf8(base64(secret.split_once('.')?.0)?).ok()?;
    let digits = id.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (1..=20).contains(&id.len())).then_some(id)
}

/// What a text in base64 stands for, in either alphabet.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut bits, mut have, mut bytes) = (0_u32, 0, Vec::with_capacity(text.len() * 3 / 4));
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        have += 6;
        if have >= 8 {
            have -= 8;
            bytes.push(u8::try_from(bits >> have & 0xff).ok()?);
        }
    }
    Some(bytes)
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{:08x}", self.id(), self.hash >> 32)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
