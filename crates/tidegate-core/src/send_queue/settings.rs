//! The numbers of a send queue.

use crate::time::Span;

/// What one Gateway connection may send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The rolling window that all limits count in. Discord's is 60 s; its shape is not published, so only "never more
    /// in any 60 s" is safe (<https://discord.com/developers/docs/events/gateway#rate-limiting>).
    pub period: Span,
    /// Frames of any kind in a period: 120. One more and Discord closes the connection with 4008 (same page).
    pub platform_limit: u32,
    /// Commands and subscriptions in a period: 100. The other 20 are left for heartbeats, IDENTIFY and RESUME.
    pub queued_limit: u32,
    /// A subscription goes only while fewer queued frames than this stand in the period, so that 20 are always left for
    /// commands.
    pub subscription_limit: u32,
    /// So many subscription frames of a period are not spaced: a short scroll feels no delay.
    pub burst: u32,
    /// UTF-8 bytes of a frame: 4,096. Discord closes the connection with 4002 over a longer one (same page).
    pub max_payload: usize,
    /// Presence updates in a period; 0 for no limit. Not in today's documentation: "5 times per minute" stood there once
    /// (<https://github.com/discord/discord-api-docs/issues/309>).
    pub presence_limit: u32,
    /// A viewport that has not changed for so long is at rest, and may leave before its turn; zero turns this off.
    pub settle: Span,
    /// So many viewports at rest may leave before their turn at once.
    pub settle_burst: u32,
    /// Commands that may wait.
    pub queue_bound: usize,
    /// Guilds that may wait in the pending map. A user is in 200 at most
    /// (<https://support.discord.com/hc/en-us/articles/360040360311>).
    pub guilds_bound: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            period: Span::from_secs(60),
            platform_limit: 120,
            queued_limit: 100,
            subscription_limit: 80,
            burst: 8,
            max_payload: 4_096,
            presence_limit: 5,
            settle: Span::from_millis(150),
            settle_burst: 20,
            queue_bound: 256,
            guilds_bound: 16_384,
        }
    }
}
