//! What tests read: figures, the log, the messages of a chat.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chat::{Chat, ChatKey, Peer, channel_id};
use super::journal::{Journal, LogEntry, Tally};
use super::model::{Model, Settings};
use crate::marks::FlowStats;
use crate::store::{MessageView, Store};

/// A ban in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BanStats {
    /// The bot's id.
    pub bot: u64,
    /// The chat, or `inline:…`; absent for a method of the bot itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// `message`, `typing`, `draft`, or the method of a bot's own settings.
    pub what: String,
    /// How long it still lasts if nobody calls into it, platform time.
    pub left_ms: u64,
    /// Its length at its last growth, platform time.
    pub length_ms: u64,
    /// Calls made into it, those within the grace too.
    pub hits: u64,
}

/// Figures of one chat of one bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatStats {
    /// The bot's id.
    pub bot: u64,
    /// Numeric id, or `inline:…`.
    pub chat: String,
    /// The name by which it was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Calls.
    #[serde(flatten)]
    pub tally: Tally,
    /// What came through.
    #[serde(flatten)]
    pub flow: FlowStats,
    /// The supergroup it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated_to: Option<i64>,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Platform time since the start or the last reset, in ms.
    pub at_ms: u64,
    /// All calls.
    #[serde(flatten)]
    pub total: Tally,
    /// Order inversions of all chats.
    pub inversions: u64,
    /// Duplicates of all chats.
    pub duplicates: u64,
    /// Edits that went back, in all chats.
    pub edit_inversions: u64,
    /// Calls by HTTP status; 499 is a poll whose client left, 0 a cut connection.
    pub by_status: BTreeMap<u16, u64>,
    /// Calls by method.
    pub by_method: BTreeMap<String, Tally>,
    /// Bans in force.
    pub bans: Vec<BanStats>,
    /// Chats remembered; `chats` may list fewer.
    pub chats_total: usize,
    /// Chats, those with most 429s first.
    pub chats: Vec<ChatStats>,
}

/// How much the model remembers at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Bots.
    pub bots: usize,
    /// Chats.
    pub chats: usize,
    /// Messages.
    pub messages: usize,
    /// Bytes of their texts.
    pub text_bytes: usize,
    /// Lines of the log.
    pub log: usize,
    /// Scripts.
    pub scripts: usize,
}

/// Chats that one [`Stats`] lists at most.
const CHATS_MAX: usize = 10_000;

impl Model {
    /// All figures as of the last call.
    pub fn stats(&self) -> Stats {
        let mut chats: Vec<ChatStats> = self.chats.iter().map(|(key, chat)| chat_stats(key, chat)).collect();
        chats.sort_by(|a, b| (b.tally.refused_429, a.bot, &a.chat).cmp(&(a.tally.refused_429, b.bot, &b.chat)));
        let sum = |figure: fn(&ChatStats) -> u64| chats.iter().map(figure).sum();
        let (inversions, duplicates) = (sum(|chat| chat.flow.inversions), sum(|chat| chat.flow.duplicates));
        let edit_inversions = sum(|chat| chat.flow.edit_inversions);
        let chats_total = chats.len();
        chats.truncate(CHATS_MAX);
        Stats {
            at_ms: (self.now_us - self.zero_us) / 1000,
            total: self.journal.total.clone(),
            inversions,
            duplicates,
            edit_inversions,
            by_status: self.journal.by_status.clone(),
            by_method: self.journal.by_name.clone(),
            bans: self.bans(),
            chats_total,
            chats,
        }
    }

    /// Figures of one chat, by its number, `@name` or `inline:…`.
    pub fn chat_stats(&self, bot: u64, chat: &str) -> Option<ChatStats> {
        let key = ChatKey { bot, peer: peer(chat)? };
        Some(chat_stats(&key, self.chats.peek(&key)?))
    }

    fn bans(&self) -> Vec<BanStats> {
        let now_us = self.now_us;
        let stats = |bot: u64, chat: Option<String>, what: &str, ban: super::ban::Ban| BanStats {
            bot,
            chat,
            what: what.to_owned(),
            left_ms: ban.until_us.saturating_sub(now_us) / 1000,
            length_ms: ban.length_us / 1000,
            hits: ban.hits,
        };
        let of_chats = self.chats.iter().flat_map(|(key, chat)| {
            chat.bans().map(|(what, ban)| (key.bot, Some(key.peer.to_string()), what, ban)).collect::<Vec<_>>()
        });
        let of_bots = self
            .bots
            .iter()
            .flat_map(|(id, bot)| bot.profile.iter().filter_map(|(what, gate)| Some((*id, None, *what, gate.ban?))));
        let mut bans: Vec<BanStats> = of_chats
            .chain(of_bots)
            .filter(|(.., ban)| ban.holds(now_us))
            .map(|(bot, chat, what, ban)| stats(bot, chat, what, ban))
            .collect();
        bans.sort_by(|a, b| (b.left_ms, a.bot, &a.chat).cmp(&(a.left_ms, b.bot, &b.chat)));
        bans.truncate(CHATS_MAX);
        bans
    }

    /// The log, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &LogEntry> {
        self.journal.log().iter()
    }

    /// The messages remembered of a chat, by id: its number, `@name` or `inline:…`.
    pub fn messages(&self, bot: u64, chat: &str) -> Vec<MessageView> {
        peer(chat).map(|peer| self.store.views(&ChatKey { bot, peer })).unwrap_or_default()
    }

    /// Bots that called about a chat, by id.
    pub(crate) fn bots_of(&self, chat: &str) -> Vec<u64> {
        let wanted = peer(chat);
        let found = self.chats.iter().filter(|(key, _)| Some(&key.peer) == wanted.as_ref());
        let mut bots: Vec<u64> = found.map(|(key, _)| key.bot).collect();
        bots.sort_unstable();
        bots
    }

    /// How much is remembered.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            bots: self.bots.len(),
            chats: self.chats.len(),
            messages: self.store.len(),
            text_bytes: self.store.text_bytes(),
            log: self.journal.log().len(),
            scripts: self.scripts.len(),
        }
    }

    /// Forgets all that happened: windows, bans, messages, figures, log, scripts, webhooks and updates. The clock goes
    /// on, and so do the log's numbers.
    pub fn reset(&mut self) {
        let fresh = Self::new(self.settings.clone());
        let old = std::mem::replace(self, fresh);
        self.now_us = old.now_us;
        self.zero_us = old.now_us;
        self.store = Store::new(self.settings.bounds.store(), self.zero_us);
        self.journal = Journal::after(&old.journal);
    }

    /// What the model was made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

fn chat_stats(key: &ChatKey, chat: &Chat) -> ChatStats {
    ChatStats {
        bot: key.bot,
        chat: key.peer.to_string(),
        username: chat.username.clone(),
        tally: chat.tally.clone(),
        flow: chat.flow.summary(),
        migrated_to: chat.migrated_to,
    }
}

fn peer(chat: &str) -> Option<Peer> {
    if let Some(id) = chat.strip_prefix("inline:") {
        return Some(Peer::Inline(id.to_owned()));
    }
    if chat.starts_with('@') {
        return Some(Peer::Chat(channel_id(chat)));
    }
    chat.parse().ok().map(Peer::Chat)
}

/// The chat as figures and log name it.
pub(crate) fn canonical(chat: &str) -> String {
    peer(chat).map_or_else(|| chat.to_owned(), |peer| peer.to_string())
}
