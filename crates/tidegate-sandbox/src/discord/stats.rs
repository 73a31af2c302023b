//! What tests read: figures, the log, the messages of a channel.

use std::collections::BTreeMap;

use serde::Serialize;

use super::journal::{Journal, LogEntry, Misuse, Tally};
use super::model::{Channel, Model, Settings};
use crate::marks::FlowStats;
use crate::store::{MessageView, Store};

/// Figures of one address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressStats {
    /// The address.
    pub address: String,
    /// Invalid requests of the last 10 minutes, up to the number that begins a ban.
    pub invalid_10_min: u32,
    /// Bans that began, of `/invites` too.
    pub bans: u64,
    /// Calls into them.
    pub into_ban: u64,
    /// How long the ban in force still lasts, platform time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub banned_ms: Option<u64>,
    /// How long `/invites` stays shut, platform time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invites_banned_ms: Option<u64>,
}

/// Figures of one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelStats {
    /// The channel's id; of a webhook without a known channel its own, of an interaction the interaction's.
    pub channel: String,
    /// Calls.
    #[serde(flatten)]
    pub tally: Tally,
    /// What came through.
    #[serde(flatten)]
    pub flow: FlowStats,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Platform time since the start or the last reset, in ms.
    pub at_ms: u64,
    /// All calls.
    #[serde(flatten)]
    pub total: Tally,
    /// Bans that began.
    pub bans: u64,
    /// Calls into a ban.
    pub into_ban: u64,
    /// Calls that were in vain.
    #[serde(flatten)]
    pub misuse: Misuse,
    /// Order inversions of all channels.
    pub inversions: u64,
    /// Duplicates of all channels.
    pub duplicates: u64,
    /// Edits that went back, in all channels.
    pub edit_inversions: u64,
    /// Calls by HTTP status; 0 is a cut connection.
    pub by_status: BTreeMap<u16, u64>,
    /// Calls by method and template.
    pub by_route: BTreeMap<String, Tally>,
    /// Addresses.
    pub addresses: Vec<AddressStats>,
    /// Channels remembered; `channels` may list fewer.
    pub channels_total: usize,
    /// Channels, those with most 429s first.
    pub channels: Vec<ChannelStats>,
}

/// How much the model remembers at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Bots, and addresses that called without one.
    pub callers: usize,
    /// Addresses.
    pub addresses: usize,
    /// Buckets.
    pub buckets: usize,
    /// Windows that no header shows.
    pub hidden: usize,
    /// Channels.
    pub channels: usize,
    /// Webhooks.
    pub webhooks: usize,
    /// Interactions.
    pub interactions: usize,
    /// Messages.
    pub messages: usize,
    /// Bytes of their texts.
    pub text_bytes: usize,
    /// Lines of the log.
    pub log: usize,
    /// Scripts.
    pub scripts: usize,
}

/// Channels that one [`Stats`] lists at most.
const CHANNELS_MAX: usize = 10_000;

impl Model {
    /// All figures as of the last call.
    pub fn stats(&self) -> Stats {
        let mut channels: Vec<ChannelStats> = self.channels.iter().map(|(id, it)| channel_stats(*id, it)).collect();
        channels.sort_by(|a, b| (b.tally.refused_429, &a.channel).cmp(&(a.tally.refused_429, &b.channel)));
        let sum = |figure: fn(&ChannelStats) -> u64| channels.iter().map(figure).sum();
        let (inversions, duplicates) = (sum(|channel| channel.flow.inversions), sum(|channel| channel.flow.duplicates));
        let edit_inversions = sum(|channel| channel.flow.edit_inversions);
        let channels_total = channels.len();
        channels.truncate(CHANNELS_MAX);
        let addresses = self.address_stats();
        Stats {
            at_ms: (self.now_us - self.zero_us) / 1000,
            total: self.journal.total.clone(),
            bans: addresses.iter().map(|address| address.bans).sum(),
            into_ban: addresses.iter().map(|address| address.into_ban).sum(),
            misuse: self.misuse,
            inversions,
            duplicates,
            edit_inversions,
            by_status: self.journal.by_status.clone(),
            by_route: self.journal.by_name.clone(),
            addresses,
            channels_total,
            channels,
        }
    }

    fn address_stats(&self) -> Vec<AddressStats> {
        let rate = self.settings.limits.invalid;
        let left_ms = |until_us: u64| Some(until_us.saturating_sub(self.now_us) / 1000).filter(|left| *left > 0);
        let stats = self.addresses.iter().map(|(ip, address)| AddressStats {
            address: ip.to_string(),
            invalid_10_min: address.invalid.clone().count(self.now_us, rate),
            bans: address.bans,
            into_ban: address.into_ban,
            banned_ms: address.ban.and_then(|ban| left_ms(ban.until_us)),
            invites_banned_ms: address.invite_ban.and_then(|ban| left_ms(ban.until_us)),
        });
        let mut stats: Vec<AddressStats> = stats.collect();
        stats.sort_by(|a, b| a.address.cmp(&b.address));
        stats
    }

    /// The log, oldest first.
    pub fn log(&self) -> impl Iterator<Item = &LogEntry> {
        self.journal.log().iter()
    }

    /// The messages remembered of a channel, by id.
    pub fn messages(&self, channel: u64) -> Vec<MessageView> {
        self.store.views(&channel)
    }

    /// How much is remembered.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            callers: self.callers.len(),
            addresses: self.addresses.len(),
            buckets: self.buckets.len(),
            hidden: self.hidden.len(),
            channels: self.channels.len(),
            webhooks: self.webhooks.len(),
            interactions: self.interactions.len(),
            messages: self.store.len(),
            text_bytes: self.store.text_bytes(),
            log: self.journal.log().len(),
            scripts: self.scripts.len(),
        }
    }

    /// Forgets all that happened: windows, bans, messages, figures, log, scripts, webhooks and budgets. The clock and
    /// the ids go on, and so do the log's numbers and the connections to the Gateway.
    pub fn reset(&mut self) {
        let fresh = Self::new(self.settings.clone());
        let mut old = std::mem::replace(self, fresh);
        old.gateway.reset(self.settings.tokens.clone());
        self.gateway = old.gateway;
        self.now_us = old.now_us;
        self.zero_us = old.now_us;
        self.ids = old.ids;
        self.store = Store::new(self.settings.bounds.store(), self.zero_us);
        self.journal = Journal::after(&old.journal);
    }

    /// What the model was made of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }
}

fn channel_stats(id: u64, channel: &Channel) -> ChannelStats {
    ChannelStats { channel: id.to_string(), tally: channel.tally.clone(), flow: channel.flow.summary() }
}
