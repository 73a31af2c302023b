//! Tokens, which are never printed.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

/// Keyed anew in every process, so that a hash tells nothing of a token.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A bot's token. It prints as the bot's public id and a keyed hash.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token {
    text: Arc<str>,
    hash: u64,
    id_length: u8,
    /// The platform's test environment has bots of its own.
    test: bool,
}

impl Token {
    /// Telegram's form: digits, a colon, and letters, digits, `_` and `-`.
    pub(crate) fn telegram(written: &str, test: bool) -> Option<Self> {
        let (id, secret) = written.split_once(':')?;
        let id_fits = (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit());
        let secret_fits = (1..=128).contains(&secret.len())
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let id_length = u8::try_from(id.len()).ok().filter(|_| id_fits && secret_fits)?;
        Some(Self { text: written.into(), hash: KEY.hash_one((written, test)), id_length, test })
    }

    /// The bot's public id: what stands before the colon.
    pub(crate) fn id(&self) -> &str {
        &self.text[..usize::from(self.id_length)]
    }

    /// The keyed hash, different in every process.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether this is the token in that text.
    pub(crate) fn is(&self, written: &str, test: bool) -> bool {
        *self.text == *written && self.test == test
    }
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
