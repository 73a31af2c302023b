//! What shows that a command did what it was for: the dispatches that answer it.
//!
//! Only these few are read further than their names, and only while something awaits them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::object::{Members, string};

/// The dispatches that answer commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// `GUILD_MEMBERS_CHUNK`, of op 8.
    Chunk,
    /// `VOICE_STATE_UPDATE`, of op 4.
    VoiceState,
    /// `SOUNDBOARD_SOUNDS`, of op 31.
    Sounds,
    /// `CHANNEL_INFO`, of op 43.
    ChannelInfo,
}

impl Answer {
    /// How many there are.
    pub(crate) const KINDS: usize = 4;

    /// Of a dispatch's name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            "GUILD_MEMBERS_CHUNK" => Some(Self::Chunk),
            "VOICE_STATE_UPDATE" => Some(Self::VoiceState),
            "SOUNDBOARD_SOUNDS" => Some(Self::Sounds),
            "CHANNEL_INFO" => Some(Self::ChannelInfo),
            _ => None,
        }
    }
}

/// Discord leaves a longer nonce out of the chunks
/// (<https://discord.com/developers/docs/events/gateway-events#request-guild-members>).
const NONCE_MAX: usize = 32;

/// What a command awaits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// All chunks of a request for members; so many have come.
    Chunks { guild: Box<str>, nonce: Option<Box<str>>, came: u64 },
    /// The bot's own voice state, as it was asked for.
    Voice(Voice),
    /// One answer for each of these guilds.
    Each { of: Answer, guilds: Vec<Box<str>> },
}

/// A voice state, as a command asks for it and as a dispatch tells it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Voice {
    pub(crate) guild_id: Box<str>,
    #[serde(default)]
    channel_id: Option<Box<str>>,
    #[serde(default)]
    self_mute: bool,
    #[serde(default)]
    self_deaf: bool,
}

/// What a dispatch tells, read as far as it answers a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Chunk {
        guild: Box<str>,
        nonce: Option<Box<str>>,
        count: u64,
    },
    /// Of the bot itself.
    Voice(Voice),
    Of(Answer, Box<str>),
}

impl Effect {
    /// Of a request for members.
    pub(crate) fn chunks(guild: &str, nonce: Option<Box<str>>) -> Self {
        Self::Chunks { guild: guild.into(), nonce: nonce.filter(|nonce| nonce.len() <= NONCE_MAX), came: 0 }
    }

    /// What it awaits.
    pub(crate) fn awaits(&self) -> Answer {
        match self {
            Self::Chunks { .. } => Answer::Chunk,
            Self::Voice(_) => Answer::VoiceState,
            Self::Each { of, .. } => *of,
        }
    }

    /// The command goes, for the first time or again: then all chunks come anew.
    pub(crate) fn goes(&mut self) {
        if let Self::Chunks { came, .. } = self {
            *came = 0;
        }
    }

    /// Whether a dispatch is about this; all of what it awaits may have come then.
    pub(crate) fn is_told(&mut self, told: &Told) -> bool {
        match (self, told) {
            (Self::Chunks { guild, nonce, came }, Told::Chunk { guild: of, nonce: named, .. }) => {
                let is_its = guild == of && nonce == named;
                *came += u64::from(is_its);
                is_its
            }
            (Self::Voice(asked), Told::Voice(state)) => asked == state,
            (Self::Each { of, guilds }, Told::Of(answer, guild)) if of == answer => {
                let left = guilds.len();
                guilds.retain(|asked| asked != guild);
                guilds.len() < left
            }
            _ => false,
        }
    }

    /// Whether this dispatch, which is about it, was the last that it awaits.
    pub(crate) fn is_over(&self, told: &Told) -> bool {
        match (self, told) {
            (Self::Chunks { came, .. }, Told::Chunk { count, .. }) => came >= count,
            (Self::Each { guilds, .. }, _) => guilds.is_empty(),
            (Self::Chunks { .. } | Self::Voice(_), _) => true,
        }
    }
}

impl Told {
    /// Reads a dispatch's data; nothing where it tells nothing of the kind. `user` is the bot's own id.
    pub(crate) fn read(answer: Answer, d: &[u8], user: Option<&str>) -> Option<Self> {
        match answer {
            Answer::Chunk => chunk(d),
            Answer::VoiceState => voice(d, user?),
            Answer::Sounds | Answer::ChannelInfo => guild(d).map(|guild| Self::Of(answer, guild)),
        }
    }
}

fn chunk(d: &[u8]) -> Option<Told> {
    let (mut guild, mut nonce, mut count) = (None, None, None);
    for member in Members::new(d, 0).ok()? {
        let member = member.ok()?;
        let value = &d[member.value];
        let text = || value.starts_with(b"\"").then(|| string(value).ok()).flatten().map(Box::from);
        match &*member.name {
            "guild_id" => guild = text(),
            "nonce" => nonce = text(),
            "chunk_count" => count = serde_json::from_slice(value).ok(),
            _ => {}
        }
    }
    Some(Told::Chunk { guild: guild?, nonce, count: count? })
}

fn voice(d: &[u8], user: &str) -> Option<Told> {
    #[derive(Deserialize)]
    struct State<'a> {
        #[serde(borrow)]
        user_id: &'a RawValue,
        #[serde(flatten)]
        voice: Voice,
    }
    let state: State<'_> = serde_json::from_slice(d).ok()?;
    let own = string(state.user_id.get().as_bytes()).ok()? == user;
    own.then_some(Told::Voice(state.voice))
}

fn guild(d: &[u8]) -> Option<Box<str>> {
    let guild = Members::new(d, 0).ok()?.filter_map(Result::ok).find(|member| member.name == "guild_id")?;
    string(&d[guild.value]).ok().map(Box::from)
}

#[cfg(test)]
mod tests;
