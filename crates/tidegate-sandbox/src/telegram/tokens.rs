//! The shape of a bot's token.

/// Shortest secret part of a token that is taken; Telegram's own are 35 characters.
const SECRET_MIN: usize = 30;

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
