//! The numbers the judge keeps, and where each comes from.

use std::time::Duration;

use crate::store::StoreBounds;

/// So many calls in a window that begins with its first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Calls; 0 counts as 1.
    pub count: u32,
    /// Length of the window.
    pub period: Duration,
}

impl Rate {
    /// `count` calls in `ms` milliseconds.
    pub const fn new(count: u32, ms: u64) -> Self {
        Self { count, period: Duration::from_millis(ms) }
    }
}

/// What an address ban looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BanShape {
    /// Cloudflare's page.
    Html,
    /// `error code: 1015`.
    Text,
    /// `{"code":0,"message":"You are being blocked…"}` (discord-api-docs#5810).
    Json,
}

/// The limits. Windows count per bucket: per caller, route and major resource, unless said otherwise.
///
/// Discord publishes only how limits are told (<https://discord.com/developers/docs/topics/rate-limits>); the numbers
/// are those seen in its headers and in the issues named.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Every call of a bot; without `Authorization` of an address. Published: 50 a second.
    pub global: Rate,
    /// `POST /channels/{id}/messages`.
    pub send: Rate,
    /// `PATCH /channels/{id}/messages/{id}`.
    pub edit: Rate,
    /// Deleting a message younger than 10 s, or one that is not there (discord-api-docs#8330).
    pub delete_young: Rate,
    /// Deleting a message of up to 14 days (discord-api-docs#8330).
    pub delete: Rate,
    /// Deleting an older one (discord-api-docs#8330).
    pub delete_old: Rate,
    /// `POST …/messages` and `DELETE …/messages/{id}` (to 14 days) tell the same hash, though they are counted apart
    /// (discord-api-docs#8073, #1442).
    pub shared_hash: bool,
    /// Adding and removing reactions in a channel, all of it together (discord-api-docs#981).
    pub reaction: Rate,
    /// `POST /channels/{id}/typing`.
    pub typing: Rate,
    /// `PATCH /channels/{id}`.
    pub channel: Rate,
    /// Changing a channel's name or topic, which no header shows (discord-api-docs#1900, #2190).
    pub channel_name: Rate,
    /// A webhook with its token, all routes of it together by kind.
    pub webhook: Rate,
    /// All webhooks of a channel together, which no header shows (discord-api-docs#6753); scope `shared`.
    pub webhook_channel: Rate,
    /// Follow-ups of an application to all of its interactions (discord-api-docs#7243); scope `shared`. No number is
    /// known; ours.
    pub followups: Rate,
    /// One interaction's callback.
    pub callback: Rate,
    /// `POST /guilds/{id}/emojis`.
    pub emoji: Rate,
    /// New emojis of a guild, which no header shows (discord.js#2885: 50, then it hangs); scope `shared`.
    pub emoji_guild: Rate,
    /// `GET /gateway/bot` (discord.js#3891).
    pub gateway_bot: Rate,
    /// Any other GET.
    pub read: Rate,
    /// Any other route.
    pub other: Rate,
    /// `/invites/{code}` of an address: over it the route is shut for `invite_ban`, without a 429 of Discord's own
    /// before (discord-api-docs#7145). Rolling.
    pub invites: Rate,
    /// How long `/invites` stays shut.
    pub invite_ban: Duration,
    /// 401, 403 and 429 (but for scope `shared`) of an address: reaching it begins a ban. Published: 10,000 in 10
    /// minutes. Rolling.
    pub invalid: Rate,
    /// How long an address is banned; a call into the ban begins it anew.
    pub ban: Duration,
    /// What a ban looks like.
    pub ban_shape: BanShape,
    /// A ban tells `Retry-After`.
    pub ban_retry_after: bool,
}

impl Default for Limits {
    fn default() -> Self {
        const MINUTE: u64 = 60_000;
        Self {
            global: Rate::new(50, 1000),
            send: Rate::new(5, 5000),
            edit: Rate::new(5, 5000),
            delete_young: Rate::new(5, 1000),
            delete: Rate::new(3, 333),
            delete_old: Rate::new(30, 4000),
            shared_hash: true,
            reaction: Rate::new(1, 250),
            typing: Rate::new(5, 5000),
            channel: Rate::new(5, 15_000),
            channel_name: Rate::new(2, 10 * MINUTE),
            webhook: Rate::new(5, 2000),
            webhook_channel: Rate::new(30, MINUTE),
            followups: Rate::new(300, MINUTE),
            callback: Rate::new(5, 5000),
            emoji: Rate::new(5, 5000),
            emoji_guild: Rate::new(50, 60 * MINUTE),
            gateway_bot: Rate::new(2, 5000),
            read: Rate::new(5, 5000),
            other: Rate::new(5, 5000),
            invites: Rate::new(250, 10 * MINUTE),
            invite_ban: Duration::from_secs(24 * 3600),
            invalid: Rate::new(10_000, 10 * MINUTE),
            ban: Duration::from_secs(3600),
            ban_shape: BanShape::Html,
            ban_retry_after: false,
        }
    }
}

/// How much the model may remember; past a bound the oldest goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bots, and addresses that call without one.
    pub callers: usize,
    /// Addresses.
    pub addresses: usize,
    /// Buckets.
    pub buckets: usize,
    /// Windows that no header shows.
    pub hidden: usize,
    /// Channels, each with its figures.
    pub channels: usize,
    /// Webhooks.
    pub webhooks: usize,
    /// Interactions.
    pub interactions: usize,
    /// Messages over all channels.
    pub messages: usize,
    /// Bytes of message text over all channels, with the edits that are kept.
    pub text_bytes: usize,
    /// Past edits kept for one message.
    pub edits: usize,
    /// Lines of the log.
    pub log: usize,
    /// Forced answers that wait for their call.
    pub scripts: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            callers: 10_000,
            addresses: 1_000,
            buckets: 200_000,
            hidden: 100_000,
            channels: 100_000,
            webhooks: 100_000,
            interactions: 100_000,
            messages: 200_000,
            text_bytes: 64 << 20,
            edits: 600,
            log: 200_000,
            scripts: 1_000,
        }
    }
}

impl Bounds {
    pub(crate) fn store(&self) -> StoreBounds {
        StoreBounds { messages: self.messages, text_bytes: self.text_bytes, edits: self.edits }
    }
}
