//! Which tokens are taken.

use std::collections::HashSet;
use std::fmt;

/// Shortest secret part of a token that is taken; Telegram's own are 35 characters.
const SECRET_MIN: usize = 30;

/// Which tokens are taken. By default every well-formed one: `digits:[A-Za-z0-9_-]{30,}`.
#[derive(Clone, Default)]
pub struct Tokens {
    allowed: Option<HashSet<String>>,
    revoked: HashSet<String>,
}

impl Tokens {
    /// Takes these tokens only; any other well-formed one is answered 401.
    pub fn only<T: Into<String>>(tokens: impl IntoIterator<Item = T>) -> Self {
        Self { allowed: Some(tokens.into_iter().map(Into::into).collect()), revoked: HashSet::new() }
    }

    /// Answers 401 to this token from now on.
    pub fn revoke(&mut self, token: impl Into<String>) {
        self.revoked.insert(token.into());
    }

    pub(crate) fn take(&self, token: &str) -> bool {
        !self.revoked.contains(token) && self.allowed.as_ref().is_none_or(|allowed| allowed.contains(token))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("allowed", &self.allowed.as_ref().map(HashSet::len))
            .field("revoked", &self.revoked.len())
            .finish()
    }
}

/// The bot's id, if the token has the shape of one.
pub(crate) fn bot_id(token: &str) -> Option<u64> {
    let (id, secret) = token.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if secret.len() < SECRET_MIN || secret.len() > 128 || !secret.bytes().all(plain) {
        return None;
    }
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    id.parse().ok().filter(|id| *id > 0)
}
