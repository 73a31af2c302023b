//! The Gateway's objects as client libraries expect them.

use serde_json::{Value, json};

use super::session::mix;
use crate::discord::{objects, snowflake};

/// Ids of a shard's guilds; that of number 0 of shard 0 is 1, the guild of the REST half.
pub(crate) fn guild_ids(shard: (u32, u32), guilds: u32) -> impl Iterator<Item = u64> {
    let (id, count) = (u64::from(shard.0), u64::from(shard.1));
    (0..u64::from(guilds.min(1000))).map(move |number| ((number * count + id) << 22) | 1)
}

/// The shard of a guild.
pub(crate) fn shard_of(guild: u64, count: u32) -> u32 {
    u32::try_from((guild >> 22) % u64::from(count.max(1))).unwrap_or(0)
}

pub(crate) struct Ready<'a> {
    pub(crate) version: u8,
    pub(crate) bot: u64,
    pub(crate) session: &'a str,
    pub(crate) resume_url: &'a str,
    pub(crate) shard: (u32, u32),
    pub(crate) guilds: u32,
}

pub(crate) fn ready(of: &Ready<'_>) -> String {
    let guilds: Vec<Value> =
        guild_ids(of.shard, of.guilds).map(|id| json!({"id": id.to_string(), "unavailable": true})).collect();
    json!({
        "v": of.version, "user": objects::user(of.bot), "user_settings": {}, "session_type": "normal",
        "session_id": of.session, "resume_gateway_url": of.resume_url, "shard": [of.shard.0, of.shard.1],
        "application": {"id": of.bot.to_string(), "flags": 0}, "guilds": guilds, "relationships": [],
        "private_channels": [], "presences": [], "guild_join_requests": [], "geo_ordered_rtc_regions": [],
        "game_relationships": [], "auth": {}, "_trace": ["sandbox"],
    })
    .to_string()
}

pub(crate) fn guild(id: u64, bot: u64, members: u32, epoch_unix_ms: u64) -> String {
    let text = id.to_string();
    let mut channel = objects::channel(id, "general", None);
    if let Some(channel) = channel.as_object_mut() {
        channel.insert("guild_id".into(), text.clone().into());
    }
    let everyone = json!({
        "id": text, "name": "@everyone", "color": 0, "hoist": false, "icon": null, "unicode_emoji": null,
        "position": 0, "permissions": "1071698660929", "managed": false, "mentionable": false, "flags": 0,
        "colors": {"primary_color": 0, "secondary_color": null, "tertiary_color": null},
    });
    let mut guild = json!({
        "id": text, "name": format!("sandbox {id}"), "owner_id": bot.to_string(), "roles": [everyone],
        "joined_at": snowflake::timestamp(epoch_unix_ms), "large": members > 50, "unavailable": false,
        "member_count": members.max(1), "members": [objects::member(bot, epoch_unix_ms)], "channels": [channel],
        "region": "", "preferred_locale": "en-US", "afk_timeout": 300, "max_members": 500_000, "nsfw": false,
        "premium_progress_bar_enabled": false, "lazy": true, "version": 1,
    });
    if let Some(guild) = guild.as_object_mut() {
        for (names, value) in [(LISTS, json!([])), (ZEROS, json!(0)), (NULLS, Value::Null)] {
            guild.extend(names.iter().map(|name| ((*name).to_owned(), value.clone())));
        }
    }
    guild.to_string()
}

const LISTS: &[&str] = &[
    "emojis",
    "stickers",
    "features",
    "voice_states",
    "threads",
    "presences",
    "stage_instances",
    "guild_scheduled_events",
    "soundboard_sounds",
];
const ZEROS: &[&str] = &[
    "verification_level",
    "default_message_notifications",
    "explicit_content_filter",
    "mfa_level",
    "system_channel_flags",
    "premium_tier",
    "premium_subscription_count",
    "nsfw_level",
];
const NULLS: &[&str] = &[
    "icon",
    "splash",
    "discovery_splash",
    "afk_channel_id",
    "application_id",
    "system_channel_id",
    "rules_channel_id",
    "vanity_url_code",
    "description",
    "banner",
    "public_updates_channel_id",
    "safety_alerts_channel_id",
];

/// Members of a guild: the bot, then people who are made up.
pub(crate) fn members(bot: u64, count: usize, epoch_unix_ms: u64) -> Vec<Value> {
    let people = (1..count as u64).map(|number| (number << 22) | 7);
    std::iter::once(bot).chain(people).take(count).map(|id| objects::member(id, epoch_unix_ms)).collect()
}

const WORDS: [&str; 64] = [
    "the", "of", "and", "to", "in", "is", "you", "that", "it", "he", "was", "for", "on", "are", "as", "with", "his",
    "they", "at", "be", "this", "have", "from", "or", "one", "had", "by", "word", "but", "not", "what", "all", "were",
    "we", "when", "your", "can", "said", "there", "use", "an", "each", "which", "she", "do", "how", "their", "if",
    "will", "up", "other", "about", "out", "many", "then", "them", "these", "so", "some", "her", "would", "make",
    "like", "him",
];

/// A message of about `bytes` bytes as an event shows it, no two with the same words.
pub(crate) fn filler(id: u64, channel: u64, guild: u64, bytes: usize, unix_ms: u64) -> String {
    let timestamp = snowflake::timestamp(unix_ms);
    let mut message = format!(
        r#"{{"id":"{id}","channel_id":"{channel}","guild_id":"{guild}","type":0,"timestamp":"{timestamp}","author":{AUTHOR},{REST},"content":""#
    );
    let (bytes, fixed) = (bytes.min(1 << 16), message.len());
    let mut drawn = 0;
    while message.len() + 2 < bytes {
        drawn += 1;
        let mut bits = mix(id ^ mix(drawn));
        for _ in 0..10 {
            message.push_str(WORDS.get(usize::try_from(bits & 63).unwrap_or(0)).copied().unwrap_or_default());
            message.push(' ');
            bits >>= 6;
        }
    }
    message.truncate(bytes.saturating_sub(2).max(fixed));
    message.push_str("\"}");
    message
}

const AUTHOR: &str = r#"{"id":"4194311","username":"someone","discriminator":"0","global_name":null,"avatar":null}"#;
const REST: &str = r#""edited_timestamp":null,"tts":false,"mention_everyone":false,"mentions":[],"mention_roles":[],"attachments":[],"embeds":[],"pinned":false,"flags":0,"components":[]"#;
