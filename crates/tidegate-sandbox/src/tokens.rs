//! Which tokens are taken.

use std::collections::HashSet;
use std::fmt;

/// Which tokens are taken. By default every one that has the platform's shape (Telegram: `digits:[A-Za-z0-9_-]{30,}`;
/// Discord: the id in base64, and two more parts behind dots).
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
