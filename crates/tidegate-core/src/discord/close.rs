//! What the close codes of Discord's main Gateway mean for the session and for what comes next.
//!
//! From <https://discord.com/developers/docs/topics/opcodes-and-status-codes>. Voice connections use the same numbers
//! with other meanings: this table is not for them.

/// Why Discord will not take this bot back, however often it tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fatal {
    /// 4004: the token is not valid.
    AuthenticationFailed,
    /// 4010: there is no such shard.
    InvalidShard,
    /// 4011: too many guilds for one shard.
    ShardingRequired,
    /// 4012: there is no such Gateway version.
    InvalidVersion,
    /// 4013: there are no such intents.
    InvalidIntents,
    /// 4014: the bot may not have these intents.
    DisallowedIntents,
}

impl Fatal {
    /// In one word, as it is written in files and on pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthenticationFailed => "authentication_failed",
            Self::InvalidShard => "invalid_shard",
            Self::ShardingRequired => "sharding_required",
            Self::InvalidVersion => "invalid_version",
            Self::InvalidIntents => "invalid_intents",
            Self::DisallowedIntents => "disallowed_intents",
        }
    }
}

/// What follows from the end of a Gateway connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AfterClose {
    /// The session is kept: RESUME.
    Resume,
    /// The session is gone: IDENTIFY.
    NewSession,
    /// The session is kept; too much was sent.
    RateLimited,
    /// No use to try again.
    Stop(Fatal),
}

/// What follows from a close with this code; `None` where the connection ended without one.
pub const fn after_close(code: Option<u16>) -> AfterClose {
    match code {
        // 4003 also where a session was invalidated; 4006 is no longer listed and meant "session not valid".
        Some(4003 | 4005 | 4006 | 4007 | 4009) => AfterClose::NewSession,
        Some(4004) => AfterClose::Stop(Fatal::AuthenticationFailed),
        Some(4008) => AfterClose::RateLimited,
        Some(4010) => AfterClose::Stop(Fatal::InvalidShard),
        Some(4011) => AfterClose::Stop(Fatal::ShardingRequired),
        Some(4012) => AfterClose::Stop(Fatal::InvalidVersion),
        Some(4013) => AfterClose::Stop(Fatal::InvalidIntents),
        Some(4014) => AfterClose::Stop(Fatal::DisallowedIntents),
        // 1000 and 1001 too: only where we send them do they end the session.
        Some(_) | None => AfterClose::Resume,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_table_means_what_the_table_says() {
        for code in [None, Some(1000), Some(1001), Some(1005), Some(1006), Some(1011), Some(1012), Some(3000)] {
            assert_eq!(after_close(code), AfterClose::Resume, "{code:?}");
        }
        for code in [4000, 4001, 4002, 4015, 4999, 0, u16::MAX] {
            assert_eq!(after_close(Some(code)), AfterClose::Resume, "{code}");
        }
        for code in [4003, 4005, 4006, 4007, 4009] {
            assert_eq!(after_close(Some(code)), AfterClose::NewSession, "{code}");
        }
        // Named 4008 "invalid seq" elsewhere: an off-by-one in a table is a real fault.
        assert_eq!(after_close(Some(4008)), AfterClose::RateLimited);
        for code in [4004, 4010, 4011, 4012, 4013, 4014] {
            assert!(matches!(after_close(Some(code)), AfterClose::Stop(_)), "{code}");
        }
    }
}
